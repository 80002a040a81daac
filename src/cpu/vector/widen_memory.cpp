// Loads and stores. Where the address has a shape, lanes that are neighbours in memory are accessed together:
//
//     one address for all     one scalar access
//     runs of neighbours      a vector access for each run; or one scalar, where a run has one address
//     a small fixed stride    vector accesses over all of it, and shuffles
//
// and else lane by lane, by the processor's gathers and scatters if it has them. No access touches memory that the
// lanes do not touch, except that bytes between two that are accessed, less than a page apart, are read with them.
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned most_runs = 8;
constexpr int64_t largest_stride = 8;  // in scalars for each that is accessed

struct Run {
  unsigned first, count;
  bool is_one_address;
};

// An access of a lane: `count` scalars side by side.
struct Access {
  llvm::Type* scalar;
  unsigned count;
  int64_t scalar_bytes;
  llvm::Align alignment;

  int64_t bytes() const { return scalar_bytes * count; }
};

Access access_of(llvm::Type* type, llvm::Align alignment, const llvm::DataLayout& layout) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Type* scalar = type->getScalarType();
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(scalar).getFixedValue());
  return {scalar, vector ? vector->getNumElements() : 1, bytes, llvm::commonAlignment(alignment, bytes)};
}

// Runs of lanes that access neighbours, or the same place.
llvm::SmallVector<Run> runs_of(const Shape& shape, int64_t bytes, bool of_one_address) {
  llvm::SmallVector<Run> runs;
  const auto width = static_cast<unsigned>(shape.offsets.size());
  for (unsigned first = 0; first < width;) {
    Run run{first, 1, false};
    const auto continues = [&](unsigned lane, int64_t distance) {
      return lane < width && shape.step(lane) - shape.step(lane - 1) == distance &&
             shape.factor_step(lane) == shape.factor_step(first);
    };
    if (of_one_address && continues(first + 1, 0)) {
      run.is_one_address = true;
      while (continues(first + run.count, 0)) ++run.count;
    } else {
      while (continues(first + run.count, bytes)) ++run.count;
    }
    runs.push_back(run);
    first += run.count;
  }
  return runs;
}

// The distance between lanes, if it is the same constant for all; else 0.
int64_t stride_of(const Shape& shape) {
  if (shape.factor) return 0;
  const int64_t stride = shape.step(1);
  for (unsigned l = 2; l < shape.offsets.size(); ++l)
    if (shape.step(l) - shape.step(l - 1) != stride) return 0;
  return stride;
}

llvm::SmallVector<int> every(unsigned count, unsigned stride, unsigned first) {
  llvm::SmallVector<int> places;
  for (unsigned i = 0; i < count; ++i) places.push_back(static_cast<int>(first + i * stride));
  return places;
}

}  // namespace

