// Simdgroup matrices in lane form: which products come side by side, and which tiles are asked for an iteration ahead.
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <string>

#include "cpu/vector/fetch_tiles.hpp"
#include "cpu/vector/join_products.hpp"
#include "run_ir.hpp"

namespace metalloid::cpu::vector {
namespace {

// Which products are made together, by the names of their results: "ab c".
std::string made_together(const std::string& body) {
  Ir ir(R"(
declare <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float>, <2 x float>, <2 x float>)
define void @kernel(<2 x float> %x, <2 x float> %y, <2 x float> %z, float %f, float %g, ptr %p) {
)" + body +
        "\n  ret void\n}");
  llvm::Function& kernel = ir.function("kernel");
  join_products(kernel);
  ir.expect_valid();
  std::string text;
  llvm::SmallPtrSet<llvm::CallInst*, 8> seen;
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || seen.contains(call)) continue;
    if (!text.empty()) text += ' ';
    for (llvm::CallInst* product : products_side_by_side(*call, 4)) {
      text += product->getName().str();
      seen.insert(product);
    }
  }
  return text;
}

std::string product(const std::string& name, const std::string& a, const std::string& b, const std::string& sum) {
  return "%" + name + " = call <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float> %" + a +
         ", <2 x float> %" + b + ", <2 x float> %" + sum + ")\n";
}

TEST(JoinProducts, FourThatDoNotDependOnEachOtherAreMadeTogether) {
  EXPECT_EQ(made_together(product("a", "x", "x", "z") + product("b", "x", "y", "z") + product("c", "y", "x", "z") +
                          product("d", "y", "y", "z") + product("e", "x", "z", "z")),
            "abcd e");
}

TEST(JoinProducts, WhatTheirOperandsArePutTogetherFromComesBeforeThem) {
  EXPECT_EQ(made_together(product("a", "x", "x", "z") + "%u = insertelement <2 x float> poison, float %f, i32 0\n" +
                          "%v = insertelement <2 x float> %u, float %g, i32 1\n" + product("b", "x", "y", "v") +
                          "%e = extractelement <2 x float> %a, i32 0\n store float %e, ptr %p"),
            "ab");
}

TEST(JoinProducts, OneThatNeedsAnotherIsMadeBehindIt) {
  EXPECT_EQ(made_together(product("a", "x", "x", "z") + product("b", "x", "y", "a") + product("c", "y", "x", "z")),
            "a bc");
  EXPECT_EQ(made_together(product("a", "x", "x", "z") + product("b", "x", "y", "z") + product("c", "a", "x", "z") +
                          product("d", "y", "b", "z")),
            "ab cd");
}

TEST(JoinProducts, OneWhoseOperandIsLoadedInBetweenStaysWhereItIs) {
  EXPECT_EQ(made_together(product("a", "x", "x", "z") + "store float %f, ptr %p\n %l = load <2 x float>, ptr %p\n" +
                          product("b", "x", "l", "z")),
            "a b");
}

// How many rows of tiles are asked for in a loop whose tiles are at `address`.
long rows_fetched(const std::string& address, const std::string& space = "device", const std::string& step = "8") {
  Ir ir(R"(
declare <2 x float> @metal.simdgroup_load.device.f32(ptr, i64, i1)
declare <2 x float> @metal.simdgroup_load.threadgroup.f32(ptr, i64, i1)
define void @kernel(ptr %matrix, ptr %out, i64 %length, i32 %n, i32 %step) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  )" + address +
        R"(
  %tile = call <2 x float> @metal.simdgroup_load.)" +
        space + R"(.f32(ptr %place, i64 %length, i1 false)
  %beside = getelementptr i8, ptr %place, i64 32
  %other = call <2 x float> @metal.simdgroup_load.)" +
        space + R"(.f32(ptr %beside, i64 %length, i1 false)
  store <2 x float> %tile, ptr %out
  store <2 x float> %other, ptr %out
  %next = add i32 %i, )" +
        step + R"(
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
})");
  fetch_tiles(ir.function("kernel"));
  ir.expect_valid();
  return llvm::count_if(llvm::instructions(ir.function("kernel")), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  });
}

const std::string row_by_row =
    "%row = mul i32 %i, %n\n %wide = zext i32 %row to i64\n"
    "%place = getelementptr float, ptr %matrix, i64 %wide";
const std::string column_by_column =
    "%wide = zext i32 %i to i64\n %place = getelementptr float, ptr %matrix, i64 %wide";

TEST(FetchTiles, TilesFurtherDownAreAskedForOnceALine) {
  EXPECT_EQ(rows_fetched(row_by_row), 8);
  EXPECT_EQ(rows_fetched(column_by_column, "device", "%step"), 8);
}

TEST(FetchTiles, WhatProcessorsForeseeIsNot) {
  EXPECT_EQ(rows_fetched(column_by_column), 0);
}

TEST(FetchTiles, NorIsWhatStaysWhereItIsOrDependsOnMemoryOrIsInThreadgroupMemory) {
  EXPECT_EQ(rows_fetched("%place = getelementptr float, ptr %matrix, i64 %length"), 0);
  EXPECT_EQ(rows_fetched("%row = load i64, ptr %out\n %far = mul i64 %row, %length\n"
                         "%place = getelementptr float, ptr %matrix, i64 %far"),
            0);
  EXPECT_EQ(rows_fetched(row_by_row, "threadgroup"), 0);
}

}  // namespace
}  // namespace metalloid::cpu::vector
