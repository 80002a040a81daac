// The passes over lane form: what they make of small functions, run on this machine.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

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
  resolve_function_pointers(ir.module(), visible);
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
  EXPECT_EQ(call(handle_of_visible_function(1), 21), 42);
  EXPECT_EQ(call_int(handle_of_visible_function(0), 21), 42);
  EXPECT_EQ(call_nth(0, 21), -21);
  EXPECT_EQ(call_nth(1, 21), 42);
  EXPECT_EQ(ir.find<int(int)>("recursion")(5), 7);
}

TEST(FunctionPointers, CallingWhatIsNoFunctionOfTheSignatureGivesZero) {
  Ir ir(function_pointers);
  llvm::Function* visible[] = {&ir.function("twice_of_int"), &ir.function("twice")};
  resolve_function_pointers(ir.module(), visible);
  auto* call = ir.find<float(uint64_t, float)>("call");
  for (const uint64_t handle : {uint64_t(0), handle_of_visible_function(0), uint64_t(1) << 40})
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

std::vector<char> numbered(size_t size) {
  std::vector<char> bytes(size);
  std::iota(bytes.begin(), bytes.end(), char(1));
  return bytes;
}

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

// bfloat.

float from_bfloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

// To the nearest of the two around it, found by trying; of two that are as near, the even one.
uint16_t to_bfloat(float value) {
  if (std::isnan(value)) return 0x7FC0;
  const uint16_t below = uint16_t(std::bit_cast<uint32_t>(value) >> 16), above = uint16_t(below + 1);
  if (std::isinf(value)) return below;
  const auto finite = [](uint16_t bits) {  // the infinite one counts as the next power of two
    const double sign = bits & 0x8000 ? -1 : 1;
    return (bits & 0x7FFF) == 0x7F80 ? sign * std::ldexp(1.0, 128) : double(from_bfloat(bits));
  };
  const double down = std::fabs(value - finite(below)), up = std::fabs(finite(above) - value);
  return down < up || (down == up && below % 2 == 0) ? below : above;
}

const std::vector<uint16_t> bfloats = {0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x3F80, 0xBF80,
                                       0x3F81, 0x3FC0, 0x4049, 0x4120, 0xC2C8, 0x4F00, 0x7F7F, 0xFF7F,
                                       0x7F80, 0xFF80, 0x7FC0, 0x3EAB, 0x0100, 0x3E80, 0x4780};

bool same(uint16_t a, uint16_t b) {
  return a == b || (std::isnan(from_bfloat(a)) && std::isnan(from_bfloat(b)));
}

// No instruction computes with scalar bfloats; they are there to be cast, passed and put into vectors.
void expect_lowered(Ir& ir) {
  for (llvm::Function& function : ir.module())
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::BitCastInst, llvm::ReturnInst, llvm::InsertElementInst, llvm::ExtractElementInst>(
              instruction))
        continue;
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && !call->getIntrinsicID()) continue;
      EXPECT_FALSE(instruction.getType()->isBFloatTy()) << ir.text();
      for (const llvm::Use& operand : instruction.operands())
        EXPECT_FALSE(operand->getType()->isBFloatTy()) << ir.text();
    }
}

using Binary = uint16_t(uint16_t, uint16_t);

// A function of %a and %b that gives %r, all bfloat, at `body`.
Ir lowered_bfloat(const std::string& body, const std::string& declarations = "") {
  Ir ir(declarations +
        "\ndefine i16 @f(i16 %x, i16 %y) {\n %a = bitcast i16 %x to bfloat\n %b = bitcast i16 %y to bfloat\n" + body +
        "\n %bits = bitcast bfloat %r to i16\n ret i16 %bits\n}");
  ir.run(LowerBfloat());
  expect_lowered(ir);
  return ir;
}

void check_bfloat(const std::string& body, float (*expected)(float, float), const std::string& declarations = "") {
  Ir ir = lowered_bfloat(body, declarations);
  auto* function = ir.find<Binary>("f");
  for (const uint16_t a : bfloats)
    for (const uint16_t b : bfloats) {
      const uint16_t right = to_bfloat(expected(from_bfloat(a), from_bfloat(b)));
      EXPECT_TRUE(same(function(a, b), right))
          << body << std::hex << ": " << a << ' ' << b << " gives " << function(a, b) << " and not " << right;
    }
}

