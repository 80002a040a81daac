// Branches that lanes disagree on: which become straight lines. That lanes get the same is compared by the kernels of
// flattened.metal.
#include "cpu/vector/flatten_branches.hpp"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "cpu/vector/shape_analysis.hpp"
#include "run_ir.hpp"

namespace metalloid::cpu::vector {
namespace {

// How many branches of two ways are left of a kernel of which this is the middle: it begins with each lane's number %x
// and stores %y, beside %x if there is something to join. %n is the same for all.
int branches_left(const std::string& middle, bool joins_stores = false) {
  Ir ir(R"(
declare i32 @metalloid.lane() readnone
declare i32 @llvm.ctpop.i32(i32)
define void @kernel(ptr %in, ptr %out, i32 %n) {
entry:
  %lane = call i32 @metalloid.lane()
  %from = getelementptr i32, ptr %in, i32 %lane
  %x = load i32, ptr %from
  %positive = icmp sgt i32 %x, %n
  %even = trunc i32 %x to i1
  %twice = shl nuw nsw i32 %lane, 1
  %to = getelementptr i32, ptr %out, i32 %twice
  %beside = getelementptr i8, ptr %to, i64 )" +
        std::string(joins_stores ? "4" : "400") + "\nstore i32 %x, ptr %beside\n" + middle + R"(
  store i32 %y, ptr %to
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 2000}
)");
  llvm::Function& kernel = ir.function("kernel");
  llvm::DominatorTree dominators(kernel);
  const llvm::PostDominatorTree post_dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  const ShapeAnalysis shapes(kernel, loops, post_dominators, 32);
  const auto count = [&] {
    return static_cast<int>(llvm::count_if(llvm::instructions(kernel), [](const llvm::Instruction& instruction) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
      return branch && branch->isConditional();
    }));
  };
  const int before = count();
  const bool has_changed = flatten_branches(kernel, loops, shapes);
  ir.expect_valid();
  EXPECT_EQ(has_changed, count() < before);
  return count();
}

std::string one_way(const std::string& way, const std::string& condition = "%positive", const std::string& hint = "") {
  return "br i1 " + condition + ", label %way, label %end" + hint + "\nway:\n" + way +
         "br label %end\nend:\n%y = phi i32 [ %x, %entry ], [ %z, %way ]\n";
}

std::string chain(unsigned length) {
  std::string text = "%z1 = mul i32 %x, %x\n";
  for (unsigned i = 2; i < length; ++i)
    text += "%z" + std::to_string(i) + " = xor i32 %z" + std::to_string(i - 1) + ", " + std::to_string(i) + "\n";
  return text + "%z = add i32 %z" + std::to_string(length - 1) + ", 1\n";
}

TEST(FlattenBranches, OneWayOrTwoAreStraight) {
  EXPECT_EQ(branches_left(one_way("%z = mul i32 %x, %x\n")), 0);
  EXPECT_EQ(branches_left("br i1 %positive, label %one, label %other\n"
                          "one:\n%z = mul i32 %x, %x\nbr label %end\n"
                          "other:\n%w = call i32 @llvm.ctpop.i32(i32 %x)\nbr label %end\n"
                          "end:\n%y = phi i32 [ %z, %one ], [ %w, %other ]\n"),
            0);
  EXPECT_EQ(branches_left("br i1 %positive, label %one, label %other\none:\nbr label %end\nother:\nbr label %end\n"
                          "end:\n%y = phi i32 [ %n, %one ], [ %x, %other ]\n"),
            0);
}

TEST(FlattenBranches, SoAreWaysWithinWays) {
  EXPECT_EQ(branches_left("br i1 %positive, label %second, label %end\n"
                          "second:\n%z = mul i32 %x, %x\nbr i1 %even, label %third, label %end\n"
                          "third:\n%w = add i32 %z, 7\nbr label %end\n"
                          "end:\n%y = phi i32 [ %x, %entry ], [ %z, %second ], [ %w, %third ]\n"),
            0);
  EXPECT_EQ(branches_left("br i1 %positive, label %one, label %other\n"
                          "one:\nbr i1 %even, label %inner, label %join\n"
                          "inner:\n%z = mul i32 %x, %x\nbr label %join\n"
                          "join:\n%w = phi i32 [ %x, %one ], [ %z, %inner ]\n%v = add i32 %w, 3\nbr label %end\n"
                          "other:\nbr label %end\n"
                          "end:\n%y = phi i32 [ %v, %join ], [ %n, %other ]\n"),
            0);
}

TEST(FlattenBranches, OneInALoopIsStraightAndTheLoopStays) {
  EXPECT_EQ(branches_left("br label %loop\n"
                          "loop:\n%s = phi i32 [ %x, %entry ], [ %t, %next ]\n%odd = trunc i32 %s to i1\n"
                          "br i1 %odd, label %way, label %next\n"
                          "way:\n%z = mul i32 %s, 3\nbr label %next\n"
                          "next:\n%w = phi i32 [ %s, %loop ], [ %z, %way ]\n%t = lshr i32 %w, 2\n"
                          "%more = icmp ne i32 %t, 0\nbr i1 %more, label %loop, label %end\n"
                          "end:\n%y = phi i32 [ %t, %next ]\n"),
            1);
}

TEST(FlattenBranches, WaysThatMayHarmOthersStay) {
  EXPECT_EQ(branches_left(one_way("%z = load i32, ptr %out\n")), 1);
  EXPECT_EQ(branches_left(one_way("store i32 1, ptr %out\n%z = add i32 %x, 1\n")), 1);
  EXPECT_EQ(branches_left(one_way("%z = udiv i32 %n, %x\n")), 1);
  EXPECT_EQ(branches_left(one_way("%z = udiv i32 %x, 3\n")), 0);
  EXPECT_EQ(branches_left(one_way("%z = call i32 @metalloid.lane()\n")), 1);
}

TEST(FlattenBranches, LongWaysAreStraightIfStoresAreJoinedAndTheyAreNotRare) {
  EXPECT_EQ(branches_left(one_way(chain(6))), 0);
  EXPECT_EQ(branches_left(one_way(chain(7))), 1);
  EXPECT_EQ(branches_left(one_way(chain(128)), true), 0);
  EXPECT_EQ(branches_left(one_way(chain(129)), true), 1);
  EXPECT_EQ(branches_left(one_way(chain(6), "%positive", ", !prof !0"), true), 0);
  EXPECT_EQ(branches_left(one_way(chain(7), "%positive", ", !prof !0"), true), 1);
}

TEST(FlattenBranches, WhatLanesAgreeOnOrIsALimitStays) {
  EXPECT_EQ(branches_left("%large = icmp ugt i32 %n, 100\n" + one_way("%z = mul i32 %x, %x\n", "%large")), 1);
  EXPECT_EQ(branches_left("%inside = icmp ult i32 %lane, %n\n" + one_way("%z = mul i32 %x, %x\n", "%inside")), 1);
}

}  // namespace
}  // namespace metalloid::cpu::vector
