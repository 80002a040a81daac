// Loads, by the rules of widen_accesses.cpp; those of lanes that are anywhere are in widen_gathers.cpp. Scalars that a
// lane loads side by side are loaded together, whatever lies between lanes: the first of them in the block loads for
// all.
#include "cpu/vector/interleave.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/permute.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

void Widener::widen_load(llvm::LoadInst& load) {
  if (auto made = loaded_before_.find(&load); made != loaded_before_.end()) return define(load, made->second);
  if (copied_.contains(&load)) return;
  const Shape shape = shapes_.shape(load.getPointerOperand());
  if (shape.is_uniform()) {
    auto* copy = llvm::cast<llvm::LoadInst>(load.clone());
    copy->setOperand(0, scalar(load.getPointerOperand()));
    builder_.Insert(copy);
    define_scalar(load, copy);
    return;
  }
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const bool has_whole_bytes = access.scalar->getPrimitiveSizeInBits() % 8 == 0;
  if (!has_whole_bytes || load.isVolatile()) return define(load, gather(load));
  if (!shape.is_known()) {
    if (const auto table = table_load(load, layout_)) return define(load, looked_up(load, *table));
    return load_with_neighbours(load, shape);
  }
  const Shape period = mask_ ? shape : period_of(shape);
  const auto runs = runs_of(period, access.bytes(), true);
  if (access.count == 1 && runs.size() <= most_runs) {
    if (!shape.guards.empty()) note(load, Hindrance::guarded_access);
    const bool are_scalars = llvm::all_of(runs, [](const Run& run) { return run.is_one_address || run.count == 1; });
    return define(load, by_shape_or_apart(
                            shape, are_scalars || (has_masked_words_ && access.scalar_bytes >= 4),
                            [&] { return Components{load_runs(load, period)}; }, [&] { return gather(load); }));
  }

  if (const auto windows = windows_of(shape, access, width_); !windows.empty() && (!mask_ || are_orders(windows))) {
    if (!shape.guards.empty()) note(load, Hindrance::guarded_access);
    return define(load,
                  by_shape_or_apart(
                      shape, /*masks_are_cheap=*/false, [&] { return Components{load_windows(load, shape, windows)}; },
                      [&] { return gather(load); }));
  }
  if (!start_copy(load, shape)) load_with_neighbours(load, shape);
}

// Lanes that are off get some number, too.
llvm::Value* Widener::looked_up(llvm::LoadInst& load, const TableLoad& from) {
  llvm::Type* words = vector_of(builder_.getInt32Ty());
  llvm::Value* index = builder_.CreateZExtOrTrunc(vector(from.index), words);
  if (from.first != 0) index = builder_.CreateAdd(index, llvm::ConstantInt::get(words, from.first));
  llvm::Type* bits = vector_of(builder_.getIntNTy(load.getType()->getScalarSizeInBits()));
  return builder_.CreateBitCast(builder_.CreateTrunc(look_up(emission(), from.table, index), bits),
                                vector_of(load.getType()));
}

// The lines of the cache that the lanes name, if they are few. It harms nobody that masked lanes name some, too.
void Widener::widen_prefetch(llvm::CallInst& prefetch) {
  constexpr int64_t line = 64;
  const Shape shape = shapes_.shape(prefetch.getArgOperand(0));
  const int64_t stride = shape.is_known() ? stride_of(shape) : 0;
  if (!shape.is_uniform() && (stride <= 0 || stride > line)) return;
  llvm::Value* first = scalar(prefetch.getArgOperand(0));
  for (int64_t place = 0; place < std::max<int64_t>(stride * width_, 1); place += line)
    builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {first->getType()},
                             {builder_.CreatePtrAdd(first, builder_.getInt64(static_cast<uint64_t>(place))),
                              prefetch.getArgOperand(1), prefetch.getArgOperand(2), prefetch.getArgOperand(3)});
}

