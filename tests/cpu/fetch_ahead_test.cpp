// Fetching ahead: what is left of a group's code, and that kernels do what they did.
#include "cpu/vector/fetch_ahead.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "bitcode/analyses.hpp"
#include "run_ir.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

// A group of four lanes, %index and %table in device memory, %size in constant memory.
std::string group(const std::string& body) {
  return R"(
    declare void @metalloid.places(<4 x ptr>, i64)
    declare <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x float>)
    declare void @llvm.masked.scatter.v4f32.v4p0(<4 x float>, <4 x ptr>, i32, <4 x i1>)
    define void @group(ptr addrspace(1) %index, ptr %table, ptr addrspace(5) %size, ptr addrspace(1) %out) {
    )" + body +
         "\n ret void\n}";
}

constexpr const char* read_and_gather = R"(
  %i = load <4 x i32>, ptr addrspace(1) %index
  %wide = zext <4 x i32> %i to <4 x i64>
  %places = getelementptr float, ptr %table, <4 x i64> %wide
  call void @metalloid.places(<4 x ptr> %places, i64 16)
  %x = call <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr> %places, i32 4, <4 x i1> splat (i1 true), <4 x float> zeroinitializer)
)";
constexpr const char* store = "store <4 x float> %x, ptr addrspace(1) %out\n";

// If the number is above 3.
std::string gather_if(const std::string& number) {
  return "%n = " + number + R"(
    %is_there = icmp ugt i32 %n, 3
    br i1 %is_there, label %there, label %end
  there:)" +
         read_and_gather + store + "br label %end\nend:";
}

struct Ahead {
  explicit Ahead(const std::string& body) : ir(group(body)) {
    const auto simplify = [](llvm::Function& function) {
      llvm::PassBuilder builder;
      bitcode::Analyses analyses(builder);
      llvm::FunctionPassManager passes;
      llvm::cantFail(builder.parsePassPipeline(passes, "early-cse,adce,simplifycfg"));
      passes.run(function, analyses.functions);
    };
    code = vector::take_code_ahead(ir.function("group"), simplify);
    ir.expect_valid();
    for (llvm::Instruction& instruction : llvm::instructions(ir.function("group"))) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      EXPECT_FALSE(call && call->getCalledFunction()->getName() == "metalloid.places") << ir.text();
    }
  }

  template <class Kind>
  size_t count() {
    return code.fetch ? llvm::count_if(llvm::instructions(*code.fetch), llvm::IsaPred<Kind>) : 0;
  }
  size_t fetched() {
    size_t count = 0;
    for (llvm::Instruction& instruction : llvm::instructions(*code.fetch))
      if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
        count += call->getIntrinsicID() == llvm::Intrinsic::prefetch;
    return count;
  }

  Ir ir;
  vector::CodeAhead code;
};

TEST(FetchAhead, LeavesTheWayToTheAddresses) {
  Ahead ahead(read_and_gather + std::string(store));
  ASSERT_TRUE(ahead.code.fetch);
  EXPECT_EQ(ahead.code.arguments, llvm::SmallVector<uint64_t>{16});
  EXPECT_EQ(ahead.fetched(), 4u) << ahead.ir.text();
  EXPECT_EQ(ahead.count<llvm::LoadInst>(), 1u);
  EXPECT_EQ(ahead.count<llvm::StoreInst>(), 0u);
}

