// Atomic instructions in all lanes against a loop that makes them one after another.
#include <llvm/IR/InstIterator.h>

#include <random>
#include <vector>

#include "cpu/vector/atomics.hpp"
#include "run_ir.hpp"

namespace metalloid::cpu::vector {
namespace {

constexpr unsigned max_width = 32;

struct Case {
  std::string instruction;  // of %p, %a and %b
  std::string type;
  unsigned space;
  bool is_used = true;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// void (pointers, a, b, bits, results, successes): arrays of `width` each, in all lanes what @lane does in one.
using Group = void(void**, const void*, const void*, uint64_t, void*, uint8_t*);

void make_group(Ir& ir, unsigned width, bool one_address) {
  llvm::Function& lane = ir.function("lane");
  llvm::Instruction* access = nullptr;
  for (llvm::Instruction& instruction : llvm::instructions(lane))
    if (is_atomic_access(instruction)) access = &instruction;
  llvm::IRBuilder<> builder(lane.getContext());
  llvm::Type* pointer = builder.getPtrTy();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(),
                                       {pointer, pointer, pointer, builder.getInt64Ty(), pointer, pointer}, false);
  auto* group = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "group", ir.module());
  builder.SetInsertPoint(llvm::BasicBlock::Create(lane.getContext(), "", group));
  llvm::Value* bits = builder.CreateTrunc(group->getArg(3), builder.getIntNTy(width));
  Emission emission{builder, width};
  emission.active = builder.CreateBitCast(bits, emission.vector_of(builder.getInt1Ty()));

