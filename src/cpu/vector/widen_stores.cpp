// Stores, by the rules of widen_accesses.cpp. Nothing that no lane stores is written, so scalars side by side are
// stored together only where they leave no gaps: the last of them in the block stores for all.
#include <bit>

#include "bitcode/address_spaces.hpp"
#include "cpu/vector/interleave.hpp"
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

// Whether what a lane stores leaves no gap to the next lane.
bool fills_stride(const Neighbours& neighbours, const Access& access, int64_t stride) {
  const auto wanted = static_cast<int64_t>(neighbours.members.size() * access.count);
  return lies_in_stride(access, stride) && is_stored_over_stride(stride / access.scalar_bytes, wanted);
}

}  // namespace

void Widener::widen_store(llvm::StoreInst& store) {
  if (auto put_off = stored_later_.find(&store); put_off != stored_later_.end()) {
    if (put_off->second.members.back().access == &store) store_together(put_off->second);
    return;
  }
  if (copied_.contains(&store)) {
    if (const auto copy = copies_.find(&store); copy != copies_.end()) finish_copy(copy->second);
    return;
  }
  const Shape shape = shapes_.shape(store.getPointerOperand());
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  if (shape.is_uniform()) return store_one(store);
  if (store.isVolatile() || access.scalar->getPrimitiveSizeInBits() % 8 != 0) return scatter(store);
  if (!shape.is_known()) return store_apart_or_together(store);
  if (access.count == 1 && runs_of(shape, access.bytes(), false).size() <= most_runs)
    return by_shape_or_scattered(shape, has_masked_words_ && access.scalar_bytes >= 4, {&store},
                                 [&] { store_runs(store, shape); });

  if (const auto windows = windows_of(shape, access, width_); !windows.empty() && are_orders(windows))
    return by_shape_or_scattered(shape, /*masks_are_cheap=*/false, {&store},
                                 [&] { store_windows(store, shape, windows); });

  if (const auto beside = side_by_side(shape, access))
    return by_shape_or_scattered(
        *beside, has_masked_words_ && access.scalar_bytes >= 4, {&store}, [&] { store_runs(store, *beside); }, nullptr,
        are_side_by_side(shape));

  Neighbours neighbours{{{&store, 0}}, 0, access.count};
  const auto look = [&](int64_t distance, bool by_index) {
    if (access.count == 1) neighbours = neighbours_of(store, distance, by_index);
  };
  const int64_t stride = rows_of(shape, width_, access.scalar_bytes).stride;
  if (lies_in_stride(access, stride)) look(stride, /*by_index=*/true);
  if (!fills_stride(neighbours, access, stride)) {
    look(furthest_neighbour, /*by_index=*/false);
    if (!segments_to_store(shape, access, neighbours) && !are_pieces(neighbours, access)) return scatter(store);
  }
  store_with(neighbours);
}

// Alone if one of the others is part of a copy, or to be stored with others.
Neighbours Widener::neighbours_of(llvm::StoreInst& store, int64_t distance, bool by_index) const {
  Neighbours neighbours = find_neighbours(store, distance, by_index, layout_);
  const bool is_free = llvm::none_of(neighbours.members, [&](const Neighbours::Member& member) {
    return copied_.contains(member.access) || stored_later_.contains(member.access);
  });
  return is_free ? std::move(neighbours) : Neighbours{{{&store, 0}}};
}

// Now, or with the last of them.
void Widener::store_with(const Neighbours& neighbours) {
  if (neighbours.members.size() == 1) return store_together(neighbours);
  for (const auto& member : neighbours.members) stored_later_[member.access] = neighbours;
}

void Widener::by_shape_or_scattered(const Shape& shape, bool masks_are_cheap, llvm::ArrayRef<llvm::StoreInst*> stores,
                                    const std::function<void()>& by_shape, const Neighbours* neighbours,
                                    llvm::Value* condition) {
  if (!guards_of(shape, neighbours).empty())
    for (const llvm::StoreInst* store : stores) note(*store, Hindrance::guarded_access);
  by_shape_or_apart(
      shape, masks_are_cheap,
      [&] {
        by_shape();
        return Components{};
      },
      [&] {
        for (llvm::StoreInst* store : stores) scatter(*store);
        return Components{};
      },
      neighbours, condition);
}