// Whether the steps of an address are what its shape says: no index wrapped around on its way to 64 bits.
llvm::Value* Widener::guards_hold(const Shape& shape) {
  llvm::Value* all_hold = builder_.getTrue();
  for (const llvm::CastInst* guard : shape.guards) {
    llvm::Value* index = guard->getOperand(0);
    const Shape steps = shapes_.shape(index);
    const bool is_signed = llvm::isa<llvm::SExtInst>(guard);
    llvm::Type* number = builder_.getInt64Ty();
    const unsigned bits = index->getType()->getIntegerBitWidth();
    if (bits > 32) return builder_.getFalse();
    llvm::Value* first = is_signed ? builder_.CreateSExt(scalar(index), number) : builder_.CreateZExt(scalar(index), number);
    int64_t low = 0, high = 0, low_factor = 0, high_factor = 0;
    for (unsigned l = 0; l < width_; ++l) {
      low = std::min(low, steps.step(l));
      high = std::max(high, steps.step(l));
      low_factor = std::min(low_factor, steps.factor_step(l));
      high_factor = std::max(high_factor, steps.factor_step(l));
    }
    llvm::Value *least = builder_.CreateAdd(first, builder_.getInt64(static_cast<uint64_t>(low))),
                *most = builder_.CreateAdd(first, builder_.getInt64(static_cast<uint64_t>(high)));
    if (steps.factor) {
      if (low_factor < 0) return builder_.getFalse();
      llvm::Value* factor = scalar(steps.factor);
      if (factor->getType()->getIntegerBitWidth() > 32) return builder_.getFalse();
      factor = is_signed ? builder_.CreateSExt(factor, number) : builder_.CreateZExt(factor, number);
      llvm::Value* part = builder_.CreateMul(factor, builder_.getInt64(static_cast<uint64_t>(high_factor)));
      least = builder_.CreateAdd(least, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, part, builder_.getInt64(0)));
      most = builder_.CreateAdd(most, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, part, builder_.getInt64(0)));
    }
    const int64_t smallest = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t largest = is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    if (low < 0 || steps.factor)
      all_hold = builder_.CreateAnd(
          all_hold, builder_.CreateICmpSGE(least, builder_.getInt64(static_cast<uint64_t>(smallest))));
    if (high > 0 || steps.factor)
      all_hold = builder_.CreateAnd(all_hold,
                                    builder_.CreateICmpSLE(most, builder_.getInt64(static_cast<uint64_t>(largest))));
  }
  return all_hold;
}

llvm::Value* Widener::lane_address(llvm::Value* first, const Shape& shape, unsigned lane) {
  llvm::Value* address = first;
  if (const int64_t steps = shape.factor_step(lane)) {
    llvm::Value* factor = scalar(shape.factor);
    factor = shape.factor_is_signed ? builder_.CreateSExtOrTrunc(factor, builder_.getInt64Ty())
                                    : builder_.CreateZExtOrTrunc(factor, builder_.getInt64Ty());
    address = builder_.CreatePtrAdd(address,
                                    builder_.CreateMul(factor, builder_.getInt64(static_cast<uint64_t>(steps))));
  }
  const int64_t step = shape.step(lane);
  return step == 0 ? address : builder_.CreatePtrAdd(address, builder_.getInt64(static_cast<uint64_t>(step)));
}

// Lanes that are off access a place of our own.
llvm::Value* Widener::safe_pointers(llvm::Value* pointers) {
  if (!mask_) return pointers;
  llvm::Value* nowhere = builder_.CreateAddrSpaceCast(nowhere_, pointers->getType()->getScalarType());
  return builder_.CreateSelect(mask_, pointers, splat(nowhere));
}

// ── loads

void Widener::widen_load(llvm::LoadInst& load) {
  if (auto made = loaded_before_.find(&load); made != loaded_before_.end()) return define(load, made->second);
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
  if (!shape.is_known() || !has_whole_bytes || load.isVolatile()) return define(load, gather(load));
  const auto by_shape = [&](const std::function<Components()>& together, const std::function<Components()>& apart) {
    return shape.guards.empty() ? together() : choose(guards_hold(shape), together, apart);
  };
  const auto runs = runs_of(shape, access.bytes(), true);
  if (access.count == 1 && runs.size() <= most_runs)
    return define(load, by_shape([&] { return Components{load_runs(load, shape)}; }, [&] { return gather(load); }));

  const int64_t stride = stride_of(shape);
  if (stride <= 0 || stride % access.scalar_bytes != 0 || (mask_ && !has_mask_registers_))
    return define(load, gather(load));
  const Neighbours neighbours = access.count == 1 ? find_neighbours(load, stride, layout_)
                                                  : Neighbours{{{&load, 0}}, 0, access.count};
  if (stride / access.scalar_bytes > largest_stride * static_cast<int64_t>(neighbours.members.size() * access.count))
    return define(load, gather(load));
  const Components all = by_shape([&] { return load_strided(load, neighbours, stride); },
                                  [&] {
                                    if (access.count > 1) return gather(load);
                                    Components result;
                                    for (const auto& member : neighbours.members)
                                      result.push_back(gather(llvm::cast<llvm::LoadInst>(*member.access))[0]);
                                    return result;
                                  });
  if (access.count > 1) return define(load, all);
  for (size_t i = 1; i < all.size(); ++i) loaded_before_[neighbours.members[i].access] = {all[i]};
  define(load, all[0]);
}