// What lies beside it, in the lane's own part of memory, is loaded with it.
void Widener::load_with_neighbours(llvm::LoadInst& load, const Shape& shape) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const Shape period = shape.is_known() && !mask_ ? period_of(shape) : shape;
  const Rows rows =
      shape.is_known() ? rows_of(shape, static_cast<unsigned>(period.offsets.size()), access.scalar_bytes) : Rows{};
  const bool is_strided = lies_in_stride(access, rows.stride);
  Neighbours neighbours{{{&load, 0}}, 0, access.count};
  if (access.count == 1)
    neighbours = find_neighbours(load, is_strided ? rows.stride : furthest_neighbour, is_strided, layout_);
  const auto wanted = static_cast<int64_t>(neighbours.members.size() * access.count);
  const bool is_over_stride = is_strided && is_loaded_over_stride(rows.stride / access.scalar_bytes, wanted);
  if (!is_over_stride && neighbours.extension)
    neighbours = find_neighbours(load, is_strided ? rows.stride : furthest_neighbour, /*by_index=*/false, layout_);
  const auto gathered = [&] { return gather(load, neighbours); };
  Components all;
  if (is_over_stride) {
    const auto in_rows = [&] { return load_rows(load, neighbours, period, rows); };
    if (!guards_of(shape, &neighbours).empty())
      for (const auto& member : neighbours.members) note(*member.access, Hindrance::guarded_access);
    all = by_shape_or_apart(shape, /*masks_are_cheap=*/false, in_rows, gathered, &neighbours);
  } else if (const auto segments = segments_for(shape, access, neighbours)) {
    all = by_shape_or_apart(
        shape, /*masks_are_cheap=*/false, [&] { return load_segments(load, *segments); }, gathered, &neighbours);
  } else if (const auto beside = side_by_side(shape, access); beside && neighbours.members.size() == 1) {
    all = by_shape_or_apart(
        *beside, has_masked_words_ && access.scalar_bytes >= 4, [&] { return Components{load_runs(load, *beside)}; },
        gathered, nullptr, are_side_by_side(shape));
  } else if (!shape.is_known() && access.count == 1 && neighbours.members.size() == 1 &&
             may_be_consecutive(load.getPointerOperand())) {
    const Sequence sequence = sequence_of(load.getPointerOperand(), access.scalar_bytes);
    const auto together = [&] {
      llvm::Type* type = vector_of(access.scalar);
      if (mask_ && has_mask_registers_)
        return Components{builder_.CreateMaskedLoad(type, sequence.first, access.alignment, mask_)};
      return Components{builder_.CreateAlignedLoad(type, sequence.first, access.alignment)};
    };
    all = choose(sequence.are_consecutive, together, gathered);
  } else if (shape.is_known() && !mask_ && can_load_chunks(load, neighbours)) {
    llvm::Value* first = scalar(load.getPointerOperand());
    const auto chunks = [&] {
      return load_chunks(load, neighbours, [&](int64_t offset) {
        llvm::SmallVector<llvm::Value*> addresses;
        for (unsigned lane = 0; lane < width_; ++lane)
          addresses.push_back(behind(lane_address(first, shape, lane), offset));
        return addresses;
      });
    };
    all = by_shape_or_apart(shape, /*masks_are_cheap=*/true, chunks, gathered);
  } else if (shape.is_known() && shape.guards.empty() && !mask_ && access.count == 1 &&
             neighbours.members.size() == 1 && (access.scalar_bytes == 4 || access.scalar_bytes == 8) &&
             loads_beat_gathers()) {
    note(load, Hindrance::gather);
    all = {llvm::PoisonValue::get(vector_of(access.scalar))};
    const auto addresses = addresses_of_lanes(load.getPointerOperand(), 0);
    for (unsigned l = 0; l < width_; ++l)
      all[0] = builder_.CreateInsertElement(
          all[0], builder_.CreateAlignedLoad(access.scalar, addresses[l], access.alignment), l);
  } else {
    if (!shape.is_known()) mark_places_of(load.getPointerOperand());
    all = gathered();
  }
  if (access.count > 1) return define(load, all);
  for (size_t i = 1; i < all.size(); ++i) loaded_before_[neighbours.members[i].access] = {all[i]};
  define(load, all[0]);
}

