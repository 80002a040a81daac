// Loads and stores. Where the address has a shape, lanes that are neighbours in memory are accessed together:
//
//     one address for all     one scalar access
//     runs of neighbours      a vector access for each run; or one scalar, where a run has one address
//     a small fixed stride    vector accesses over all of it, and shuffles
//
// and else lane by lane, by the processor's gathers and scatters if it has them. No access touches memory that the
// lanes do not touch, except that bytes between two that are accessed, less than a page apart, are read with them.
#include <llvm/Support/SaveAndRestore.h>

#include "cpu/vector/interleave.hpp"
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned most_runs = 8;
constexpr unsigned device_address_space = 1;
constexpr int64_t furthest_neighbour = 64;  // bytes, of lanes that are anywhere

// Loads over all of a stride against gathers of what is wanted of it. Powers of two take few shuffles.
bool is_worth_striding(int64_t stride, int64_t wanted) {
  constexpr int64_t longest = 32;
  return stride <= 4 * wanted && stride <= (llvm::isPowerOf2_64(static_cast<uint64_t>(stride)) ? longest : 4);
}

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
    llvm::Value* first =
        is_signed ? builder_.CreateSExt(scalar(index), number) : builder_.CreateZExt(scalar(index), number);
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
      least =
          builder_.CreateAdd(least, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, part, builder_.getInt64(0)));
      most =
          builder_.CreateAdd(most, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, part, builder_.getInt64(0)));
    }
    const int64_t smallest = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t largest = is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    if (low < 0 || steps.factor)
      all_hold = builder_.CreateAnd(all_hold,
                                    builder_.CreateICmpSGE(least, builder_.getInt64(static_cast<uint64_t>(smallest))));
    if (high > 0 || steps.factor)
      all_hold =
          builder_.CreateAnd(all_hold, builder_.CreateICmpSLE(most, builder_.getInt64(static_cast<uint64_t>(largest))));
  }
  return all_hold;
}

