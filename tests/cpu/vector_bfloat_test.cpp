// bfloat values as integers, computed as float: what the pass makes of small functions, run on this machine.
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

}  // namespace
}  // namespace metalloid::cpu::vector
