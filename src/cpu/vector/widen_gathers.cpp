// Loads of lanes that are anywhere. What a lane wants of neighbours is fetched in as large pieces as there are:
//
//     16 bytes     a load for each lane; vectors of these are transposed to words of all lanes
//     4 bytes      a gather, of which bytes and half-words are cut out
//     a scalar     a gather; a byte or a half-word with the word that it is in
#include <llvm/ADT/SmallSet.h>

#include <array>

#include "cpu/vector/accesses.hpp"
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned bytes_of_word = 4, words_of_chunk = 4, bytes_of_chunk = bytes_of_word * words_of_chunk;

// The places of the scalars that are wanted, from the lowest on.
llvm::SmallVector<unsigned> places_of(const Neighbours& neighbours, const Access& access) {
  llvm::SmallVector<unsigned> places;
  if (access.count > 1)
    for (unsigned i = 0; i < access.count; ++i) places.push_back(i);
  else
    for (const auto& member : neighbours.members) places.push_back(member.place);
  return places;
}

// Of four vectors, the elements of four lanes side by side: lane 4k + r has element 4k + w of vector r in word w.
std::array<llvm::Value*, words_of_chunk> transpose(llvm::IRBuilder<>& builder,
                                                   const std::array<llvm::Value*, words_of_chunk>& rows) {
  const auto pairs = [&](llvm::Value* a, llvm::Value* b, std::array<unsigned, 4> from) {
    const unsigned width = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
    llvm::SmallVector<int> places;
    for (unsigned i = 0; i < width; ++i) {
      const unsigned place = from[i % 4];
      places.push_back(static_cast<int>(i / 4 * 4 + place % 4 + (place >= 4 ? width : 0)));
    }
    return builder.CreateShuffleVector(a, b, places);
  };
  constexpr std::array<unsigned, 4> low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, first = {0, 1, 4, 5},
                                    second = {2, 3, 6, 7};
  llvm::Value *low_a = pairs(rows[0], rows[1], low), *low_b = pairs(rows[2], rows[3], low);
  llvm::Value *high_a = pairs(rows[0], rows[1], high), *high_b = pairs(rows[2], rows[3], high);
  return {pairs(low_a, low_b, first), pairs(low_a, low_b, second), pairs(high_a, high_b, first),
          pairs(high_a, high_b, second)};
}

}  // namespace

Components Widener::gather(llvm::LoadInst& load, const Neighbours& neighbours) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  llvm::Value* pointers = vector(load.getPointerOperand());
  if (can_load_chunks(load, neighbours)) {
    note(load, Hindrance::gather);
    return load_chunks(load, neighbours,
                       [&](int64_t offset) { return addresses_of_lanes(load.getPointerOperand(), offset); });
  }
  if (access.count > 1) return gather(load);
  if (can_gather_words(load, neighbours)) return gather_words(load, neighbours);
  Components result;
  for (const auto& member : neighbours.members) {
    const int64_t distance = neighbours.distance + member.place * access.scalar_bytes;
    llvm::Value* there =
        builder_.CreateGEP(builder_.getInt8Ty(), pointers, builder_.getInt64(static_cast<uint64_t>(distance)));
    if (member.index != 0)
      there = builder_.CreateGEP(builder_.getInt8Ty(), there, what_wraps_around(neighbours, member.index));
    result.push_back(gather(load, there)[0]);
  }
  return result;
}

// In each lane, by how many bytes a neighbour is elsewhere because its index wraps around on the way to it.
llvm::Value* Widener::what_wraps_around(const Neighbours& neighbours, int64_t index) {
  llvm::Value* first = vector(neighbours.extension->getOperand(0));
  const auto extended = [&](llvm::Value* value) {
    return builder_.CreateCast(neighbours.extension->getOpcode(), value, vector_of(builder_.getInt64Ty()));
  };
  const auto number = [](llvm::Value* of, int64_t value) {
    return llvm::ConstantInt::get(of->getType(), static_cast<uint64_t>(value), /*IsSigned=*/true);
  };
  llvm::Value *there = extended(builder_.CreateAdd(first, number(first, index))), *here = extended(first);
  llvm::Value* by = builder_.CreateSub(there, builder_.CreateAdd(here, number(here, index)));
  return builder_.CreateMul(by, number(here, static_cast<int64_t>(neighbours.element)));
}