// Runs of neighbours, each loaded at once.
llvm::Value* Widener::load_runs(llvm::LoadInst& load, const Shape& shape) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  llvm::Value* first = scalar(load.getPointerOperand());
  const auto runs = runs_of(shape, access.bytes(), true);
  llvm::Value* whole = nullptr;
  for (const Run& run : runs) {
    llvm::Value* address = lane_address(first, shape, run.first);
    auto* type = llvm::FixedVectorType::get(access.scalar, run.count);
    llvm::Value* mask = mask_ ? builder_.CreateShuffleVector(mask_, every(run.count, 1, run.first)) : nullptr;
    llvm::Value* part;
    if (run.is_one_address || run.count == 1) {
      if (mask && runs.size() > 1) {
        llvm::Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(run.count));
        address = builder_.CreateSelect(builder_.CreateIsNotNull(bits), address,
                                        builder_.CreateAddrSpaceCast(nowhere_, address->getType()));
      }
      part = builder_.CreateVectorSplat(run.count, builder_.CreateAlignedLoad(access.scalar, address, access.alignment));
    } else if (!mask) {
      part = builder_.CreateAlignedLoad(type, address, access.alignment);
    } else if (has_mask_registers_ || access.scalar_bytes >= 4) {
      part = builder_.CreateMaskedLoad(type, address, access.alignment, mask);
    } else {
      part = choose(
          builder_.CreateAndReduce(mask),
          [&] { return Components{builder_.CreateAlignedLoad(type, address, access.alignment)}; },
          [&] {
            llvm::SmallVector<llvm::Constant*> steps;
            for (unsigned i = 0; i < run.count; ++i)
              steps.push_back(builder_.getInt64(static_cast<uint64_t>(i) * static_cast<uint64_t>(access.scalar_bytes)));
            llvm::Value* pointers = builder_.CreateGEP(builder_.getInt8Ty(), address, llvm::ConstantVector::get(steps));
            pointers =
                builder_.CreateAddrSpaceCast(pointers, llvm::FixedVectorType::get(builder_.getPtrTy(), run.count));
            return Components{
                builder_.CreateCall(gather_function(*new_, access.scalar, run.count, access.alignment),
                                    {pointers, builder_.CreateBitCast(mask, builder_.getIntNTy(run.count))})};
          })[0];
    }
    if (run.count == width_) return part;
    llvm::SmallVector<int> spread, blend;
    for (unsigned l = 0; l < width_; ++l) {
      const bool inside = l >= run.first && l < run.first + run.count;
      spread.push_back(inside ? static_cast<int>(l - run.first) : -1);
      blend.push_back(static_cast<int>(inside ? width_ + l : l));
    }
    part = builder_.CreateShuffleVector(part, spread);
    whole = whole ? builder_.CreateShuffleVector(whole, part, blend) : part;
  }
  return whole;
}