void Widener::store_apart_or_together(llvm::StoreInst& store) {
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  const Neighbours neighbours = access.count > 1 ? Neighbours{{{&store, 0}}, 0, access.count}
                                                 : neighbours_of(store, furthest_neighbour, /*by_index=*/false);
  const bool is_piece = are_pieces(neighbours, access);
  if (is_piece || access.count > 1 || !may_be_consecutive(store.getPointerOperand())) {
    mark_places_of(store.getPointerOperand());
    return is_piece ? store_with(neighbours) : scatter(store);
  }
  const Sequence sequence = sequence_of(store.getPointerOperand(), access.scalar_bytes);
  llvm::Value* value = vector(store.getValueOperand());
  choose(
      sequence.are_consecutive,
      [&] {
        if (mask_ && has_mask_registers_)
          builder_.CreateMaskedStore(value, sequence.first, access.alignment, mask_);
        else
          builder_.CreateAlignedStore(value, sequence.first, access.alignment);
        return Components{};
      },
      [&] {
        scatter(store);
        return Components{};
      });
}

// Of all that write to one place, the last stays.
void Widener::store_one(llvm::StoreInst& store) {
  llvm::Value* stored = store.getValueOperand();
  llvm::Value* value;
  if (shapes_.is_uniform(stored)) {
    value = scalar(stored);
  } else {
    llvm::Value* last = builder_.getInt32(width_ - 1);
    if (mask_) {
      llvm::Value* bits = emission().mask_bits();
      llvm::Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, builder_.getTrue());
      last = builder_.CreateSub(llvm::ConstantInt::get(bits->getType(), width_ - 1), zeros);
    }
    const Components components = lanes(stored);
    if (!stored->getType()->isVectorTy()) {
      value = builder_.CreateExtractElement(components[0], last);
    } else {
      value = llvm::PoisonValue::get(stored->getType());
      for (unsigned i = 0; i < components.size(); ++i)
        value = builder_.CreateInsertElement(value, builder_.CreateExtractElement(components[i], last), i);
    }
  }
  builder_.CreateAlignedStore(value, scalar(store.getPointerOperand()), store.getAlign(), store.isVolatile());
}

void Widener::store_runs(llvm::StoreInst& store, const Shape& shape) {
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  const auto runs = runs_of(shape, access.bytes(), false);
  if (mask_ && llvm::all_of(runs, [](const Run& run) { return run.count == 1; })) return scatter(store);
  llvm::Value* first = scalar(store.getPointerOperand());
  llvm::Value* value = vector(store.getValueOperand());
  const bool streams = variant_.streams || store.hasMetadata(llvm::LLVMContext::MD_nontemporal);
  if (mask_ && !has_mask_registers_) note(store, Hindrance::masked_store);
  for (const Run& run : runs) {
    const auto part = [&](llvm::Value* whole) { return part_of(whole, run.first, run.count); };
    llvm::Value* address = lane_address(first, shape, run.first);
    if (mask_)
      builder_.CreateMaskedStore(part(value), address, access.alignment, part(mask_));
    else if (streams && run.count == width_ && store.getPointerAddressSpace() == bitcode::device_address_space)
      stream(value, address, access.alignment);
    else
      builder_.CreateAlignedStore(part(value), address, access.alignment);
  }
}

void Widener::store_windows(llvm::StoreInst& store, const Shape& shape, llvm::ArrayRef<Window> windows) {
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  llvm::Value* first = scalar(store.getPointerOperand());
  llvm::Value* value = vector(store.getValueOperand());
  for (const Window& window : windows) {
    const auto in_order = [&](llvm::Value* lanes) {
      return builder_.CreateShuffleVector(part_of(lanes, window.first_lane, window.length), inverse(window.places));
    };
    llvm::Value* address = lane_address(first, shape, window.lowest_lane);
    if (mask_)
      builder_.CreateMaskedStore(in_order(value), address, access.alignment, in_order(mask_));
    else
      builder_.CreateAlignedStore(in_order(value), address, access.alignment);
  }
}