// Whether most of what a lane loads by chunks is wanted. They take up space: not in code that need not be fast.
bool Widener::can_load_chunks(llvm::LoadInst& load, const Neighbours& neighbours) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const auto bytes = static_cast<unsigned>(access.scalar_bytes), all = bytes * neighbours.count;
  const bool is_part_of_word = bytes == 1 || bytes == 2 || bytes == bytes_of_word;
  if (is_unlikely_ || neighbours.extension || !is_part_of_word ||
      access.scalar->getPrimitiveSizeInBits() != bytes * 8 || all < bytes_of_chunk)
    return false;
  llvm::SmallSet<unsigned, 16> words, chunks;
  for (const unsigned place : places_of(neighbours, access)) {
    words.insert(place * bytes / bytes_of_word);
    chunks.insert(place * bytes / bytes_of_chunk);
  }
  return 2 * words.size() >= words_of_chunk * chunks.size() + 2;
}

// The last chunk ends where the last scalar does.
Components Widener::load_chunks(llvm::LoadInst& load, const Neighbours& neighbours, const AddressesAt& addresses_at) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const auto bytes = static_cast<unsigned>(access.scalar_bytes), all = bytes * neighbours.count;
  auto* words = vector_of(builder_.getInt32Ty());
  auto* chunk_type = llvm::FixedVectorType::get(builder_.getInt32Ty(), words_of_chunk);
  const auto start_of = [&](unsigned chunk) { return std::min(chunk * bytes_of_chunk, all - bytes_of_chunk); };
  const auto load_all = [&](unsigned chunk) {
    const auto addresses = addresses_at(neighbours.distance + start_of(chunk));
    std::array<llvm::Value*, words_of_chunk> rows;
    for (unsigned row = 0; row < words_of_chunk; ++row) {
      llvm::SmallVector<llvm::Value*> parts;
      for (unsigned lane = row; lane < width_; lane += words_of_chunk)
        parts.push_back(builder_.CreateAlignedLoad(chunk_type, addresses[lane], access.alignment));
      rows[row] = concatenated(parts);
    }
    return transpose(builder_, rows);
  };
  llvm::DenseMap<unsigned, std::array<llvm::Value*, words_of_chunk>> loaded;
  Components result;
  for (const unsigned place : places_of(neighbours, access)) {
    const unsigned at = place * bytes, chunk = at / bytes_of_chunk;
    auto found = loaded.find(chunk);
    if (found == loaded.end()) found = loaded.try_emplace(chunk, load_all(chunk)).first;
    const unsigned inside = at - start_of(chunk);
    llvm::Value* word = found->second[inside / bytes_of_word];
    if (const unsigned shift = inside % bytes_of_word * 8)
      word = builder_.CreateLShr(word, llvm::ConstantInt::get(words, shift));
    if (bytes < bytes_of_word) word = builder_.CreateTrunc(word, vector_of(builder_.getIntNTy(bytes * 8)));
    result.push_back(builder_.CreateBitCast(word, vector_of(access.scalar)));
  }
  return result;
}

llvm::Value* Widener::concatenated(llvm::SmallVector<llvm::Value*> parts) {
  while (parts.size() > 1) {
    llvm::SmallVector<llvm::Value*> joined;
    const unsigned length = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
    for (size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(builder_.CreateShuffleVector(parts[i], parts[i + 1], every(2 * length, 1, 0)));
    parts = std::move(joined);
  }
  return parts[0];
}

// Bytes and half-words of a lane that lie side by side are gathered as words.
bool Widener::can_gather_words(llvm::LoadInst& load, const Neighbours& neighbours) const {
  const auto bytes = layout_.getTypeStoreSize(load.getType()).getFixedValue();
  return has_mask_registers_ && !neighbours.extension && bytes < 4 && neighbours.members.size() > 1 &&
         bytes * neighbours.count >= 4;
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
      llvm::Value* addresses = behind(pointers, neighbours.distance + start_of(word));
      value =
          builder_.CreateMaskedGather(words, addresses, llvm::Align(1), mask(), llvm::Constant::getNullValue(words));
    }
    llvm::Value* shifted = builder_.CreateLShr(value, llvm::ConstantInt::get(words, (at - start_of(word)) * 8));
    llvm::Value* part = builder_.CreateTrunc(shifted, vector_of(builder_.getIntNTy(bytes * 8)));
    result.push_back(builder_.CreateBitCast(part, vector_of(load.getType())));
  }
  return result;
}