llvm::Value* Widener::lane_address(llvm::Value* first, const Shape& shape, unsigned lane) {
  llvm::Value* address = first;
  if (const int64_t steps = shape.factor_step(lane)) {
    llvm::Value* factor = scalar(shape.factor);
    factor = shape.factor_is_signed ? builder_.CreateSExtOrTrunc(factor, builder_.getInt64Ty())
                                    : builder_.CreateZExtOrTrunc(factor, builder_.getInt64Ty());
    address =
        builder_.CreatePtrAdd(address, builder_.CreateMul(factor, builder_.getInt64(static_cast<uint64_t>(steps))));
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

// Addresses that are computed from lanes by more than shapes can follow, as `2 * i - (i & (distance - 1))`, are often
// neighbours all the same. What comes from memory is not expected to be.
bool Widener::may_be_consecutive(const llvm::Value* pointer) const {
  constexpr size_t longest = 24;
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  llvm::SmallVector<const llvm::Value*> left{pointer};
  while (!left.empty()) {
    const llvm::Value* value = left.pop_back_val();
    if (shapes_.is_known(value) || !seen.insert(value).second) continue;
    const auto* instruction = llvm::cast<llvm::Instruction>(value);
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::SelectInst, llvm::CmpInst>(
            instruction) ||
        seen.size() > longest)
      return false;
    left.append(instruction->op_begin(), instruction->op_end());
  }
  return true;
}

// Whether the addresses of lanes, of those that are on, follow one another.
llvm::Value* Widener::are_consecutive(llvm::Value* pointers, int64_t bytes) {
  llvm::SmallVector<llvm::Constant*> steps;
  for (unsigned l = 0; l < width_; ++l) steps.push_back(builder_.getInt64(l * static_cast<uint64_t>(bytes)));
  llvm::Value* numbers = builder_.CreateFreeze(builder_.CreatePtrToInt(pointers, vector_of(builder_.getInt64Ty())));
  llvm::Value* first = splat(builder_.CreateExtractElement(numbers, uint64_t{0}));
  llvm::Value* follow = builder_.CreateICmpEQ(numbers, builder_.CreateAdd(first, llvm::ConstantVector::get(steps)));
  if (!mask_) return all(follow);
  if (has_mask_registers_) return all(builder_.CreateOr(follow, builder_.CreateNot(mask_)));
  return all(builder_.CreateAnd(follow, mask_));
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
  if (!has_whole_bytes || load.isVolatile()) return define(load, gather(load));
  if (!shape.is_known()) return load_with_neighbours(load, shape);
  const auto runs = runs_of(shape, access.bytes(), true);
  if (access.count == 1 && runs.size() <= most_runs) {
    if (!shape.guards.empty()) note(load, Hindrance::guarded_access);
    const bool are_scalars = llvm::all_of(runs, [](const Run& run) { return run.is_one_address || run.count == 1; });
    return define(load, by_shape_or_apart(
                            shape, are_scalars || (has_masked_words_ && access.scalar_bytes >= 4),
                            [&] { return Components{load_runs(load, shape)}; }, [&] { return gather(load); }));
  }

  load_with_neighbours(load, shape);
}

// What lies beside it, in the lane's own part of memory, is loaded with it.
void Widener::load_with_neighbours(llvm::LoadInst& load, const Shape& shape) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const int64_t stride = shape.is_known() ? stride_of(shape) : 0;
  const bool is_strided = stride > 0 && stride % access.scalar_bytes == 0;
  const Neighbours neighbours = access.count == 1
                                    ? find_neighbours(load, is_strided ? stride : furthest_neighbour, layout_)
                                    : Neighbours{{{&load, 0}}, 0, access.count};
  const auto wanted = static_cast<int64_t>(neighbours.members.size() * access.count);
  const auto gathered = [&] {
    if (access.count > 1) return gather(load);
    if (can_gather_words(load, neighbours)) return gather_words(load, neighbours);
    Components result;
    llvm::Value* pointers = vector(load.getPointerOperand());
    for (const auto& member : neighbours.members) {
      const int64_t distance = neighbours.distance + member.place * access.scalar_bytes;
      llvm::Value* there =
          builder_.CreateGEP(builder_.getInt8Ty(), pointers, builder_.getInt64(static_cast<uint64_t>(distance)));
      result.push_back(gather(load, there)[0]);
    }
    return result;
  };
  Components all;
  if (is_strided && is_worth_striding(stride / access.scalar_bytes, wanted)) {
    const auto strided = [&] { return load_strided(load, neighbours, stride); };
    if (!shape.guards.empty())
      for (const auto& member : neighbours.members) note(*member.access, Hindrance::guarded_access);
    all = by_shape_or_apart(shape, /*masks_are_cheap=*/false, strided, gathered);
  } else if (neighbours.members.size() == 1 && may_be_consecutive(load.getPointerOperand())) {
    llvm::Value* pointers = vector(load.getPointerOperand());
    const auto together = [&] {
      llvm::Value* first = builder_.CreateExtractElement(pointers, uint64_t{0});
      llvm::Type* type = vector_of(access.scalar);
      if (mask_ && has_mask_registers_)
        return Components{builder_.CreateMaskedLoad(type, first, access.alignment, mask_)};
      return Components{builder_.CreateAlignedLoad(type, first, access.alignment)};
    };
    all = choose(are_consecutive(pointers, access.scalar_bytes), together, gathered);
  } else {
    all = gathered();
  }
  if (access.count > 1) return define(load, all);
  for (size_t i = 1; i < all.size(); ++i) loaded_before_[neighbours.members[i].access] = {all[i]};
  define(load, all[0]);
}