TEST(Bfloat, ArithmeticIsThatOfFloatRoundedOnce) {
  check_bfloat("%r = fadd bfloat %a, %b", [](float a, float b) { return a + b; });
  check_bfloat("%r = fsub bfloat %a, %b", [](float a, float b) { return a - b; });
  check_bfloat("%r = fmul bfloat %a, %b", [](float a, float b) { return a * b; });
  check_bfloat("%r = fdiv bfloat %a, %b", [](float a, float b) { return a / b; });
  check_bfloat("%r = fneg bfloat %a", [](float a, float) { return -a; });
  check_bfloat("%r = fadd bfloat %a, 1.5", [](float a, float) { return a + 1.5f; });
  check_bfloat(
      "%r = call bfloat @llvm.fma.bf16(bfloat %a, bfloat %b, bfloat %a)",
      [](float a, float b) { return std::fma(a, b, a); }, "declare bfloat @llvm.fma.bf16(bfloat, bfloat, bfloat)");
}

TEST(Bfloat, FunctionsOfBitsAndOrderAreExact) {
  check_bfloat(
      "%r = call bfloat @llvm.fabs.bf16(bfloat %a)", [](float a, float) { return std::fabs(a); },
      "declare bfloat @llvm.fabs.bf16(bfloat)");
  check_bfloat(
      "%r = call bfloat @llvm.copysign.bf16(bfloat %a, bfloat %b)",
      [](float a, float b) { return std::copysign(a, b); }, "declare bfloat @llvm.copysign.bf16(bfloat, bfloat)");
  check_bfloat(
      "%r = call bfloat @llvm.minnum.bf16(bfloat %a, bfloat %b)",
      [](float a, float b) { return a == b ? a : std::fmin(a, b); },
      "declare bfloat @llvm.minnum.bf16(bfloat, bfloat)");
  check_bfloat("%c = fcmp olt bfloat %a, %b\n %r = select i1 %c, bfloat %a, bfloat 2.0",
               [](float a, float b) { return a < b ? a : 2.f; });
  check_bfloat(
      "%r = call bfloat @llvm.floor.bf16(bfloat %a)", [](float a, float) { return std::floor(a); },
      "declare bfloat @llvm.floor.bf16(bfloat)");
}

TEST(Bfloat, ConversionsRound) {
  Ir ir(
      "define i16 @from_float(float %x) { %b = fptrunc float %x to bfloat\n %r = bitcast bfloat %b to i16\n ret i16 %r "
      "}\n"
      "define float @to_float(i16 %x) { %b = bitcast i16 %x to bfloat\n %r = fpext bfloat %b to float\n ret float %r "
      "}\n"
      "define i16 @from_double(double %x) { %b = fptrunc double %x to bfloat\n %r = bitcast bfloat %b to i16\n ret i16 "
      "%r }\n"
      "define double @to_double(i16 %x) { %b = bitcast i16 %x to bfloat\n %r = fpext bfloat %b to double\n ret double "
      "%r }\n"
      "define i16 @from_int(i32 %x) { %b = sitofp i32 %x to bfloat\n %r = bitcast bfloat %b to i16\n ret i16 %r }\n"
      "define i32 @to_int(i16 %x) { %b = bitcast i16 %x to bfloat\n %r = fptosi bfloat %b to i32\n ret i32 %r }\n"
      "define half @to_half(i16 %x) { %b = bitcast i16 %x to bfloat\n %r = bitcast bfloat %b to half\n ret half %r "
      "}\n");
  ir.run(LowerBfloat());
  expect_lowered(ir);
  auto* from_float = ir.find<uint16_t(float)>("from_float");
  auto* to_float = ir.find<float(uint16_t)>("to_float");
  for (const uint16_t bits : bfloats) {
    EXPECT_EQ(std::bit_cast<uint32_t>(to_float(bits)), uint32_t(bits) << 16);
    for (const uint32_t lower : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      const float value = std::bit_cast<float>(uint32_t(bits) << 16 | lower);
      EXPECT_TRUE(same(from_float(value), to_bfloat(value))) << std::hex << bits << ' ' << lower;
    }
  }
  EXPECT_TRUE(std::isnan(from_bfloat(from_float(std::bit_cast<float>(0x7F800001u)))));
  EXPECT_TRUE(std::isnan(from_bfloat(from_float(std::bit_cast<float>(0xFFFFFFFFu)))));
  EXPECT_EQ(ir.find<uint16_t(double)>("from_double")(3.140625), 0x4049);
  EXPECT_EQ(ir.find<double(uint16_t)>("to_double")(0x4049), 3.140625);
  EXPECT_EQ(ir.find<uint16_t(int)>("from_int")(-259), to_bfloat(-259));
  EXPECT_EQ(ir.find<int(uint16_t)>("to_int")(0xC2C8), -100);
}