  llvm::SmallVector<Operand> operands;
  for (llvm::Value* operand : access->operands()) {
    const unsigned argument = llvm::cast<llvm::Argument>(operand)->getArgNo();
    Operand all;
    all.lanes = {
        builder.CreateAlignedLoad(emission.vector_of(operand->getType()), group->getArg(argument), llvm::Align(8))};
    if (argument == 0 && one_address) all.uniform = builder.CreateLoad(operand->getType(), group->getArg(0));
    operands.push_back(all);
  }
  Components result = emit_atomic(emission, *access, operands);
  if (!access->use_empty()) {
    if (one_address && atomic_gives_uniform(*access)) result[0] = emission.splat(result[0]);
    builder.CreateAlignedStore(result[0], group->getArg(4), llvm::Align(8));
    if (result.size() == 2)
      builder.CreateAlignedStore(builder.CreateZExt(result[1], emission.vector_of(builder.getInt8Ty())),
                                 group->getArg(5), llvm::Align(1));
  }
  builder.CreateRetVoid();
}

// Runs the case on random operands and masks, and compares memory and results with those of single lanes.
template <class T>
void check(const Case& test, unsigned width, bool one_address) {
  const std::string instruction = replaced(test.instruction, "$T", test.type);
  const bool is_exchange = instruction.find("cmpxchg") != std::string::npos;
  const std::string space = test.space == 0 ? "" : " addrspace(" + std::to_string(test.space) + ")";
  std::string use = "ret void";
  if (test.is_used)
    use = is_exchange ? "%old = extractvalue {" + test.type + ", i1} %r, 0\n %done = extractvalue {" + test.type +
                            ", i1} %r, 1\n %byte = zext i1 %done to i8\n store i8 %byte, ptr %success\n store " +
                            test.type + " %old, ptr %out\n ret void"
                      : "store " + test.type + " %r, ptr %out\n ret void";
  Ir ir("define void @lane(ptr" + space + " %p, " + test.type + " %a, " + test.type +
        " %b, ptr %out, ptr %success) {\n" + replaced(instruction, "$P", "ptr" + space) + "\n" + use + "\n}");
  make_group(ir, width, one_address);
  ir.expect_valid();
  auto* lane = ir.find<void(void*, T, T, T*, uint8_t*)>("lane");
  auto* group = ir.find<Group>("group");

  std::mt19937 random(width + test.space);
  for (int round = 0; round < 20; ++round) {
    std::vector<T> memory(8), a(max_width), b(max_width);
    for (auto* values : {&memory, &a, &b})
      for (T& value : *values) value = T(int(random() % 9) - 4);
    std::vector<T> expected_memory = memory;
    const uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
    const uint64_t bits = round == 0 ? 0 : round == 1 ? all : random() & all;
    std::vector<void*> pointers(max_width), expected_pointers(max_width);
    for (unsigned i = 0; i < max_width; ++i) {
      const size_t place = one_address ? 3 : random() % 8;
      const bool active = bits >> i & 1;
      pointers[i] = active || (one_address && bits != 0) ? &memory[place] : nullptr;
      expected_pointers[i] = &expected_memory[place];
    }
    std::vector<T> results(max_width), expected(max_width);
    std::vector<uint8_t> successes(max_width), expected_successes(max_width);
    for (unsigned i = 0; i < width; ++i)
      if (bits >> i & 1) lane(expected_pointers[i], a[i], b[i], &expected[i], &expected_successes[i]);
    group(pointers.data(), a.data(), b.data(), bits, results.data(), successes.data());

    EXPECT_EQ(memory, expected_memory) << instruction << " width " << width << " bits " << bits;
    for (unsigned i = 0; i < width; ++i) {
      if (!(bits >> i & 1)) continue;
      EXPECT_EQ(results[i], expected[i]) << instruction << " width " << width << " lane " << i << " bits " << bits;
      EXPECT_EQ(successes[i], expected_successes[i]) << instruction << " lane " << i;
    }
  }
}

void check_everywhere(const std::string& instruction, const std::vector<std::string>& types,
                      bool can_be_unused = true) {
  for (const std::string& type : types)
    for (const unsigned space : {1u, 3u})
      for (const unsigned width : {1u, 8u, 32u})
        for (const bool one_address : {false, true})
          for (const bool is_used : {false, true}) {
            if (!is_used && !can_be_unused) continue;
            const Case test{instruction, type, space, is_used};
            if (type == "i32") check<int32_t>(test, width, one_address);
            if (type == "i64") check<int64_t>(test, width, one_address);
            if (type == "float") check<float>(test, width, one_address);
          }
}

TEST(VectorAtomics, ChangesOfIntegersAreThoseOfTheLanesInOrder) {
  for (const std::string operation : {"add", "sub", "and", "or", "xor", "min", "max", "umin", "umax", "xchg"})
    check_everywhere("%r = atomicrmw " + operation + " $P %p, $T %a syncscope(\"device\") monotonic",
                     operation == "add" || operation == "umax" ? std::vector<std::string>{"i32", "i64"}
                                                               : std::vector<std::string>{"i32"});
}

// The operands are small integers, of which every sum is exact.
TEST(VectorAtomics, ChangesOfFloatsAreThoseOfTheLanesInOrder) {
  for (const std::string operation : {"fadd", "fsub", "fmin", "fmax"})
    check_everywhere("%r = atomicrmw " + operation + " $P %p, $T %a monotonic", {"float"});
}

TEST(VectorAtomics, LoadsReadInActiveLanesOnly) {
  for (const std::string type : {"i32", "i64"})
    check_everywhere("%r = load atomic $T, $P %p monotonic, align " + std::string(type == "i32" ? "4" : "8"), {type});
}

TEST(VectorAtomics, CompareAndExchangeSeesTheLanesBefore) {
  check_everywhere("%r = cmpxchg weak $P %p, $T %a, $T %b monotonic monotonic", {"i32", "i64"});
}

TEST(VectorAtomics, TheLastActiveLaneStores) {
  for (const unsigned space : {1u, 3u})
    for (const unsigned width : {1u, 8u, 32u})
      for (const bool one_address : {false, true})
        check<int32_t>({"store atomic $T %a, $P %p monotonic, align 4", "i32", space, false}, width, one_address);
}

TEST(VectorAtomics, ThreadgroupMemoryNeedsNoAtomicInstructions) {
  Ir ir(
      "define void @lane(ptr addrspace(3) %p, i32 %a) { %r = atomicrmw add ptr addrspace(3) %p, i32 %a monotonic\n ret "
      "void }");
  make_group(ir, 8, true);
  for (llvm::Function& function : ir.module()) {
    if (function.getName() == "lane") continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) EXPECT_FALSE(instruction.isAtomic());
  }
}

TEST(VectorAtomics, LoadsAndStoresOfThreadgroupMemoryBecomePlain) {
  Ir ir(
      "define void @f(ptr addrspace(3) %p, ptr addrspace(1) %q) {\n"
      "%a = load atomic i32, ptr addrspace(3) %p monotonic, align 4\n"
      "store atomic i32 %a, ptr addrspace(3) %p monotonic, align 4\n"
      "%b = load atomic i32, ptr addrspace(1) %q monotonic, align 4\n"
      "%c = atomicrmw add ptr addrspace(3) %p, i32 %b monotonic\n ret void }");
  make_threadgroup_accesses_plain(ir.function("f"));
  std::vector<bool> atomic;
  for (llvm::Instruction& instruction : llvm::instructions(ir.function("f"))) atomic.push_back(instruction.isAtomic());
  EXPECT_EQ(atomic, (std::vector<bool>{false, false, true, true, false}));
}

TEST(VectorAtomics, ALoadFromOneAddressGivesTheSameInAllLanes) {
  Ir ir(
      "define void @f(ptr %p) { %a = load atomic i32, ptr %p monotonic, align 4\n"
      "%b = atomicrmw add ptr %p, i32 %a monotonic\n ret void }");
  auto instruction = llvm::inst_begin(ir.function("f"));
  EXPECT_TRUE(atomic_gives_uniform(*instruction));
  EXPECT_FALSE(atomic_gives_uniform(*++instruction));
}

}  // namespace
}  // namespace metalloid::cpu::vector
