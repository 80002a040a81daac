// Function pointers, memory intrinsics, stores of few lanes, turns and loops of one lane: what the passes over lane
// form make of small functions, run on this machine.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "bitcode/function_pointers.hpp"
#include "cpu/vector/lone_lanes.hpp"
#include "cpu/vector/passes.hpp"
#include "run_ir.hpp"

namespace metalloid::cpu::vector {
namespace {

template <class... Kinds>
bool contains(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<Kinds...>(instruction)) return true;
  return false;
}

// Function pointers.

constexpr const char* function_pointers = R"(
@table = internal constant [2 x ptr] [ptr @negate, ptr @twice]
define float @negate(float %x) { %y = fneg float %x
  ret float %y }
define float @twice(float %x) noinline { %y = fadd float %x, %x
  ret float %y }
define i32 @twice_of_int(i32 %x) { %y = add i32 %x, %x
  ret i32 %y }
define float @call(ptr %f, float %x) convergent { %y = call float %f(float %x) #0
  ret float %y }
define i32 @call_int(ptr %f, i32 %x) { %y = call i32 %f(i32 %x)
  ret i32 %y }
define float @call_nth(i64 %n, float %x) { %p = getelementptr ptr, ptr @table, i64 %n
  %f = load ptr, ptr %p
  %y = call float %f(float %x)
  ret float %y }
define i32 @down(i32 %n, ptr %again) { %end = icmp eq i32 %n, 0
  br i1 %end, label %stop, label %go
stop:
  ret i32 7
go:
  %m = sub i32 %n, 1
  %r = call i32 %again(i32 %m, ptr %again)
  ret i32 %r }
define i32 @recursion(i32 %n) { %r = call i32 @down(i32 %n, ptr @down)
  ret i32 %r }
attributes #0 = { convergent }
)";

TEST(FunctionPointers, CallsThroughThemReachTheFunctionsOfTheirSignature) {
  Ir ir(function_pointers);
  llvm::Function* visible[] = {&ir.function("twice_of_int"), &ir.function("twice")};
  bitcode::resolve_function_pointers(ir.module(), visible);
  ir.expect_valid();
  for (llvm::Function& function : ir.module())
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        EXPECT_TRUE(call->getCalledFunction());
        EXPECT_EQ(call->isConvergent(), function.getName() == "call");
      }
  EXPECT_TRUE(ir.function("call").hasFnAttribute(llvm::Attribute::AlwaysInline));
  EXPECT_FALSE(ir.function("twice").hasFnAttribute(llvm::Attribute::NoInline));
  EXPECT_FALSE(ir.function("down").hasFnAttribute(llvm::Attribute::AlwaysInline));

  auto* call = ir.find<float(uint64_t, float)>("call");
  auto* call_int = ir.find<int(uint64_t, int)>("call_int");
  auto* call_nth = ir.find<float(uint64_t, float)>("call_nth");
  EXPECT_EQ(call(bitcode::handle_of_visible_function(1), 21), 42);
  EXPECT_EQ(call_int(bitcode::handle_of_visible_function(0), 21), 42);
  EXPECT_EQ(call_nth(0, 21), -21);
  EXPECT_EQ(call_nth(1, 21), 42);
  EXPECT_EQ(ir.find<int(int)>("recursion")(5), 7);
}

TEST(FunctionPointers, CallingWhatIsNoFunctionOfTheSignatureGivesZero) {
  Ir ir(function_pointers);
  llvm::Function* visible[] = {&ir.function("twice_of_int"), &ir.function("twice")};
  bitcode::resolve_function_pointers(ir.module(), visible);
  auto* call = ir.find<float(uint64_t, float)>("call");
  for (const uint64_t handle : {uint64_t(0), bitcode::handle_of_visible_function(0), uint64_t(1) << 40})
    EXPECT_EQ(call(handle, 21), 0);
}

// Memory intrinsics.

std::string intrinsic_function(const std::string& name, const std::string& operand, const std::string& length,
                               const std::string& alignment = "") {
  const bool is_set = name.find("memset") != std::string::npos;
  const std::string second = is_set ? "i8" : "ptr";
  const std::string type = "." + std::string(is_set ? "p0" : "p0.p0") + ".i64";
  return "declare void @llvm." + name + type + "(ptr, " + second + ", i64, i1 immarg)\n" +
         "define void @f(ptr %to, ptr %from, i64 %n, i8 %byte) {\n call void @llvm." + name + type + "(ptr " +
         alignment + " %to, " + second + " " + (is_set ? "" : alignment) + " " + operand + ", i64 " + length +
         ", i1 false)\n ret void\n}";
}

using Transfer = void(char*, const char*, uint64_t, char);