// Past the caches, a line of them at a time.
void Widener::stream(llvm::Value* value, llvm::Value* address, llvm::Align alignment) {
  constexpr uint64_t line = 64;
  if (layout_.getTypeStoreSize(value->getType()) % line != 0) {
    builder_.CreateAlignedStore(value, address, alignment);
    return;
  }
  llvm::Value* in_line = builder_.CreateAnd(builder_.CreatePtrToInt(address, builder_.getInt64Ty()), line - 1);
  choose(
      builder_.CreateIsNull(in_line),
      [&] {
        llvm::StoreInst* store = builder_.CreateAlignedStore(value, address, llvm::Align(line));
        llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
        store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, one));
        return Components{};
      },
      [&] {
        builder_.CreateAlignedStore(value, address, alignment);
        return Components{};
      });
}

// Stores that leave no gaps, neither in a lane nor between lanes of a row or a segment, are one.
void Widener::store_together(const Neighbours& neighbours) {
  auto& first_store = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  const Shape shape = shapes_.shape(first_store.getPointerOperand());
  const Access access = access_of(first_store.getValueOperand()->getType(), first_store.getAlign(), layout_);
  const Rows rows = rows_of(shape, width_, access.scalar_bytes);
  llvm::SmallVector<llvm::StoreInst*> stores;
  for (const auto& member : neighbours.members) stores.push_back(llvm::cast<llvm::StoreInst>(member.access));
  by_shape_or_scattered(
      shape, /*masks_are_cheap=*/false, stores,
      [&] {
        if (fills_stride(neighbours, access, rows.stride))
          store_rows(neighbours, rows);
        else if (const auto segments = segments_to_store(shape, access, neighbours))
          store_segments(neighbours, *segments);
        else
          store_pieces(neighbours);
      },
      &neighbours);
}

// What lanes store at each place.
llvm::SmallVector<llvm::Value*> Widener::stored_at_places(const Neighbours& neighbours) {
  auto& first = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  llvm::SmallVector<llvm::Value*> parts(neighbours.count);
  if (first.getValueOperand()->getType()->isVectorTy()) {
    llvm::copy(lanes(first.getValueOperand()), parts.begin());
    return parts;
  }
  for (const auto& member : neighbours.members)
    parts[member.place] = vector(llvm::cast<llvm::StoreInst>(member.access)->getValueOperand());
  return parts;
}

// Whether what each lane stores is worth being put together and stored at once.
bool Widener::are_pieces(const Neighbours& neighbours, const Access& access) const {
  constexpr int64_t shortest = 8;  // bytes
  const auto wanted = static_cast<int64_t>(neighbours.members.size() * access.count);
  return !mask_ && wanted == neighbours.count && wanted > 1 && wanted * access.scalar_bytes >= shortest;
}

// Each as powers of two, the largest first: six scalars are four and two.
void Widener::store_pieces(const Neighbours& neighbours) {
  auto& store = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  const auto parts = stored_at_places(neighbours);
  struct Power {
    unsigned first, count;  // scalars
    Vectors in_memory;
  };
  llvm::SmallVector<Power> powers;
  for (unsigned first = 0; first < neighbours.count; first += powers.back().count) {
    const unsigned count = std::bit_floor(neighbours.count - first);
    powers.push_back({first, count, interleave(builder_, llvm::ArrayRef(parts).slice(first, count))});
  }
  const auto addresses = addresses_of_lanes(store.getPointerOperand(), neighbours.distance);
  for (unsigned lane = 0; lane < width_; ++lane)
    for (const Power& power : powers) {
      const unsigned place = lane * power.count;
      llvm::Value* piece =
          builder_.CreateShuffleVector(power.in_memory[place / width_], every(power.count, 1, place % width_));
      builder_.CreateAlignedStore(piece, behind(addresses[lane], power.first * access.scalar_bytes), access.alignment);
    }
}