// The sum of n times x, with a bfloat in memory, in a loop's phi, and in a vector on its way through a call.
TEST(Bfloat, LoopsMemoryVectorsAndCallsCarryThem) {
  Ir ir(R"(
define <2 x bfloat> @swap(<2 x bfloat> %v) noinline { %w = shufflevector <2 x bfloat> %v, <2 x bfloat> poison, <2 x i32> <i32 1, i32 0>
  ret <2 x bfloat> %w }
define bfloat @pass(bfloat %x) noinline { %y = fadd bfloat %x, %x
  ret bfloat %y }
define void @f(ptr %x, ptr %out, i32 %n) {
entry:
  %start = load bfloat, ptr %x
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi bfloat [ 0.0, %entry ], [ %more, %loop ]
  %last = phi bfloat [ %start, %entry ], [ %sum, %loop ]
  %more = fadd bfloat %sum, %start
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %done, label %loop
done:
  %a = insertelement <2 x bfloat> poison, bfloat %more, i32 0
  %b = insertelement <2 x bfloat> %a, bfloat %last, i32 1
  %c = call <2 x bfloat> @swap(<2 x bfloat> %b)
  %d = fadd <2 x bfloat> %c, <bfloat 1.0, bfloat 0.0>
  %e = extractelement <2 x bfloat> %d, i32 0
  %g = extractelement <2 x bfloat> %d, i32 1
  store bfloat %e, ptr %out
  %p = getelementptr bfloat, ptr %out, i32 1
  store bfloat %g, ptr %p
  %h = call bfloat @pass(bfloat %g)
  %q = getelementptr bfloat, ptr %out, i32 2
  store bfloat %h, ptr %q
  ret void
})");
  ir.run(LowerBfloat());
  expect_lowered(ir);
  const uint16_t x = to_bfloat(1.5f);
  uint16_t out[3];
  ir.find<void(const uint16_t*, uint16_t*, int)>("f")(&x, out, 5);
  EXPECT_EQ(from_bfloat(out[0]), 4 * 1.5f - 1.5f + 1);
  EXPECT_EQ(from_bfloat(out[1]), 5 * 1.5f);
  EXPECT_EQ(from_bfloat(out[2]), 10 * 1.5f);
}

// Private arrays.

constexpr const char* lanes =
    "@which = global i32 0\n define i32 @metalloid.lane() noinline { %l = load i32, ptr @which\n ret i32 %l }\n";

// A function `void @f(ptr data, i32 phase, i32 index)` with one array, spread over lanes. The array is put where it
// outlives the function, so that lanes can come one after another and phases too.
class SpreadFunction {
 public:
  SpreadFunction(const std::string& body, unsigned width) : ir_(lanes + body), width_(width) {
    ir_.run(SpreadPrivateArrays(width));
    llvm::AllocaInst* array = nullptr;
    for (llvm::Instruction& instruction : llvm::instructions(ir_.function("f")))
      if (auto* found = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        EXPECT_FALSE(array) << ir_.text();
        array = found;
      }
    if (!array) throw std::runtime_error("no array is left");
    EXPECT_EQ(array->getAlign().value(), 64u);
    size_ = array->getAllocationSize(ir_.module().getDataLayout())->getFixedValue();
    auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(ir_.module().getContext()), size_ + 2 * margin);
    auto* place = new llvm::GlobalVariable(ir_.module(), bytes, false, llvm::GlobalValue::ExternalLinkage,
                                           llvm::Constant::getNullValue(bytes), "place");
    place->setAlignment(llvm::Align(64));
    array->replaceAllUsesWith(llvm::ConstantExpr::getGetElementPtr(
        llvm::Type::getInt8Ty(ir_.module().getContext()), place,
        llvm::ConstantInt::get(llvm::Type::getInt64Ty(ir_.module().getContext()), margin)));
    array->eraseFromParent();
    ir_.expect_valid();
    function_ = ir_.find<void(void*, int, int)>("f");
    which_ = ir_.find<int>("which");
    place_ = ir_.find<char>("place");
    std::memset(place_, 0x5A, size_ + 2 * margin);
  }
  ~SpreadFunction() {
    for (size_t i = 0; i < margin; ++i) {
      EXPECT_EQ(place_[i], 0x5A) << "before the array";
      EXPECT_EQ(place_[margin + size_ + i], 0x5A) << "behind the array";
    }
  }

  void run(unsigned lane, void* data, int phase, int index = 0) {
    *which_ = int(lane);
    function_(data, phase, index);
  }
  void run_all(void* data, int phase, int index = 0) {
    for (unsigned lane = 0; lane < width_; ++lane) run(lane, data, phase, index);
  }
  template <class T>
  T at(size_t place) const {
    T value;
    std::memcpy(&value, place_ + margin + place * sizeof(T), sizeof(T));
    return value;
  }

 private:
  static constexpr size_t margin = 256;
  Ir ir_;
  unsigned width_;
  uint64_t size_ = 0;
  void (*function_)(void*, int, int) = nullptr;
  int* which_ = nullptr;
  char* place_ = nullptr;
};

