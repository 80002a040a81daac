// Simdgroup matrices in lane form: which products come side by side, which tiles are asked for an iteration ahead, and
// which sums are rows.
#include <gtest/gtest.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <string>

#include "cpu/vector/fetch_tiles.hpp"
#include "cpu/vector/join_products.hpp"
#include "cpu/vector/matrix_rows.hpp"
#include "cpu/vector/shape_analysis.hpp"
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

// A loop that adds the products of one matrix and those of a list to as many sums, and stores the sums behind it.
struct LoopOfSums {
  std::vector<std::string> rights;
  std::string before_products;
  std::string behind_products;
  std::string behind_first = {};
};

std::string load(const std::string& name, const std::string& place) {
  return "%" + name + "_at = getelementptr i8, ptr %matrix, i64 " + place + "\n%" + name +
         " = call <2 x float> @metal.simdgroup_load.device.f32(ptr %" + name + "_at, i64 %length, i1 false)\n";
}

std::string text_of(const LoopOfSums& loop) {
  std::string phis, products, stores;
  for (size_t i = 0; i < loop.rights.size(); ++i) {
    const std::string n = std::to_string(i);
    for (const std::string element : {"x", "y"}) {
      phis += "%" + element + n + " = phi float [ 0.0, %entry ], [ %next_" + element + n + ", %loop ]\n";
      stores += "%out_" + element + n + " = getelementptr float, ptr %out, i64 " + n + "\n";
      stores += "store float %next_" + element + n + ", ptr %out_" + element + n + "\n";
    }
    products += "%half" + n + " = insertelement <2 x float> poison, float %x" + n + ", i32 0\n";
    products += "%sum" + n + " = insertelement <2 x float> %half" + n + ", float %y" + n + ", i32 1\n";
    products += product("product" + n, "left", loop.rights[i], "sum" + n);
    products += "%next_x" + n + " = extractelement <2 x float> %product" + n + ", i32 0\n";
    products += "%next_y" + n + " = extractelement <2 x float> %product" + n + ", i32 1\n";
    if (i == 0) products += loop.behind_first;
  }
  std::string text = R"(
declare <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float>, <2 x float>, <2 x float>) memory(none)
declare <2 x float> @metal.simdgroup_load.device.f32(ptr, i64, i1) memory(read)
declare i32 @metalloid.lane() readnone
define void @kernel(ptr %matrix, ptr %out, i64 %length, i32 %n) "target-features"="+avx512f" {
entry:
  %lane = call i32 @metalloid.lane()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
)";
  text += phis + load("left", "0") + load("a", "256") + load("b", "288") + load("c", "320") + load("d", "352");
  text += loop.before_products + products + loop.behind_products;
  text += "%next = add i32 %i, 1\n%more = icmp ult i32 %next, %n\nbr i1 %more, label %loop, label %end\nend:\n";
  return text + stores + "ret void\n}";
}

// What is left of the products, and which conversions to and from rows there are: "0 products, 4 to lanes, 0 to rows".
std::string summed(const LoopOfSums& loop) {
  Ir ir(text_of(loop));
  llvm::Function& kernel = ir.function("kernel");
  llvm::DominatorTree dominators(kernel);
  const llvm::PostDominatorTree post_dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  const ShapeAnalysis shapes(kernel, loops, post_dominators, 32);
  const bool has_changed = sum_in_rows(kernel, loops, shapes);
  ir.expect_valid();
  const auto calls = [&](llvm::StringRef name) {
    return llvm::count_if(llvm::instructions(kernel), [&](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      return call && call->getCalledFunction()->getName().starts_with(name);
    });
  };
  const auto products = calls("metal.simdgroup_multiply_accumulate.");
  EXPECT_EQ(has_changed, products < static_cast<long>(loop.rights.size()));
  return std::to_string(products) + " products, " + std::to_string(calls(matrix_name)) + " to lanes, " +
         std::to_string(calls(rows_name)) + " to rows";
}

TEST(SumInRows, SumsOfALoopAreGivenToLanesBehindIt) {
  EXPECT_EQ(summed({{"a", "b", "c", "d"}, "", ""}), "0 products, 4 to lanes, 0 to rows");
  EXPECT_EQ(summed({{"a", "b"}, "", ""}), "0 products, 2 to lanes, 0 to rows");
  EXPECT_EQ(summed({{"d", "a", "a", "b"}, "", ""}), "0 products, 4 to lanes, 0 to rows");
}

TEST(SumInRows, OneAloneIsNotWorthIt) {
  EXPECT_EQ(summed({{"a"}, "", ""}), "1 products, 0 to lanes, 0 to rows");
}

TEST(SumInRows, WhatWasLoadedMustStillBeThere) {
  EXPECT_EQ(summed({{"a", "b", "c", "d"}, "store i32 %i, ptr %out\n", ""}), "4 products, 0 to lanes, 0 to rows");
  EXPECT_EQ(summed({{"a", "b", "c", "d"}, "", "store i32 %i, ptr %out\n"}), "0 products, 4 to lanes, 0 to rows");
}

TEST(SumInRows, WhatIsNeededBeforeTheOthersIsMadeByItself) {
  EXPECT_EQ(
      summed({{"a", "b", "c", "d"}, "", "store float %more_x, ptr %out\n", "%more_x = fadd float %next_x0, 1.0\n"}),
      "2 products, 2 to lanes, 0 to rows");
}

TEST(SumInRows, FactorsThatLanesComputeAreNotInMemory) {
  const std::string computed = "%l = uitofp i32 %lane to float\n%f = insertelement <2 x float> %a, float %l, i32 0\n";
  EXPECT_EQ(summed({{"f", "b", "f", "c"}, computed, ""}), "4 products, 0 to lanes, 0 to rows");
  EXPECT_EQ(summed({{"f", "b", "c", "f"}, computed, ""}), "2 products, 2 to lanes, 0 to rows");
}

TEST(SumInRows, SumsThatLanesUseInEachIterationStayInLanes) {
  EXPECT_EQ(summed({{"a", "b", "c", "d"}, "", "store float %next_x2, ptr %out\n"}),
            "0 products, 5 to lanes, 0 to rows");
  EXPECT_EQ(summed({{"a", "b", "c", "d"}, "", "store float %next_x2, ptr %out\nstore float %next_y1, ptr %out\n"}),
            "4 products, 0 to lanes, 0 to rows");
}

}  // namespace
}  // namespace metalloid::cpu::vector