TEST(FetchAhead, FindsTheGathersAndScattersOfItsPlacesAndMakesThemOneByOne) {
  Ahead ahead(read_and_gather + std::string(R"(
    %next = getelementptr i8, <4 x ptr> %places, i64 4
    call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %x, <4 x ptr> %next, i32 4, <4 x i1> splat (i1 true))
    %some = fcmp ogt <4 x float> %x, zeroinitializer
    call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %x, <4 x ptr> %next, i32 4, <4 x i1> %some)
    %elsewhere = getelementptr i8, ptr %table, <4 x i64> %wide
    call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %x, <4 x ptr> %elsewhere, i32 4, <4 x i1> splat (i1 true))
  )"));
  ASSERT_TRUE(ahead.code.fetch);
  ASSERT_EQ(ahead.code.accesses.size(), 2u) << ahead.ir.text();
  for (llvm::IntrinsicInst* access : ahead.code.accesses) vector::access_one_by_one(*access);
  ahead.ir.expect_valid();
  llvm::SmallVector<const llvm::StoreInst*> stores;
  llvm::SmallVector<const llvm::LoadInst*> loads;
  for (const llvm::Instruction& instruction : llvm::instructions(ahead.ir.function("group"))) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) stores.push_back(store);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) loads.push_back(load);
  }
  ASSERT_EQ(loads.size(), 5u) << ahead.ir.text();
  ASSERT_EQ(stores.size(), 4u) << ahead.ir.text();
  for (uint64_t lane = 0; lane < 4; ++lane) {
    const auto* from = llvm::cast<llvm::ExtractElementInst>(loads[lane + 1]->getPointerOperand());
    const auto* to = llvm::cast<llvm::ExtractElementInst>(stores[lane]->getPointerOperand());
    EXPECT_EQ(llvm::cast<llvm::ConstantInt>(from->getIndexOperand())->getZExtValue(), lane);
    EXPECT_EQ(llvm::cast<llvm::ConstantInt>(to->getIndexOperand())->getZExtValue(), lane);
    EXPECT_EQ(loads[lane + 1]->getAlign(), llvm::Align(4));
    EXPECT_EQ(stores[lane]->getAlign(), llvm::Align(4));
  }
}

TEST(FetchAhead, LeavesOutPlacesThatWhatIsFetchedLeadsTo) {
  Ahead ahead(read_and_gather + std::string(R"(
    %again = fptoui <4 x float> %x to <4 x i64>
    %further = getelementptr float, ptr %table, <4 x i64> %again
    call void @metalloid.places(<4 x ptr> %further, i64 16)
    %y = call <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr> %further, i32 4, <4 x i1> splat (i1 true), <4 x float> zeroinitializer)
    store <4 x float> %y, ptr addrspace(1) %out
  )"));
  ASSERT_TRUE(ahead.code.fetch);
  EXPECT_EQ(ahead.fetched(), 4u) << ahead.ir.text();
}

TEST(FetchAhead, ReadsNothingThatMemoryDecidesOn) {
  Ahead branch(gather_if("load i32, ptr addrspace(1) %out"));
  EXPECT_FALSE(branch.code.fetch) << branch.ir.text();
  Ahead effect(gather_if("atomicrmw add ptr addrspace(1) %out, i32 1 monotonic"));
  EXPECT_FALSE(effect.code.fetch) << effect.ir.text();
  Ahead address(R"(
    %p = load ptr addrspace(1), ptr addrspace(1) %out
    %i = load <4 x i32>, ptr addrspace(1) %p
    %wide = zext <4 x i32> %i to <4 x i64>
    %places = getelementptr float, ptr %table, <4 x i64> %wide
    call void @metalloid.places(<4 x ptr> %places, i64 16)
  )");
  EXPECT_FALSE(address.code.fetch) << address.ir.text();
}

TEST(FetchAhead, FollowsBranchesThatDispatchesDecideOn) {
  Ahead ahead(gather_if("load i32, ptr addrspace(5) %size"));
  ASSERT_TRUE(ahead.code.fetch);
  EXPECT_EQ(ahead.fetched(), 4u) << ahead.ir.text();
}

TEST(FetchAhead, DoesNotMindBranchesBehind) {
  Ahead ahead(read_and_gather + std::string(R"(
    %first = extractelement <4 x float> %x, i32 0
    %is_positive = fcmp ogt float %first, 0.0
    br i1 %is_positive, label %there, label %end
  there:)") + store +
              "br label %end\nend:");
  ASSERT_TRUE(ahead.code.fetch);
  EXPECT_EQ(ahead.fetched(), 4u) << ahead.ir.text();
}