TEST(MemoryIntrinsics, CopiesOfAnyLengthAndOverlapAreThoseOfTheLibrary) {
  for (const std::string name : {"memmove", "memcpy", "memcpy.inline"})
    for (const int length : {0, 1, 2, 3, 4, 7, 8, 15, 64, 255, 256, 257, 300, 515, -1}) {
      if (length < 0 && name == "memcpy.inline") continue;
      Ir ir(intrinsic_function(name, "%from", length < 0 ? "%n" : std::to_string(length)));
      ir.run(ExpandMemoryIntrinsics());
      EXPECT_FALSE(contains<llvm::MemIntrinsic>(ir.module()));
      auto* copy = ir.find<Transfer>("f");
      const auto check = [&](size_t n) {
        for (const int distance : {-700, -9, -4, -3, -1, 0, 1, 2, 5, 8, 700}) {
          const bool overlaps = distance != 0 && size_t(std::abs(distance)) < n;
          if (overlaps && name != "memmove") continue;
          std::vector<char> bytes = numbered(2200), expected = bytes;
          copy(&bytes[size_t(800 + distance)], &bytes[800], n, 0);
          std::memmove(&expected[size_t(800 + distance)], &expected[800], n);
          EXPECT_EQ(bytes, expected) << name << ' ' << n << " by " << distance;
        }
      };
      if (length >= 0) check(size_t(length));
      if (length < 0)
        for (const size_t n : {0, 1, 3, 4, 5, 31, 32, 33, 400}) check(n);
    }
}

TEST(MemoryIntrinsics, FillsOfAnyLengthAreThoseOfTheLibrary) {
  for (const std::string length : {"0", "1", "6", "7", "64", "256", "259", "1000", "%n"}) {
    Ir ir(intrinsic_function("memset", "%byte", length, "align 4"));
    ir.run(ExpandMemoryIntrinsics());
    EXPECT_FALSE(contains<llvm::MemIntrinsic>(ir.module()));
    auto* fill = ir.find<Transfer>("f");
    for (const size_t n : {0, 1, 3, 4, 41}) {
      const size_t bytes_filled = length == "%n" ? n : std::stoul(length);
      std::vector<char> bytes = numbered(1100), expected = bytes;
      fill(&bytes[8], nullptr, n, char(0xAB));
      std::memset(&expected[8], 0xAB, bytes_filled);
      EXPECT_EQ(bytes, expected) << length;
    }
  }
}

TEST(MemoryIntrinsics, AnArrayIsCopiedInTheElementsItIsUsedIn) {
  for (const auto& [type, bits] : {std::pair{"half", 16}, {"float", 32}, {"i64", 64}, {"i8", 8}}) {
    Ir ir("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)\n define " + std::string(type) +
          " @f(ptr %from, i64 %i) {\n %a = alloca [4 x " + type +
          "], align 8\n"
          "call void @llvm.memcpy.p0.p0.i64(ptr align 8 %a, ptr %from, i64 " +
          std::to_string(bits / 2) + ", i1 false)\n %p = getelementptr " + type + ", ptr %a, i64 %i\n %x = load " +
          type + ", ptr %p\n ret " + type + " %x\n}");
    ir.run(ExpandMemoryIntrinsics());
    unsigned stores = 0;
    for (llvm::Instruction& instruction : llvm::instructions(ir.function("f")))
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        EXPECT_EQ(store->getValueOperand()->getType()->getScalarSizeInBits(), unsigned(bits));
        ++stores;
      }
    EXPECT_EQ(stores, 4u) << type;
  }
}

// Stores of few lanes.

// Lane i scatters n + i to place 3 - i.
std::string scatter_function(const std::string& mask) {
  return "declare void @llvm.masked.scatter.v4i32.v4p0(<4 x i32>, <4 x ptr>, <4 x i1>)\n"
         "define void @f(ptr %to, i32 %n, <4 x i1> %given) {\n"
         "%start = insertelement <4 x i32> poison, i32 %n, i64 0\n"
         "%all = shufflevector <4 x i32> %start, <4 x i32> poison, <4 x i32> zeroinitializer\n"
         "%values = add <4 x i32> %all, <i32 0, i32 1, i32 2, i32 3>\n"
         "%places = getelementptr i32, ptr %to, <4 x i64> <i64 3, i64 2, i64 1, i64 0>\n"
         "call void @llvm.masked.scatter.v4i32.v4p0(<4 x i32> %values, <4 x ptr> align 4 %places, <4 x i1> " +
         mask + ")\n ret void\n}";
}

TEST(StoreFewLanes, StoresThoseThatAreOn) {
  Ir ir(scatter_function("<i1 false, i1 true, i1 false, i1 true>"));
  ir.run(StoreFewLanes());
  ir.expect_valid();
  EXPECT_FALSE(contains<llvm::IntrinsicInst>(ir.module()));
  int to[4] = {-1, -1, -1, -1};
  ir.find<void(int*, int)>("f")(to, 10);
  EXPECT_EQ(std::vector(to, to + 4), (std::vector{13, -1, 11, -1}));
}

TEST(StoreFewLanes, LeavesMasksThatAreNotKnown) {
  Ir ir(scatter_function("%given"));
  ir.run(StoreFewLanes());
  EXPECT_TRUE(contains<llvm::IntrinsicInst>(ir.module()));
}

// Turns.