// Runs of neighbours, each loaded at once. The shape may be that of the first lanes, if all others repeat them.
llvm::Value* Widener::load_runs(llvm::LoadInst& load, const Shape& shape) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const auto lanes = static_cast<unsigned>(shape.offsets.size());
  llvm::Value* first = scalar(load.getPointerOperand());
  const auto runs = runs_of(shape, access.bytes(), true);
  llvm::Value* whole = nullptr;
  for (const Run& run : runs) {
    llvm::Value* address = lane_address(first, shape, run.first);
    auto* type = llvm::FixedVectorType::get(access.scalar, run.count);
    llvm::Value* mask = mask_ ? part_of(mask_, run.first, run.count) : nullptr;
    llvm::Value* part;
    if (run.is_one_address || run.count == 1) {
      if (mask && runs.size() > 1) {
        llvm::Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(run.count));
        address = builder_.CreateSelect(builder_.CreateIsNotNull(bits), address,
                                        builder_.CreateAddrSpaceCast(nowhere_, address->getType()));
      }
      part =
          builder_.CreateVectorSplat(run.count, builder_.CreateAlignedLoad(access.scalar, address, access.alignment));
    } else if (mask) {
      part = builder_.CreateMaskedLoad(type, address, access.alignment, mask);
    } else {
      part = builder_.CreateAlignedLoad(type, address, access.alignment);
    }
    if (run.count == width_) return part;
    llvm::SmallVector<int> spread, blend;
    for (unsigned l = 0; l < lanes; ++l) {
      const bool inside = l >= run.first && l < run.first + run.count;
      spread.push_back(inside ? static_cast<int>(l - run.first) : -1);
      blend.push_back(static_cast<int>(inside ? lanes + l : l));
    }
    part = builder_.CreateShuffleVector(part, spread);
    whole = whole ? builder_.CreateShuffleVector(whole, part, blend) : part;
  }
  if (lanes == width_) return whole;
  llvm::SmallVector<int> repeated;
  for (unsigned l = 0; l < width_; ++l) repeated.push_back(static_cast<int>(l % lanes));
  return builder_.CreateShuffleVector(whole, repeated);
}

llvm::Value* Widener::load_windows(llvm::LoadInst& load, const Shape& shape, llvm::ArrayRef<Window> windows) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  llvm::Value* first = scalar(load.getPointerOperand());
  llvm::SmallVector<llvm::Value*> parts;
  for (const Window& window : windows) {
    const auto lanes = static_cast<unsigned>(window.places.size());
    auto* type = llvm::FixedVectorType::get(access.scalar, window.length);
    llvm::Value* address = lane_address(first, shape, window.lowest_lane);
    llvm::Value* loaded;
    if (mask_) {
      llvm::Value* mask =
          builder_.CreateShuffleVector(part_of(mask_, window.first_lane, lanes), inverse(window.places));
      loaded = builder_.CreateMaskedLoad(type, address, access.alignment, mask);
    } else {
      loaded = builder_.CreateAlignedLoad(type, address, access.alignment);
    }
    parts.push_back(builder_.CreateShuffleVector(loaded, window.places));
  }
  return concatenated(std::move(parts));
}

