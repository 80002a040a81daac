// Indices are extended before the arithmetic that makes them: shapes do not rest on what is promised for some lanes
// only, and need no guards.
#include "cpu/vector/early_extensions.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "cpu/vector/shape_analysis.hpp"
#include "run_ir.hpp"

namespace metalloid::cpu::vector {
namespace {

constexpr unsigned width = 8;

// A function in lane form, after the pass.
class LaneForm {
 public:
  explicit LaneForm(const std::string& body)
      : ir_("declare i32 @metalloid.lane() readnone\n"
            "define void @f(ptr %p, i32 %n, i1 %b) {\nentry:\n  %lane = call i32 @metalloid.lane()\n" +
            body + "}\n"),
        function_(ir_.function("f")) {
    add_what_is_disjoint(function_);
    dominators_.recalculate(function_);
    post_dominators_.recalculate(function_);
    loops_.analyze(dominators_);
    shapes_.emplace(function_, loops_, post_dominators_, width);
    while (extend_early(function_, *shapes_)) shapes_->analyse_again();
    ir_.expect_valid();
  }

  // Of the only load's address.
  Shape address() const {
    for (const llvm::Instruction& instruction : llvm::instructions(function_))
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
        return shapes_->shape(load->getPointerOperand());
    return Shape::varying();
  }

  std::string text() { return ir_.text(); }

 private:
  Ir ir_;
  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  std::optional<ShapeAnalysis> shapes_;
};

void expect_consecutive(const std::string& body) {
  LaneForm code(body);
  const Shape shape = code.address();
  ASSERT_TRUE(shape.is_known()) << code.text();
  EXPECT_TRUE(shape.guards.empty()) << code.text();
  for (unsigned l = 0; l < width; ++l) EXPECT_EQ(shape.step(l), 4 * int64_t{l}) << code.text();
}

void expect_guard(const std::string& body) {
  LaneForm code(body);
  const Shape shape = code.address();
  EXPECT_TRUE(!shape.is_known() || !shape.guards.empty()) << code.text();
}

// What a branch guards has been done before it: lane 0 has no use for it.
std::string used_by_some_lanes(const std::string& arithmetic) {
  return "  %i = add nuw i32 %n, %lane\n" + arithmetic + R"(
  %c = icmp ugt i32 %lane, 4
  br i1 %c, label %then, label %end
then:
  %a = getelementptr i32, ptr %p, i64 %w
  %x = load i32, ptr %a
  store i32 %x, ptr %p
  br label %end
end:
  ret void
)";
}

TEST(EarlyExtensions, OfADifferenceThatLane0WrapsAroundIn) {
  expect_consecutive(used_by_some_lanes("  %d = sub nuw i32 %i, 5\n  %w = zext i32 %d to i64\n"));
}

TEST(EarlyExtensions, OfSignedSumsAndProducts) {
  expect_consecutive(
      used_by_some_lanes("  %s = add nsw i32 %n, %lane\n  %d = add nsw i32 %s, -7\n  %w = sext i32 %d to i64\n"));
  LaneForm code(
      used_by_some_lanes("  %m = mul nsw i32 %lane, %n\n  %s = add nsw i32 %m, %lane\n  %w = sext i32 %s to i64\n"));
  EXPECT_TRUE(code.address().factor) << code.text();
  EXPECT_TRUE(code.address().guards.empty()) << code.text();
}

TEST(EarlyExtensions, OfShiftsAndOfBitsThatAreDisjoint) {
  LaneForm code(
      used_by_some_lanes("  %s = shl nuw i32 %i, 2\n  %d = or disjoint i32 %s, 3\n  %w = zext i32 %d to i64\n"));
  EXPECT_TRUE(code.address().guards.empty()) << code.text();
  EXPECT_EQ(code.address().step(3), 48) << code.text();
}

TEST(EarlyExtensions, OfSignedNumbersThatAreNotNegativeWhereTheyAreUsed) {
  expect_consecutive(
      used_by_some_lanes("  %s = add nsw i32 %n, %lane\n  %d = add nsw i32 %s, -7\n  %w = zext nneg i32 %d to i64\n"));
}

TEST(EarlyExtensions, OfChoicesThatAllLanesMakeAlike) {
  expect_consecutive(used_by_some_lanes(
      "  %d = sub nuw i32 %i, 5\n  %s = select i1 %b, i32 %d, i32 %lane\n  %w = zext i32 %s to i64\n"));
}

TEST(EarlyExtensions, OfTwoSteps) {
  expect_consecutive(
      used_by_some_lanes("  %h = trunc i32 %n to i16\n  %l = trunc i32 %lane to i16\n  %t = add nuw i16 %h, %l\n"
                         "  %d = sub nuw i16 %t, 5\n  %z = zext i16 %d to i32\n  %e = add nsw i32 %z, %n\n"
                         "  %w = sext i32 %e to i64\n"));
}

TEST(EarlyExtensions, OfIndicesThatLoopsCountUp) {
  expect_consecutive(R"(
  br label %loop
loop:
  %j = phi i32 [ %lane, %entry ], [ %next, %loop ]
  %k = phi i32 [ 0, %entry ], [ %more, %loop ]
  %w = zext i32 %j to i64
  %a = getelementptr i32, ptr %p, i64 %w
  %x = load i32, ptr %a
  store i32 %x, ptr %p
  %next = add nuw i32 %j, 64
  %more = add i32 %k, 1
  %c = icmp ult i32 %more, %n
  br i1 %c, label %loop, label %end
end:
  ret void
)");
}

TEST(EarlyExtensions, NotOfArithmeticThatMayWrapAround) {
  expect_guard(used_by_some_lanes("  %d = sub i32 %lane, %n\n  %w = zext i32 %d to i64\n"));
  expect_guard(used_by_some_lanes("  %d = sub nsw i32 %i, 5\n  %w = zext i32 %d to i64\n"));
  expect_guard(used_by_some_lanes("  %d = sub nuw i32 %i, 5\n  %w = sext i32 %d to i64\n"));
}

// What is frozen is some value of 32 bits in lanes where the difference is not defined.
TEST(EarlyExtensions, NotOfWhatIsFrozen) {
  expect_guard(used_by_some_lanes("  %d = sub nuw i32 %i, 5\n  %f = freeze i32 %d\n  %w = zext i32 %f to i64\n"));
}

}  // namespace
}  // namespace metalloid::cpu::vector