// Everything from the first scalar of the first lane to the last of the last, in vectors of `width` scalars; the last
// vector ends where the last lane does. For each member, its scalars in all lanes; for a load of a vector, of each of
// its elements.
Components Widener::load_strided(llvm::LoadInst& load, const Neighbours& neighbours, int64_t stride_in_bytes) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const auto bytes = static_cast<uint64_t>(access.scalar_bytes);
  const auto stride = static_cast<unsigned>(stride_in_bytes / access.scalar_bytes);
  llvm::SmallVector<unsigned> wanted;
  if (access.count > 1)
    for (unsigned i = 0; i < access.count; ++i) wanted.push_back(i);
  else
    for (const auto& member : neighbours.members) wanted.push_back(member.place);
  llvm::Value* first = scalar(load.getPointerOperand());
  if (neighbours.distance != 0)
    first = builder_.CreatePtrAdd(first, builder_.getInt64(static_cast<uint64_t>(neighbours.distance)));

  const unsigned all = (width_ - 1) * stride + neighbours.count;
  llvm::SmallVector<llvm::Value*> parts;
  llvm::SmallVector<unsigned> starts;
  for (unsigned start = 0; start < all; start += width_) {
    starts.push_back(std::min(start, all - width_));
    llvm::Value* address = builder_.CreatePtrAdd(first, builder_.getInt64(starts.back() * bytes));
    if (mask_) {
      llvm::SmallVector<int> lanes;
      for (unsigned i = 0; i < width_; ++i) {
        const unsigned at = starts.back() + i;
        const bool is_accessed = llvm::is_contained(wanted, at % stride);
        lanes.push_back(static_cast<int>(is_accessed ? at / stride : width_));
      }
      llvm::Value* accessed =
          builder_.CreateShuffleVector(mask_, llvm::Constant::getNullValue(mask_->getType()), lanes);
      parts.push_back(builder_.CreateMaskedLoad(vector_of(access.scalar), address, access.alignment, accessed));
    } else {
      parts.push_back(builder_.CreateAlignedLoad(vector_of(access.scalar), address, access.alignment));
    }
  }
  Components result;
  for (unsigned place : wanted) {
    llvm::Value* lanes = llvm::PoisonValue::get(vector_of(access.scalar));
    for (size_t part = 0; part < parts.size(); ++part) {
      llvm::SmallVector<int> places;
      for (unsigned l = 0; l < width_; ++l) {
        const unsigned at = l * stride + place;
        const bool is_last_that_has_it = part + 1 == parts.size() || at < starts[part + 1];
        const bool is_here = at >= starts[part] && at < starts[part] + width_ && is_last_that_has_it;
        places.push_back(static_cast<int>(is_here ? width_ + at - starts[part] : l));
      }
      lanes = builder_.CreateShuffleVector(lanes, parts[part], places);
    }
    result.push_back(lanes);
  }
  return result;
}