const unsigned widths[] = {1, 4, 32};

// In phase 0 the array is filled from data[lane * 8 …], in phase 1 it is written back.
std::string copying(const std::string& type, const std::string& extra_use = "", const std::string& declarations = "") {
  std::string text = declarations + R"(
define void @f(ptr %data, i32 %phase, i32 %index) {
  %a = alloca [8 x $T], align 8
  call void @llvm.lifetime.start.p0(ptr %a)
  $EXTRA
  %lane = call i32 @metalloid.lane()
  %first = mul i32 %lane, 8
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %end ]
  %walking = phi ptr [ %a, %0 ], [ %walked, %end ]
  %at = add i32 %first, %i
  %there = getelementptr $T, ptr %data, i32 %at
  %here = getelementptr [8 x $T], ptr %a, i32 0, i32 %i
  %is_first = icmp eq i32 %phase, 0
  br i1 %is_first, label %fill, label %empty
fill:
  %x = load $T, ptr %there
  store $T %x, ptr %here
  br label %end
empty:
  %y = load $T, ptr %walking
  store $T %y, ptr %there
  br label %end
end:
  %walked = getelementptr i8, ptr %walking, i64 $SIZE
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 8
  br i1 %more, label %loop, label %done
done:
  ret void
})";
  const std::pair<std::string, std::string> words[] = {{"$EXTRA", extra_use},
                                                       {"$SIZE", type == "i8"      ? "1"
                                                                 : type == "half"  ? "2"
                                                                 : type == "float" ? "4"
                                                                 : type == "i64"   ? "8"
                                                                                   : "16"},
                                                       {"$T", type}};
  for (const auto& [word, meaning] : words)
    for (size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), meaning);
  return text;
}

TEST(SpreadPrivateArrays, EachLaneKeepsItsElements) {
  for (const std::string type : {"i8", "half", "float", "i64", "<4 x float>"})
    for (const std::string extra :
         {"", "call void @keep(ptr %a)", "%p = getelementptr i8, ptr %a, i64 1\n store i16 0, ptr %p, align 1"})
      for (const unsigned width : widths) {
        SpreadFunction function(copying(type, extra, "define void @keep(ptr %p) noinline { ret void }"), width);
        std::vector<char> data = numbered(16 * 8 * 32), out(data.size());
        function.run_all(data.data(), 0);
        const size_t bytes = width * 8 *
                             (type == "i8"      ? 1
                              : type == "half"  ? 2
                              : type == "float" ? 4
                              : type == "i64"   ? 8
                                                : 16);
        if (extra.find("store") != std::string::npos) continue;  // which writes into what was filled
        function.run_all(out.data(), 1);
        EXPECT_TRUE(std::equal(out.begin(), out.begin() + long(bytes), data.begin()))
            << type << " width " << width << extra;
      }
}

TEST(SpreadPrivateArrays, TheSameElementOfAllLanesLiesTogether) {
  SpreadFunction function(copying("float"), 4);
  std::vector<float> data(32);
  std::iota(data.begin(), data.end(), 0.f);
  function.run_all(data.data(), 0);
  for (size_t lane = 0; lane < 4; ++lane)
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(function.at<float>(i * 4 + lane), data[lane * 8 + i]);
}

TEST(SpreadPrivateArrays, AnArrayWhosePointerIsPassedOnIsWholeInEachLane) {
  SpreadFunction function(
      copying("float", "call void @keep(ptr %a)", "define void @keep(ptr %p) noinline { ret void }"), 4);
  std::vector<float> data(32);
  std::iota(data.begin(), data.end(), 0.f);
  function.run_all(data.data(), 0);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(function.at<float>(i), data[i]);
}