void Widener::store_rows(const Neighbours& neighbours, const Rows& rows) {
  auto& first_store = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  const Shape shape = shapes_.shape(first_store.getPointerOperand());
  const Access access = access_of(first_store.getValueOperand()->getType(), first_store.getAlign(), layout_);
  const auto parts = stored_at_places(neighbours);
  llvm::Value* first = behind(scalar(first_store.getPointerOperand()), neighbours.distance);
  for (unsigned lane = 0; lane < width_; lane += rows.lanes) {
    llvm::SmallVector<llvm::Value*> in_row;
    for (llvm::Value* part : parts) in_row.push_back(part_of(part, lane, rows.lanes));
    store_row(std::move(in_row), access, lane_address(first, shape, lane),
              mask_ ? part_of(mask_, lane, rows.lanes) : nullptr);
  }
}

// The first scalar of each lane, the second, ..., which follow one another in memory lane by lane.
void Widener::store_row(llvm::SmallVector<llvm::Value*> parts, const Access& access, llvm::Value* address,
                        llvm::Value* mask) {
  const auto count = static_cast<unsigned>(parts.size());
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
  const auto store = [&](llvm::Value* vector, unsigned first) {
    const unsigned length = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
    llvm::Value* at =
        builder_.CreatePtrAdd(address, builder_.getInt64(first * static_cast<uint64_t>(access.scalar_bytes)));
    if (!mask) {
      builder_.CreateAlignedStore(vector, at, access.alignment);
      return;
    }
    llvm::SmallVector<int> lanes_here;
    for (unsigned place = 0; place < length; ++place) lanes_here.push_back(static_cast<int>((first + place) / count));
    builder_.CreateMaskedStore(vector, at, access.alignment, builder_.CreateShuffleVector(mask, lanes_here));
  };
  if (llvm::isPowerOf2_32(count)) {
    const Vectors vectors = interleave(builder_, parts);
    for (unsigned i = 0; i < vectors.size(); ++i) store(vectors[i], i * lanes);
    return;
  }
  parts.resize(llvm::PowerOf2Ceil(count), llvm::PoisonValue::get(parts[0]->getType()));
  llvm::SmallVector<int> places;
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned i = 0; i < count; ++i) places.push_back(static_cast<int>(i * lanes + l));
  store(builder_.CreateShuffleVector(concatenated(std::move(parts)), places), 0);
}

void Widener::scatter(llvm::StoreInst& store) {
  note(store, Hindrance::scatter);
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  llvm::Value* pointers = vector(store.getPointerOperand());
  const Components values = lanes(store.getValueOperand());
  for (unsigned i = 0; i < access.count; ++i) {
    llvm::Value* value = values[i];
    llvm::Type* scalar = access.scalar;
    if (scalar->getPrimitiveSizeInBits() % 8 != 0) {
      scalar = builder_.getInt8Ty();
      value = builder_.CreateZExt(value, vector_of(scalar));
    }
    llvm::Value* address = behind(pointers, i * access.scalar_bytes);
    const bool is_word = access.scalar_bytes == 4 || access.scalar_bytes == 8;
    if (access.scalar_bytes <= 8 && !store.isVolatile() && loads_beat_gathers()) {
      const auto addresses = addresses_of_lanes(store.getPointerOperand(), i * access.scalar_bytes);
      for (unsigned l = 0; l < width_; ++l)
        builder_.CreateAlignedStore(builder_.CreateExtractElement(value, l), addresses[l], access.alignment);
    } else if (is_word && has_mask_registers_ && !store.isVolatile() && may_scatter_in_place())
      builder_.CreateMaskedScatter(value, address, access.alignment, mask());
    else
      builder_.CreateCall(
          scatter_function(*new_, scalar, width_, access.alignment),
          {value, builder_.CreateAddrSpaceCast(address, vector_of(builder_.getPtrTy())), emission().mask_bits()});
  }
}

}  // namespace metalloid::cpu::vector