// A byte or a half-word is gathered with the word it is in, which is in the same page.
Components Widener::gather(llvm::LoadInst& load) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  llvm::Value* pointers = vector(load.getPointerOperand());
  llvm::Type* flat = vector_of(builder_.getPtrTy());
  const bool is_word = access.scalar_bytes == 4 || access.scalar_bytes == 8;
  const bool is_part = (access.scalar_bytes < 4) && access.alignment.value() >= static_cast<uint64_t>(access.scalar_bytes);
  Components result;
  const auto at = [&](unsigned i) {
    return i == 0 ? pointers
                  : builder_.CreateGEP(builder_.getInt8Ty(), pointers,
                                       builder_.getInt64(i * static_cast<uint64_t>(access.scalar_bytes)));
  };
  if (access.scalar->getPrimitiveSizeInBits() % 8 != 0 && !access.scalar->isPointerTy()) {
    for (unsigned i = 0; i < access.count; ++i) {
      llvm::Value* bytes = builder_.CreateCall(
          gather_function(*new_, builder_.getInt8Ty(), width_, llvm::Align(1)),
          {builder_.CreateAddrSpaceCast(at(i), flat), emission().mask_bits()});
      result.push_back(builder_.CreateTrunc(bytes, vector_of(access.scalar)));
    }
    return result;
  }
  if (load.isVolatile() || !has_mask_registers_ || (!is_word && !is_part)) {
    for (unsigned i = 0; i < access.count; ++i) {
      if (has_mask_registers_ || load.isVolatile() || access.scalar_bytes > 8) {
        result.push_back(builder_.CreateCall(gather_function(*new_, access.scalar, width_, access.alignment),
                                             {builder_.CreateAddrSpaceCast(at(i), flat), emission().mask_bits()}));
        continue;
      }
      llvm::Value* safe = safe_pointers(at(i));
      llvm::Value* lanes = llvm::PoisonValue::get(vector_of(access.scalar));
      for (unsigned l = 0; l < width_; ++l)
        lanes = builder_.CreateInsertElement(
            lanes, builder_.CreateAlignedLoad(access.scalar, builder_.CreateExtractElement(safe, l), access.alignment),
            l);
      result.push_back(lanes);
    }
    return result;
  }
  for (unsigned i = 0; i < access.count; ++i) {
    if (is_word) {
      result.push_back(builder_.CreateMaskedGather(vector_of(access.scalar), at(i), access.alignment, mask(),
                                                   llvm::Constant::getNullValue(vector_of(access.scalar))));
      continue;
    }
    llvm::Value* address = builder_.CreatePtrToInt(at(i), vector_of(builder_.getInt64Ty()));
    llvm::Value* in_word = builder_.CreateTrunc(
        builder_.CreateShl(builder_.CreateAnd(address, 3), llvm::ConstantInt::get(address->getType(), 3)),
        vector_of(builder_.getInt32Ty()));
    llvm::Value* words = builder_.CreateMaskedGather(
        vector_of(builder_.getInt32Ty()),
        builder_.CreateIntToPtr(builder_.CreateAnd(address, ~uint64_t{3}), pointers->getType()), llvm::Align(4), mask(),
        llvm::Constant::getNullValue(vector_of(builder_.getInt32Ty())));
    llvm::Type* bits = builder_.getIntNTy(static_cast<unsigned>(access.scalar_bytes) * 8);
    llvm::Value* part = builder_.CreateTrunc(builder_.CreateLShr(words, in_word), vector_of(bits));
    result.push_back(builder_.CreateBitCast(part, vector_of(access.scalar)));
  }
  return result;
}

// ── stores

void Widener::widen_store(llvm::StoreInst& store) {
  if (auto put_off = stored_later_.find(&store); put_off != stored_later_.end()) {
    if (put_off->second.members.back().access == &store) store_together(put_off->second);
    return;
  }
  const Shape shape = shapes_.shape(store.getPointerOperand());
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  if (shape.is_uniform()) return store_one(store);
  if (!shape.is_known() || store.isVolatile() || access.scalar->getPrimitiveSizeInBits() % 8 != 0) return scatter(store);
  if (access.count == 1 && runs_of(shape, access.bytes(), false).size() <= most_runs &&
      (!mask_ || has_mask_registers_ || access.scalar_bytes >= 4))
    return by_shape_or_scattered(shape, {&store}, [&] { store_runs(store, shape); });

  const int64_t stride = stride_of(shape);
  if (stride <= 0 || stride % access.scalar_bytes != 0 || (mask_ && !has_mask_registers_)) return scatter(store);
  const Neighbours neighbours = access.count == 1 ? find_neighbours(store, stride, layout_)
                                                  : Neighbours{{{&store, 0}}, 0, access.count};
  const bool leaves_no_gaps = stride == access.scalar_bytes * static_cast<int64_t>(neighbours.count) &&
                              neighbours.members.size() * access.count == neighbours.count;
  if (!leaves_no_gaps) return scatter(store);
  if (neighbours.members.size() == 1) return store_together(neighbours);
  for (const auto& member : neighbours.members) stored_later_[member.access] = neighbours;
}