// Phase 0 zeroes the array, 1 stores 7 at `index`, 2 loads from there; `pass_on` makes it whole in each lane.
std::string indexing(const std::string& pass_on) {
  return R"(define void @keep(ptr %p) noinline { ret void }
define void @f(ptr %data, i32 %phase, i32 %index) {
  %a = alloca [5 x i32], align 4
  )" + pass_on +
         R"(
  %wide = sext i32 %index to i64
  %p = getelementptr inbounds [5 x i32], ptr %a, i64 0, i64 %wide
  switch i32 %phase, label %none [ i32 0, label %zero i32 1, label %store i32 2, label %load i32 3, label %byte ]
none:
  ret void
zero:
  store i32 0, ptr %a
  %p1 = getelementptr i32, ptr %a, i64 1
  store <2 x i32> zeroinitializer, ptr %p1, align 4
  %p3 = getelementptr i32, ptr %a, i64 3
  store <2 x i32> zeroinitializer, ptr %p3, align 4
  ret void
store:
  store i32 7, ptr %p
  ret void
load:
  %x = load i32, ptr %p
  store i32 %x, ptr %data
  ret void
byte:
  %q = getelementptr i8, ptr %a, i64 %wide
  %b = load i8, ptr %q
  %y = zext i8 %b to i32
  store i32 %y, ptr %data
  ret void
})";
}

TEST(SpreadPrivateArrays, AccessesOutOfRangeAreHarmless) {
  for (const std::string pass_on : {"", "call void @keep(ptr %a)"})
    for (const unsigned width : widths)
      for (const int index :
           {0, 4, 5, 6, 100, -1, -5, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
        SpreadFunction function(indexing(pass_on), width);
        function.run_all(nullptr, 0);
        function.run(width / 2, nullptr, 1, index);
        const bool inside = index >= 0 && index < 5;
        for (unsigned lane = 0; lane < width; ++lane)
          for (int i = -1; i <= 5; ++i) {
            int found = -1;
            function.run(lane, &found, 2, i);
            EXPECT_EQ(found, inside && i == index && lane == width / 2 ? 7 : 0)
                << "index " << index << " lane " << lane;
            function.run(lane, &found, 3, i * 4);
            EXPECT_EQ(found, inside && i == index && lane == width / 2 ? 7 : 0) << "byte of index " << index;
          }
      }
}

TEST(SpreadPrivateArrays, AccessesInRangeAreNotChecked) {
  Ir ir(lanes + copying("float"));
  ir.run(SpreadPrivateArrays(8));
  for (llvm::Instruction& instruction : llvm::instructions(ir.function("f")))
    EXPECT_FALSE(llvm::isa<llvm::SelectInst>(instruction)) << ir.text();
}

// A pointer that may be to either of two arrays, and one that may be to two places of the same.
TEST(SpreadPrivateArrays, ChosenPointersGoWhereTheyDid) {
  const std::string body = R"(
define i32 @f(i32 %index, i1 %second) {
  %a = alloca [4 x i32]
  %b = alloca [4 x i32]
  %a0 = getelementptr i32, ptr %a, i32 %index
  %a1 = getelementptr i32, ptr %a, i32 3
  %b0 = getelementptr i32, ptr %b, i32 %index
  store <4 x i32> <i32 1, i32 2, i32 3, i32 4>, ptr %a, align 4
  store <4 x i32> <i32 5, i32 6, i32 7, i32 8>, ptr %b, align 4
  %same = select i1 %second, ptr %a1, ptr %a0
  %x = load i32, ptr %same
  %other = select i1 %second, ptr %b0, ptr %a0
  $USE
  %sum = add i32 %x, %y
  ret i32 %sum
})";
  for (const std::string use : {"%y = load i32, ptr %other", "%y = add i32 %index, 0"})
    for (const unsigned width : widths) {
      std::string text = body;
      text.replace(text.find("$USE"), 4, use);
      Ir ir(lanes + text), untouched(lanes + text);
      ir.run(SpreadPrivateArrays(width));
      auto* function = ir.find<int(int, bool)>("f");
      auto* expected = untouched.find<int(int, bool)>("f");
      int* which = ir.find<int>("which");
      for (unsigned lane = 0; lane < width; ++lane)
        for (const int index : {0, 1, 2, 3})
          for (const bool second : {false, true}) {
            *which = int(lane);
            EXPECT_EQ(function(index, second), expected(index, second)) << lane << ' ' << index << ' ' << second;
          }
    }
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

}  // namespace
}  // namespace metalloid::cpu::vector
