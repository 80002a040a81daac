// Arrays of lanes spread over one of all lanes: what the pass makes of small functions, run on this machine.
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

}  // namespace
}  // namespace metalloid::cpu::vector