TEST(FetchAhead, AsksForEveryOtherStreamFurtherBehind) {
  Ir ir(group(R"(
    %a = load <16 x float>, ptr addrspace(1) %index
    %behind = getelementptr i8, ptr addrspace(1) %index, i64 64
    %b = load <16 x float>, ptr addrspace(1) %behind
    %c = load <16 x float>, ptr addrspace(1) %out
    %length = load <2 x i32>, ptr addrspace(5) %size
  )"));
  vector::fetch_streams(ir.function("group"));
  ir.expect_valid();
  std::vector<int64_t> distances;
  for (const llvm::Instruction& instruction : llvm::instructions(ir.function("group"))) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) continue;
    ASSERT_EQ(call->getIntrinsicID(), llvm::Intrinsic::prefetch);
    const auto* load = llvm::cast<llvm::LoadInst>(call->getNextNode());
    llvm::APInt asked(64, 0), read(64, 0);
    const llvm::DataLayout& layout = load->getDataLayout();
    const auto* array = call->getArgOperand(0)->stripAndAccumulateConstantOffsets(layout, asked, true);
    EXPECT_EQ(array, load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, read, true));
    distances.push_back((asked - read).getSExtValue());
  }
  EXPECT_EQ(distances, (std::vector<int64_t>{2048, 2048, 3072})) << ir.text();
}

// Numbers that end where memory does.
class NumbersAtTheEnd {
 public:
  explicit NumbersAtTheEnd(size_t count) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t pages = (count * sizeof(uint32_t) + page - 1) / page * page;
    size_ = pages + page;
    start_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(start_ + pages, page, PROT_NONE);
    numbers_ = reinterpret_cast<uint32_t*>(start_ + pages) - count;
  }
  ~NumbersAtTheEnd() { munmap(start_, size_); }
  NumbersAtTheEnd(const NumbersAtTheEnd&) = delete;

  uint32_t& operator[](size_t i) { return numbers_[i]; }
  uint32_t* begin() { return numbers_; }
  uint32_t* end() { return numbers_ + count_; }
  device::Argument argument() const { return {reinterpret_cast<uint64_t>(numbers_), count_ * sizeof(uint32_t)}; }

 private:
  size_t count_, size_;
  std::byte* start_;
  uint32_t* numbers_;
};

TEST(FetchAhead, GathersAndScattersReadNoIndexThatNoThreadReads) {
  const char* gather = R"(
    kernel void f(device uint* out, device const uint* index, device const uint* table, constant uint& n,
                  uint i [[thread_position_in_grid]]) {
      if (i < n) out[i] = table[index[i]];
    })";
  const char* scatter = R"(
    kernel void f(device uint* out, device const uint* index, device uint* table, constant uint& n,
                  uint i [[thread_position_in_grid]]) {
      if (i < n) table[index[i]] = out[i];
    })";
  constexpr size_t large = (32 << 20) / sizeof(uint32_t);
  std::mt19937 random(17);
  std::vector<uint32_t> places(large);
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random);
  for (const bool gathers : {true, false}) {
    Kernel kernel(gathers ? gather : scatter);
    ASSERT_TRUE(kernel.pipeline) << kernel.error;
    for (const uint32_t count : {1u, 31u, 256u, 511u, 4096u, 5000u, 100'000u, 262'144u})
      for (const uint32_t grid : {count, count + 1000}) {
        NumbersAtTheEnd out(count), index(count);
        std::vector<uint32_t> table(large, 5);
        std::copy_n(places.begin(), count, index.begin());
        for (uint32_t i = 0; i < count; ++i) (gathers ? table[index[i]] : out[i]) = i * 7;
        const std::string fault =
            kernel.run({{grid, 1, 1}, {256, 1, 1}, {out.argument(), index.argument(), buffer(table), bytes(count)}});
        ASSERT_EQ(fault, "") << count;
        for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(gathers ? out[i] : table[index[i]], i * 7) << count;
      }
  }
}

}  // namespace
}  // namespace metalloid::cpu