// Rows of lanes with a stride, each by itself. The shape may be that of the first lanes, if all others repeat them. For
// each member, its scalars in all lanes; for a load of a vector, of each of its elements.
Components Widener::load_rows(llvm::LoadInst& load, const Neighbours& neighbours, const Shape& shape,
                              const Rows& rows) {
  llvm::Value* first = behind(scalar(load.getPointerOperand()), neighbours.distance);
  llvm::SmallVector<Components> loaded;
  for (unsigned lane = 0; lane < shape.offsets.size(); lane += rows.lanes)
    loaded.push_back(load_row(load, neighbours, rows, lane_address(first, shape, lane),
                              mask_ ? part_of(mask_, lane, rows.lanes) : nullptr));
  Components result;
  for (size_t i = 0; i < loaded[0].size(); ++i) {
    llvm::SmallVector<llvm::Value*> all;
    for (unsigned row = 0; row < width_ / rows.lanes; ++row) all.push_back(loaded[row % loaded.size()][i]);
    result.push_back(concatenated(std::move(all)));
  }
  return result;
}

// Everything from the first scalar of the first lane to the last of the last, in vectors of as many scalars as there
// are lanes; the last vector ends where the last lane does.
Components Widener::load_row(llvm::LoadInst& load, const Neighbours& neighbours, const Rows& rows, llvm::Value* address,
                             llvm::Value* mask) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const auto bytes = static_cast<uint64_t>(access.scalar_bytes);
  const auto stride = static_cast<unsigned>(rows.stride / access.scalar_bytes), count = rows.lanes;
  auto* type = llvm::FixedVectorType::get(access.scalar, count);
  llvm::SmallVector<unsigned> wanted;
  if (access.count > 1)
    for (unsigned i = 0; i < access.count; ++i) wanted.push_back(i);
  else
    for (const auto& member : neighbours.members) wanted.push_back(member.place);

  const unsigned all = (count - 1) * stride + neighbours.count;
  llvm::SmallVector<llvm::Value*> parts;
  llvm::SmallVector<unsigned> starts;
  for (unsigned start = 0; start < all; start += count) {
    starts.push_back(std::min(start, all - count));
    llvm::Value* at = builder_.CreatePtrAdd(address, builder_.getInt64(starts.back() * bytes));
    if (mask) {
      llvm::SmallVector<int> lanes;
      for (unsigned i = 0; i < count; ++i) {
        const unsigned place = starts.back() + i;
        const bool is_accessed = llvm::is_contained(wanted, place % stride);
        lanes.push_back(static_cast<int>(is_accessed ? place / stride : count));
      }
      llvm::Value* accessed = builder_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), lanes);
      parts.push_back(builder_.CreateMaskedLoad(type, at, access.alignment, accessed));
    } else {
      parts.push_back(builder_.CreateAlignedLoad(type, at, access.alignment));
    }
  }
  Components result;
  if (llvm::isPowerOf2_32(stride) && neighbours.count <= stride) {
    // The last vector ended early; its scalars move up to where they belong.
    if (const auto early = static_cast<unsigned>(parts.size() - 1) * count - starts.back(); early > 0) {
      llvm::SmallVector<int> places;
      for (unsigned i = 0; i < count; ++i) places.push_back(i + early < count ? static_cast<int>(i + early) : -1);
      parts.back() = builder_.CreateShuffleVector(parts.back(), places);
    }
    parts.resize(stride, llvm::PoisonValue::get(type));
    const Vectors lanes = deinterleave(builder_, parts);
    for (unsigned place : wanted) result.push_back(lanes[place]);
    return result;
  }
  for (unsigned place : wanted) {
    llvm::Value* lanes = llvm::PoisonValue::get(type);
    for (size_t part = 0; part < parts.size(); ++part) {
      llvm::SmallVector<int> places;
      for (unsigned l = 0; l < count; ++l) {
        const unsigned at = l * stride + place;
        const bool is_last_that_has_it = part + 1 == parts.size() || at < starts[part + 1];
        const bool is_here = at >= starts[part] && at < starts[part] + count && is_last_that_has_it;
        places.push_back(static_cast<int>(is_here ? count + at - starts[part] : l));
      }
      lanes = builder_.CreateShuffleVector(lanes, parts[part], places);
    }
    result.push_back(lanes);
  }
  return result;
}

}  // namespace metalloid::cpu::vector
