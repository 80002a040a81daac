// Which loops RequestUnrolling wants unrolled.
#include "cpu/vector/unrolling.hpp"

#include <fmt/format.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "run_ir.hpp"

namespace metalloid::cpu::vector {
namespace {

// A loop around a loop, with what the source says of each (`!0`, `!1`); the inner one's body has `statements` additions
// and calls `called`, that of the outer one has `others`.
std::string nest(unsigned outer, unsigned inner, unsigned statements, const std::string& outer_option,
                 const std::string& inner_option, const std::string& called = "", unsigned others = 0) {
  std::string body, behind;
  for (unsigned i = 0; i < others; ++i) behind += fmt::format("  %z{} = add i32 %i, {}\n", i, i);
  for (unsigned i = 0; i < statements; ++i)
    body += fmt::format("  %y{} = fadd float %{}, 1.0\n", i, i == 0 ? std::string("x") : fmt::format("y{}", i - 1));
  if (!called.empty()) body += fmt::format("  call void @{}()\n", called);
  return fmt::format(R"(
declare void @metal.simdgroup_multiply_accumulate()
declare void @something()
define float @nest(ptr addrspace(1) %p) {{
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %next_i, %end ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %next_j, %inner ]
  %x = load float, ptr addrspace(1) %p
{}  store float %y{}, ptr addrspace(1) %p
  %next_j = add nuw i32 %j, 1
  %again_j = icmp ult i32 %next_j, {}
  br i1 %again_j, label %inner, label %end, !llvm.loop !1
end:
{}  %next_i = add nuw i32 %i, 1
  %again_i = icmp ult i32 %next_i, {}
  br i1 %again_i, label %outer, label %exit, !llvm.loop !0
exit:
  ret float 0.0
}}
!0 = distinct !{{!0{}}}
!1 = distinct !{{!1{}}}
!2 = !{{!"llvm.loop.unroll.full"}}
!3 = !{{!"llvm.loop.unroll.disable"}}
!4 = !{{!"llvm.loop.unroll.count", i32 4}}
)",
                     body, statements - 1, inner, behind, outer, outer_option, inner_option);
}

constexpr const char *nothing = "", *full = ", !2", *disable = ", !3", *count_of_4 = ", !4";

struct Wanted {
  bool outer, inner;
  bool operator==(const Wanted&) const = default;
};

std::ostream& operator<<(std::ostream& stream, const Wanted& wanted) {
  return stream << "{outer " << wanted.outer << ", inner " << wanted.inner << "}";
}

bool is_wanted(const llvm::Loop& loop) {
  return llvm::hasUnrollTransformation(&loop) == llvm::TM_ForcedByUser;
}

Wanted wanted(const std::string& text) {
  Ir ir(text);
  ir.run(RequestUnrolling());
  llvm::DominatorTree dominators(ir.function("nest"));
  const llvm::LoopInfo loops(dominators);
  const llvm::Loop& outer = **loops.begin();
  return {is_wanted(outer), is_wanted(**outer.begin())};
}

TEST(Unrolling, ShortInnermostLoopsAreUnrolledUnasked) {
  EXPECT_EQ(wanted(nest(4, 8, 10, nothing, nothing)), (Wanted{false, true}));
  EXPECT_EQ(wanted(nest(4, 65, 10, nothing, nothing)), (Wanted{false, false}));
  EXPECT_EQ(wanted(nest(4, 60, 100, nothing, nothing)), (Wanted{false, false}));
}

TEST(Unrolling, LoopsThatTheSourceWantsUnrolledAre) {
  EXPECT_EQ(wanted(nest(4, 8, 10, full, full)), (Wanted{true, true}));
  EXPECT_EQ(wanted(nest(4, 20, 100, nothing, full)), (Wanted{false, true}));
}

TEST(Unrolling, TheOuterOfTwoLoopsStaysIfBothWouldBeTooMuch) {
  EXPECT_EQ(wanted(nest(16, 8, 100, full, full)), (Wanted{false, true}));
  EXPECT_EQ(wanted(nest(2, 1000, 100, full, full)), (Wanted{true, false}));
}

TEST(Unrolling, LessIsUnrolledOfWhatIsLongAnyway) {
  EXPECT_EQ(wanted(nest(4, 20, 100, nothing, full, "", 50'000)), (Wanted{false, true}));
  EXPECT_EQ(wanted(nest(4, 20, 100, nothing, full, "", 61'000)), (Wanted{false, false}));
  EXPECT_EQ(wanted(nest(4, 5, 100, nothing, full, "", 61'000)), (Wanted{false, true}));
}

TEST(Unrolling, MatricesCountForWhatTheyBecome) {
  EXPECT_EQ(wanted(nest(8, 8, 10, full, full, "something")), (Wanted{true, true}));
  EXPECT_EQ(wanted(nest(8, 8, 10, full, full, "metal.simdgroup_multiply_accumulate")), (Wanted{false, true}));
}

TEST(Unrolling, WhatTheSourceDoesNotWantUnrolledStays) {
  EXPECT_EQ(wanted(nest(4, 8, 10, disable, disable)), (Wanted{false, false}));
}

TEST(Unrolling, ANumberThatIsSmallerThanThatOfTheIterationsUnrollsNothing) {
  EXPECT_EQ(wanted(nest(4, 4, 10, nothing, count_of_4)), (Wanted{false, true}));
  EXPECT_EQ(wanted(nest(4, 8, 10, nothing, count_of_4)), (Wanted{false, false}));
}

}  // namespace
}  // namespace metalloid::cpu::vector