// By the shape of an address if it is what it seems to be, and if all lanes take part where masks are not cheap.
Components Widener::by_shape_or_apart(const Shape& shape, bool masks_are_cheap,
                                      const std::function<Components()>& by_shape,
                                      const std::function<Components()>& apart) {
  const bool needs_all = mask_ && !has_mask_registers_ && !masks_are_cheap;
  llvm::Value* condition = shape.guards.empty() ? nullptr : guards_hold(shape);
  if (needs_all) condition = condition ? builder_.CreateAnd(all(mask_), condition) : all(mask_);
  if (!condition) return by_shape();
  return choose(
      condition,
      [&] {
        const llvm::SaveAndRestore lanes(mask_, needs_all ? nullptr : mask_);
        return by_shape();
      },
      [&] {
        const llvm::SaveAndRestore unlikely(is_unlikely_, true);
        return apart();
      });
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
      part =
          builder_.CreateVectorSplat(run.count, builder_.CreateAlignedLoad(access.scalar, address, access.alignment));
    } else if (mask) {
      part = builder_.CreateMaskedLoad(type, address, access.alignment, mask);
    } else {
      part = builder_.CreateAlignedLoad(type, address, access.alignment);
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
  if (llvm::isPowerOf2_32(stride) && neighbours.count <= stride) {
    // The last vector ended early; its scalars move up to where they belong.
    if (const auto early = static_cast<unsigned>(parts.size() - 1) * width_ - starts.back(); early > 0) {
      llvm::SmallVector<int> places;
      for (unsigned i = 0; i < width_; ++i) places.push_back(i + early < width_ ? static_cast<int>(i + early) : -1);
      parts.back() = builder_.CreateShuffleVector(parts.back(), places);
    }
    parts.resize(stride, llvm::PoisonValue::get(vector_of(access.scalar)));
    const Vectors lanes = deinterleave(builder_, parts);
    for (unsigned place : wanted) result.push_back(lanes[place]);
    return result;
  }
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

// Bytes and half-words of a lane that lie side by side are gathered as words.
bool Widener::can_gather_words(llvm::LoadInst& load, const Neighbours& neighbours) const {
  const auto bytes = layout_.getTypeStoreSize(load.getType()).getFixedValue();
  return has_mask_registers_ && bytes < 4 && neighbours.members.size() > 1 && bytes * neighbours.count >= 4;
}

Components Widener::gather_words(llvm::LoadInst& load, const Neighbours& neighbours) {
  note(load, Hindrance::gather);
  const auto bytes = static_cast<unsigned>(layout_.getTypeStoreSize(load.getType()).getFixedValue());
  const unsigned all = bytes * neighbours.count;
  llvm::Type* words = vector_of(builder_.getInt32Ty());
  llvm::Value* pointers = vector(load.getPointerOperand());
  llvm::SmallVector<llvm::Value*> gathered((all + 3) / 4);
  const auto start_of = [&](unsigned word) { return std::min(word * 4, all - 4); };
  Components result;
  for (const auto& member : neighbours.members) {
    const unsigned at = member.place * bytes, word = at / 4;
    llvm::Value*& value = gathered[word];
    if (!value) {
      const int64_t offset = neighbours.distance + start_of(word);
      llvm::Value* addresses =
          builder_.CreateGEP(builder_.getInt8Ty(), pointers, builder_.getInt64(static_cast<uint64_t>(offset)));
      value =
          builder_.CreateMaskedGather(words, addresses, llvm::Align(1), mask(), llvm::Constant::getNullValue(words));
    }
    llvm::Value* shifted = builder_.CreateLShr(value, llvm::ConstantInt::get(words, (at - start_of(word)) * 8));
    llvm::Value* part = builder_.CreateTrunc(shifted, vector_of(builder_.getIntNTy(bytes * 8)));
    result.push_back(builder_.CreateBitCast(part, vector_of(load.getType())));
  }
  return result;
}

// Some processors take a gather or a scatter apart themselves, and less well than loads and stores that stand there in
// full; these take up space, though.
bool Widener::loads_beat_gathers() {
  constexpr unsigned most = 16;
  return has_slow_gathers_ && !is_unlikely_ && gathers_in_full_++ < most;
}

// A byte or a half-word is gathered with the word it is in, which is in the same page.
Components Widener::gather(llvm::LoadInst& load, llvm::Value* pointers) {
  note(load, Hindrance::gather);
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  llvm::Type* flat = vector_of(builder_.getPtrTy());
  const bool is_word = access.scalar_bytes == 4 || access.scalar_bytes == 8;
  const bool is_part =
      (access.scalar_bytes < 4) && access.alignment.value() >= static_cast<uint64_t>(access.scalar_bytes);
  Components result;
  const auto at = [&](unsigned i) {
    return i == 0 ? pointers
                  : builder_.CreateGEP(builder_.getInt8Ty(), pointers,
                                       builder_.getInt64(i * static_cast<uint64_t>(access.scalar_bytes)));
  };
  if (access.scalar->getPrimitiveSizeInBits() % 8 != 0 && !access.scalar->isPointerTy()) {
    for (unsigned i = 0; i < access.count; ++i) {
      llvm::Value* bytes = builder_.CreateCall(gather_function(*new_, builder_.getInt8Ty(), width_, llvm::Align(1)),
                                               {builder_.CreateAddrSpaceCast(at(i), flat), emission().mask_bits()});
      result.push_back(builder_.CreateTrunc(bytes, vector_of(access.scalar)));
    }
    return result;
  }
  const bool by_loads = is_word && loads_beat_gathers();
  if (load.isVolatile() || !has_mask_registers_ || by_loads || (!is_word && !is_part)) {
    for (unsigned i = 0; i < access.count; ++i) {
      if ((has_mask_registers_ && !by_loads) || load.isVolatile() || access.scalar_bytes > 8 || is_unlikely_) {
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
  if (store.isVolatile() || access.scalar->getPrimitiveSizeInBits() % 8 != 0) return scatter(store);
  if (!shape.is_known()) return store_apart_or_together(store);
  if (access.count == 1 && runs_of(shape, access.bytes(), false).size() <= most_runs)
    return by_shape_or_scattered(shape, has_masked_words_ && access.scalar_bytes >= 4, {&store},
                                 [&] { store_runs(store, shape); });

  const int64_t stride = stride_of(shape);
  if (stride <= 0 || stride % access.scalar_bytes != 0) return scatter(store);
  const Neighbours neighbours =
      access.count == 1 ? find_neighbours(store, stride, layout_) : Neighbours{{{&store, 0}}, 0, access.count};
  const bool leaves_no_gaps = stride == access.scalar_bytes * static_cast<int64_t>(neighbours.count) &&
                              neighbours.members.size() * access.count == neighbours.count;
  if (!leaves_no_gaps) return scatter(store);
  if (neighbours.members.size() == 1) return store_together(neighbours);
  for (const auto& member : neighbours.members) stored_later_[member.access] = neighbours;
}

void Widener::by_shape_or_scattered(const Shape& shape, bool masks_are_cheap, llvm::ArrayRef<llvm::StoreInst*> stores,
                                    const std::function<void()>& by_shape) {
  if (!shape.guards.empty())
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
      });
}

void Widener::store_apart_or_together(llvm::StoreInst& store) {
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  if (access.count > 1 || !may_be_consecutive(store.getPointerOperand())) return scatter(store);
  llvm::Value* pointers = vector(store.getPointerOperand());
  llvm::Value* value = vector(store.getValueOperand());
  choose(
      are_consecutive(pointers, access.scalar_bytes),
      [&] {
        llvm::Value* first = builder_.CreateExtractElement(pointers, uint64_t{0});
        if (mask_ && has_mask_registers_)
          builder_.CreateMaskedStore(value, first, access.alignment, mask_);
        else
          builder_.CreateAlignedStore(value, first, access.alignment);
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
  llvm::Value* first = scalar(store.getPointerOperand());
  llvm::Value* value = vector(store.getValueOperand());
  if (mask_ && !has_mask_registers_) note(store, Hindrance::masked_store);
  for (const Run& run : runs_of(shape, access.bytes(), false)) {
    const auto part_of = [&](llvm::Value* whole) {
      return run.count == width_ ? whole : builder_.CreateShuffleVector(whole, every(run.count, 1, run.first));
    };
    llvm::Value* address = lane_address(first, shape, run.first);
    if (mask_)
      builder_.CreateMaskedStore(part_of(value), address, access.alignment, part_of(mask_));
    else if (variant_.streams && run.count == width_ && store.getPointerAddressSpace() == device_address_space)
      stream(value, address, access.alignment);
    else
      builder_.CreateAlignedStore(part_of(value), address, access.alignment);
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

// Stores that leave no gaps, neither in a lane nor between lanes, are one.
void Widener::store_together(const Neighbours& neighbours) {
  auto& first_store = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  const Shape shape = shapes_.shape(first_store.getPointerOperand());
  const Access access = access_of(first_store.getValueOperand()->getType(), first_store.getAlign(), layout_);
  llvm::SmallVector<llvm::StoreInst*> stores;
  for (const auto& member : neighbours.members) stores.push_back(llvm::cast<llvm::StoreInst>(member.access));
  by_shape_or_scattered(shape, /*masks_are_cheap=*/false, stores, [&] {
    llvm::SmallVector<llvm::Value*> parts(neighbours.count);
    if (access.count > 1)
      llvm::copy(lanes(first_store.getValueOperand()), parts.begin());
    else
      for (const auto& member : neighbours.members)
        parts[member.place] = vector(llvm::cast<llvm::StoreInst>(member.access)->getValueOperand());
    llvm::Value* first = scalar(first_store.getPointerOperand());
    if (neighbours.distance != 0)
      first = builder_.CreatePtrAdd(first, builder_.getInt64(static_cast<uint64_t>(neighbours.distance)));

    if (llvm::isPowerOf2_32(neighbours.count)) {
      const Vectors vectors = interleave(builder_, parts);
      for (unsigned i = 0; i < vectors.size(); ++i) {
        const auto bytes = static_cast<uint64_t>(access.scalar_bytes) * width_ * i;
        llvm::Value* address = i == 0 ? first : builder_.CreatePtrAdd(first, builder_.getInt64(bytes));
        llvm::SmallVector<int> lanes_here;
        for (unsigned place = 0; place < width_; ++place)
          lanes_here.push_back(static_cast<int>((i * width_ + place) / neighbours.count));
        if (mask_)
          builder_.CreateMaskedStore(vectors[i], address, access.alignment,
                                     builder_.CreateShuffleVector(mask_, lanes_here));
        else
          builder_.CreateAlignedStore(vectors[i], address, access.alignment);
      }
      return;
    }
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
    llvm::Value* address = i == 0
                               ? pointers
                               : builder_.CreateGEP(builder_.getInt8Ty(), pointers,
                                                    builder_.getInt64(i * static_cast<uint64_t>(access.scalar_bytes)));
    const bool is_word = access.scalar_bytes == 4 || access.scalar_bytes == 8;
    if (is_word && !store.isVolatile() && loads_beat_gathers()) {
      llvm::Value* safe = safe_pointers(address);
      for (unsigned l = 0; l < width_; ++l)
        builder_.CreateAlignedStore(builder_.CreateExtractElement(value, l), builder_.CreateExtractElement(safe, l),
                                    access.alignment);
    } else if (is_word && has_mask_registers_ && !store.isVolatile())
      builder_.CreateMaskedScatter(value, address, access.alignment, mask());
    else
      builder_.CreateCall(
          scatter_function(*new_, scalar, width_, access.alignment),
          {value, builder_.CreateAddrSpaceCast(address, vector_of(builder_.getPtrTy())), emission().mask_bits()});
  }
}

}  // namespace metalloid::cpu::vector