Components Widener::gather(llvm::LoadInst& load, llvm::Value* pointers) {
  note(load, Hindrance::gather);
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const bool is_bit = access.scalar->getPrimitiveSizeInBits() % 8 != 0 && !access.scalar->isPointerTy();
  llvm::Type* scalar = is_bit ? builder_.getInt8Ty() : access.scalar;
  const bool can_be_in_full = !load.isVolatile() && access.scalar_bytes <= 8 && !is_unlikely_;
  const bool is_gathered_well = gathers_words_well_ && access.scalar_bytes >= bytes_of_word;
  const bool in_full = can_be_in_full && (!has_mask_registers_ || (!is_gathered_well && loads_beat_gathers()));
  Components result;
  for (unsigned i = 0; i < access.count; ++i) {
    llvm::Value* addresses = behind(pointers, i * access.scalar_bytes);
    llvm::Value* loaded =
        in_full ? load_each(scalar, access, addresses) : gather_scalars(load, scalar, access, addresses);
    result.push_back(is_bit ? builder_.CreateTrunc(loaded, vector_of(access.scalar)) : loaded);
  }
  return result;
}

llvm::Value* Widener::load_each(llvm::Type* scalar, const Access& access, llvm::Value* addresses) {
  llvm::Value* safe = safe_pointers(addresses);
  llvm::Value* lanes = llvm::PoisonValue::get(vector_of(scalar));
  for (unsigned l = 0; l < width_; ++l)
    lanes = builder_.CreateInsertElement(
        lanes, builder_.CreateAlignedLoad(scalar, builder_.CreateExtractElement(safe, l), access.alignment), l);
  return lanes;
}

// A byte or a half-word is gathered with the word it is in, which is in the same page.
llvm::Value* Widener::gather_scalars(const llvm::LoadInst& load, llvm::Type* scalar, const Access& access,
                                     llvm::Value* addresses) {
  const bool is_word = access.scalar_bytes == 4 || access.scalar_bytes == 8;
  const bool is_part =
      access.scalar_bytes < 4 && access.alignment.value() >= static_cast<uint64_t>(access.scalar_bytes);
  if (load.isVolatile() || !has_mask_registers_ || (!is_word && !is_part))
    return builder_.CreateCall(
        gather_function(*new_, scalar, width_, access.alignment),
        {builder_.CreateAddrSpaceCast(addresses, vector_of(builder_.getPtrTy())), emission().mask_bits()});
  if (is_word)
    return builder_.CreateMaskedGather(vector_of(scalar), addresses, access.alignment, mask(),
                                       llvm::Constant::getNullValue(vector_of(scalar)));
  llvm::Type* word = builder_.getInt32Ty();
  llvm::Value* numbers = builder_.CreatePtrToInt(addresses, vector_of(builder_.getInt64Ty()));
  llvm::Value* in_word = builder_.CreateTrunc(
      builder_.CreateShl(builder_.CreateAnd(numbers, 3), llvm::ConstantInt::get(numbers->getType(), 3)),
      vector_of(word));
  llvm::Value* words = builder_.CreateMaskedGather(
      vector_of(word), builder_.CreateIntToPtr(builder_.CreateAnd(numbers, ~uint64_t{3}), addresses->getType()),
      llvm::Align(4), mask(), llvm::Constant::getNullValue(vector_of(word)));
  llvm::Type* bits = builder_.getIntNTy(static_cast<unsigned>(access.scalar_bytes) * 8);
  llvm::Value* part = builder_.CreateTrunc(builder_.CreateLShr(words, in_word), vector_of(bits));
  return builder_.CreateBitCast(part, vector_of(scalar));
}

}  // namespace metalloid::cpu::vector