void Widener::by_shape_or_scattered(const Shape& shape, llvm::ArrayRef<llvm::StoreInst*> stores,
                                    const std::function<void()>& by_shape) {
  if (shape.guards.empty()) return by_shape();
  choose(
      guards_hold(shape),
      [&] {
        by_shape();
        return Components{};
      },
      [&] {
        for (llvm::StoreInst* store : stores) scatter(*store);
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
  llvm::Value* first = scalar(store.getPointerOperand());
  llvm::Value* value = vector(store.getValueOperand());
  for (const Run& run : runs_of(shape, access.bytes(), false)) {
    const auto part_of = [&](llvm::Value* whole) {
      return run.count == width_ ? whole : builder_.CreateShuffleVector(whole, every(run.count, 1, run.first));
    };
    llvm::Value* address = lane_address(first, shape, run.first);
    if (mask_)
      builder_.CreateMaskedStore(part_of(value), address, access.alignment, part_of(mask_));
    else
      builder_.CreateAlignedStore(part_of(value), address, access.alignment);
  }
}

// Stores that leave no gaps, neither in a lane nor between lanes, are one.
void Widener::store_together(const Neighbours& neighbours) {
  auto& first_store = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  const Shape shape = shapes_.shape(first_store.getPointerOperand());
  const Access access = access_of(first_store.getValueOperand()->getType(), first_store.getAlign(), layout_);
  llvm::SmallVector<llvm::StoreInst*> stores;
  for (const auto& member : neighbours.members) stores.push_back(llvm::cast<llvm::StoreInst>(member.access));
  by_shape_or_scattered(shape, stores, [&] {
    llvm::SmallVector<llvm::Value*> parts(neighbours.count);
    if (access.count > 1)
      llvm::copy(lanes(first_store.getValueOperand()), parts.begin());
    else
      for (const auto& member : neighbours.members)
        parts[member.place] = vector(llvm::cast<llvm::StoreInst>(member.access)->getValueOperand());
    llvm::Value* first = scalar(first_store.getPointerOperand());
    if (neighbours.distance != 0)
      first = builder_.CreatePtrAdd(first, builder_.getInt64(static_cast<uint64_t>(neighbours.distance)));

    while (parts.size() & (parts.size() - 1)) parts.push_back(llvm::PoisonValue::get(parts[0]->getType()));
    for (unsigned length = width_; parts.size() > 1; length *= 2) {
      llvm::SmallVector<llvm::Value*> joined;
      for (size_t i = 0; i < parts.size(); i += 2)
        joined.push_back(builder_.CreateShuffleVector(parts[i], parts[i + 1], every(length * 2, 1, 0)));
      parts = joined;
    }
    llvm::SmallVector<int> places, lanes_of_places;
    for (unsigned l = 0; l < width_; ++l)
      for (unsigned i = 0; i < neighbours.count; ++i) {
        places.push_back(static_cast<int>(i * width_ + l));
        lanes_of_places.push_back(static_cast<int>(l));
      }
    llvm::Value* whole = builder_.CreateShuffleVector(parts[0], places);
    if (mask_)
      builder_.CreateMaskedStore(whole, first, access.alignment, builder_.CreateShuffleVector(mask_, lanes_of_places));
    else
      builder_.CreateAlignedStore(whole, first, access.alignment);
  });
}

void Widener::scatter(llvm::StoreInst& store) {
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
    llvm::Value* address =
        i == 0 ? pointers
               : builder_.CreateGEP(builder_.getInt8Ty(), pointers,
                                    builder_.getInt64(i * static_cast<uint64_t>(access.scalar_bytes)));
    const bool is_word = access.scalar_bytes == 4 || access.scalar_bytes == 8;
    if (is_word && has_mask_registers_ && !store.isVolatile())
      builder_.CreateMaskedScatter(value, address, access.alignment, mask());
    else
      builder_.CreateCall(scatter_function(*new_, scalar, width_, access.alignment),
                          {value, builder_.CreateAddrSpaceCast(address, vector_of(builder_.getPtrTy())),
                           emission().mask_bits()});
  }
}

}  // namespace metalloid::cpu::vector