unsigned turns_in(const std::string& loop_body) {
  Ir ir("define void @metalloid.entry(ptr %state, ptr %p) {\n br label %loop\nloop:\n" + loop_body +
        "\n br i1 %done, label %end, label %loop\nend:\n ret void\n}");
  ir.run(InsertTurns());
  unsigned turns = 0;
  for (llvm::Instruction& instruction : llvm::instructions(ir.function("metalloid.entry")))
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      EXPECT_EQ(call->getCalledFunction()->getName(), "metalloid.let_others_run");
      EXPECT_EQ(call->getArgOperand(0), ir.function("metalloid.entry").getArg(0));
      EXPECT_EQ(call->getParent()->getName(), "loop");
      ++turns;
    }
  return turns;
}

TEST(InsertTurns, LoopsThatReadWhatOthersWriteGiveWay) {
  EXPECT_EQ(turns_in("%x = load atomic i32, ptr %p monotonic, align 4\n %done = icmp eq i32 %x, 1"), 1u);
  EXPECT_EQ(turns_in("%x = load volatile i32, ptr %p\n %done = icmp eq i32 %x, 1"), 1u);
  EXPECT_EQ(turns_in("%x = atomicrmw xchg ptr %p, i32 1 monotonic\n %done = icmp eq i32 %x, 0"), 1u);
}

TEST(InsertTurns, OtherLoopsDoNot) {
  EXPECT_EQ(turns_in("%x = load i32, ptr %p\n %done = icmp eq i32 %x, 1"), 0u);
  EXPECT_EQ(turns_in("%i = phi i32 [0, %0], [%j, %loop]\n %j = add i32 %i, 1\n"
                     "%x = atomicrmw add ptr %p, i32 1 monotonic\n %done = icmp eq i32 %j, 9"),
            0u);
}

// Loops of one lane.

struct Branch {
  std::string condition = "%is_one = icmp eq i32 %thread, 7";
  std::string body = "store i32 %i, ptr %own";
  std::string end = "ret void";
};

bool is_moved(const Branch& branch) {
  constexpr unsigned width = 32;
  Ir ir(R"(
declare noundef range(i32 0, 32) i32 @metalloid.lane() nounwind speculatable willreturn memory(none)
declare void @metal.simdgroup_barrier()
define void @metalloid.entry(ptr %p, i32 %first, i32 %n) {
  %array = alloca [8 x i32]
  %own = alloca i32
  %lane = call i32 @metalloid.lane()
  %thread = add i32 %first, %lane
  )" + branch.condition +
        R"(
  br i1 %is_one, label %before, label %end
before:
  br label %loop
loop:
  %i = phi i32 [ 0, %before ], [ %next, %loop ]
  )" + branch.body +
        R"(
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %after
after:
  br label %end
end:
  %result = phi i32 [ 1, %0 ], [ 2, %after ]
  )" + branch.end +
        "\n}");
  const bool moved = move_lone_lanes(ir.function("metalloid.entry"), width);
  ir.expect_valid();
  EXPECT_EQ(moved, llvm::any_of(ir.module(), is_lone_lane));
  return moved;
}

TEST(LoneLanes, LoopsOfOneLaneAreFunctions) {
  EXPECT_TRUE(is_moved({}));
  EXPECT_TRUE(is_moved({.condition = "%here = icmp eq i32 %thread, %n\n %is_one = and i1 %here, true"}));
  EXPECT_TRUE(is_moved({.body = "%l = call i32 @metalloid.lane()\n store i32 %l, ptr %p"}));
  EXPECT_TRUE(is_moved({.body = "%x = atomicrmw add ptr %p, i32 1 monotonic"}));
  EXPECT_TRUE(is_moved({.end = "store i32 %result, ptr %p\n ret void"}));
}

TEST(LoneLanes, ThoseOfSeveralAreNot) {
  EXPECT_FALSE(is_moved({.condition = "%half = and i32 %lane, 15\n %is_one = icmp eq i32 %half, 7"}));
  EXPECT_FALSE(is_moved({.condition = "%is_one = icmp ne i32 %thread, 7"}));
  EXPECT_FALSE(is_moved({.condition = "%here = icmp eq i32 %thread, 7\n %is_one = or i1 %here, false"}));
  EXPECT_FALSE(is_moved({.condition = "%is_one = icmp eq i32 %first, 7"}));
  EXPECT_FALSE(is_moved({.condition = "%x = load i32, ptr %p\n %is_one = icmp eq i32 %thread, %x",
                         .end = "store i32 3, ptr %own\n ret void"}));
}

TEST(LoneLanes, NorThoseThatOthersNeedOrWaitFor) {
  EXPECT_FALSE(is_moved({.end = "store i32 3, ptr %own\n ret void"}));
  EXPECT_FALSE(is_moved({.body = "call void @metal.simdgroup_barrier()"}));
  EXPECT_FALSE(is_moved({.body = "%x = load volatile i32, ptr %p\n store i32 %x, ptr %own"}));
  EXPECT_FALSE(is_moved({.body = "%x = atomicrmw add ptr %p, i32 1 monotonic\n store i32 %x, ptr %own"}));
}

}  // namespace
}  // namespace metalloid::cpu::vector
