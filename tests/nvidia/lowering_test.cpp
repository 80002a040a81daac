// What the passes of lower/ make of builtins becomes PTX that LLVM's verifier and, where it is installed, NVIDIA's
// assembler take, for the oldest architecture there is code for, the first with all kinds of tensor cores that we use,
// and the newest. Where lanes are together is checked by what instructions wait for.
#include <gtest/gtest.h>

#include <sstream>

#include "assembler.hpp"
#include "lowered_kernel.hpp"

namespace metalloid::nvidia {
namespace {

constexpr const char* types[] = {"i8", "u16", "u32", "i64", "f16", "f32"};

std::string in_llvm(std::string type) {
  if (type == "f16") return "half";
  if (type == "f32") return "float";
  type[0] = 'i';
  return type;
}

// Calls of all group functions in one block, each on the result of the one before, if its type fits.
class CallsOfAll {
 public:
  CallsOfAll() {
    for (const std::string group : {"metal.simd_", "metal.quad_"}) {
      for (const std::string type : types) {
        for (const char* name : {"sum", "product", "min", "max", "prefix_inclusive_sum", "prefix_inclusive_product",
                                 "prefix_exclusive_sum", "prefix_exclusive_product", "broadcast_first"})
          add(group + name + "." + type, in_llvm(type), {in_llvm(type)});
        if (type[0] != 'f')
          for (const char* name : {"and", "or", "xor"}) add(group + name + "." + type, in_llvm(type), {in_llvm(type)});
        for (const char* name : {"broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down",
                                 "shuffle_rotate_up", "shuffle_rotate_down"})
          add(group + name + "." + type, in_llvm(type), {in_llvm(type), "i16"});
        for (const char* name : {"shuffle_and_fill_up", "shuffle_and_fill_down"})
          add(group + name + "." + type, in_llvm(type), {in_llvm(type), in_llvm(type), "i16", "i16"});
      }
      add(group + "ballot", "i64", {"i1"});
      add(group + "active_threads_mask", "i64", {});
      add(group + "all", "i1", {"i1"});
      add(group + "any", "i1", {"i1"});
      add(group + "is_first", "i1", {});
    }
  }

  const std::string& body() const { return body_; }
  const std::string& declarations() const { return declarations_; }

 private:
  void add(const std::string& symbol, const std::string& result, const std::vector<std::string>& parameters) {
    std::string operands, list;
    const std::string id = std::to_string(made_++);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string name = "%o" + id + "." + std::to_string(i);
      body_ += "  " + name + " = load volatile " + parameters[i] + ", ptr addrspace(1) %memory\n";
      operands += (i ? ", " : "") + parameters[i] + " " + name;
      list += (i ? ", " : "") + parameters[i];
    }
    body_ += "  %r" + id + " = call " + result + " @" + symbol + "(" + operands + ")\n";
    body_ += "  store volatile " + result + " %r" + id + ", ptr addrspace(1) %memory\n";
    declarations_ += "declare " + result + " @" + symbol + "(" + list + ") convergent nounwind\n";
  }

  std::string body_, declarations_;
  unsigned made_ = 0;
};

std::string together(const std::string& body) {
  return "define ptx_kernel void @kernel(ptr addrspace(1) %memory) convergent {\n" + body + "  ret void\n}\n";
}
std::string divergent(const std::string& body) {
  return "define ptx_kernel void @kernel(ptr addrspace(1) %memory) convergent {\n"
         "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %c = icmp ult i32 %tid, 7\n"
         "  br i1 %c, label %then, label %join\nthen:\n" +
         body +
         "  br label %join\njoin:\n  call void @metal.threadgroup_barrier(i32 2)\n  ret void\n}\n"
         "declare void @metal.threadgroup_barrier(i32) convergent\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
}

class Lowered : public testing::TestWithParam<uint32_t> {
 protected:
  std::string expect_ptx(const std::string& text) {
    const Architecture architecture{GetParam()};
    const std::string ptx = LoweredKernel(text, architecture).ptx();
    EXPECT_NE(ptx.find(".entry kernel"), ptx.npos) << ptx;
    EXPECT_EQ(ptx.find("metal"), ptx.npos) << "a builtin is left in " << ptx;
    if (assembler_) {
      EXPECT_EQ(problem_of(ptx, architecture.name(), *assembler_), "") << ptx;
    }
    return ptx;
  }
  void TearDown() override {
    if (!assembler_) GTEST_SKIP() << "there is no ptxas; install NVIDIA's CUDA toolkit to have PTX assembled";
  }

  const std::optional<std::string> assembler_ = find_assembler();
};

TEST_P(Lowered, EveryGroupFunctionIsTaken) {
  const CallsOfAll calls;
  expect_ptx(together(calls.body()) + calls.declarations());
  expect_ptx(divergent(calls.body()) + calls.declarations());
}

TEST_P(Lowered, EveryMatrixFunctionIsTaken) {
  const auto type = [](const std::string& name) { return name == "bf16" ? "bfloat" : in_llvm(name); };
  for (const std::string c : {"f16", "bf16", "f32"})
    for (const std::string a : {"f16", "bf16", "f32"})
      for (const std::string b : {"f16", "bf16", "f32"}) {
        std::string body, declarations;
        const auto load = [&](const std::string& result, const std::string& name, const std::string& space,
                              const std::string& pointer) {
          const std::string symbol = "@metal.simdgroup_load." + space + "." + name;
          body += "  " + result + " = call <2 x " + type(name) + "> " + symbol + "(" + pointer + ", i64 8, i1 false)\n";
          if (declarations.find(symbol + "(") == declarations.npos)
            declarations += "declare <2 x " + type(name) + "> " + symbol + "(" + pointer.substr(0, pointer.rfind(' ')) +
                            ", i64, i1) convergent memory(read)\n";
        };
        load("%a", a, "device", "ptr addrspace(1) %memory");
        load("%b", b, "threadgroup", "ptr addrspace(3) @shared");
        load("%c", c, "constant", "ptr %generic");
        const std::string vector_c = "<2 x " + type(c) + ">";
        const std::string product = "@metal.simdgroup_multiply_accumulate." + c + "." + a + "." + b;
        body += "  %d = call " + vector_c + " " + product + "(<2 x " + type(a) + "> %a, <2 x " + type(b) + "> %b, " +
                vector_c + " %c)\n";
        body += "  call void @metal.simdgroup_store.device." + c + "(" + vector_c +
                " %d, ptr addrspace(1) %memory, i64 8, i1 true)\n";
        declarations += "declare " + vector_c + " " + product + "(<2 x " + type(a) + ">, <2 x " + type(b) + ">, " +
                        vector_c + ") convergent memory(none)\ndeclare void @metal.simdgroup_store.device." + c + "(" +
                        vector_c + ", ptr addrspace(1), i64, i1) convergent\n" +
                        "@shared = internal addrspace(3) global [1024 x i8] undef, align 16\n";
        body = "  %generic = addrspacecast ptr addrspace(1) %memory to ptr\n" + body;
        const std::string ptx = expect_ptx(together(body) + declarations);
        const bool is_on_tensor_cores = GetParam() >= 80 || (a == "f16" && b == "f16");
        EXPECT_EQ(ptx.find("mma.sync") != ptx.npos, is_on_tensor_cores) << c << a << b;
      }
}

TEST_P(Lowered, BarriersAndFencesAreTaken) {
  std::string body = "  call void @metal.threadgroup_barrier(i32 3)\n  call void @metal.simdgroup_barrier(i32 2)\n";
  for (const int order : {0, 2, 3, 4, 5})
    for (const int scope : {0, 1, 2, 3, 4})
      body += "  call void @metal.atomic_thread_fence(i32 3, i32 " + std::to_string(order) + ", i32 " +
              std::to_string(scope) + ")\n  store volatile i32 1, ptr addrspace(1) %memory\n";
  const std::string ptx = expect_ptx(
      together(body + "  call void @metal.texture_fence(i64 0)\n") +
      "declare void @metal.threadgroup_barrier(i32) convergent\ndeclare void @metal.simdgroup_barrier(i32) convergent\n"
      "declare void @metal.atomic_thread_fence(i32, i32, i32)\ndeclare void @metal.texture_fence(i64)\n");
  EXPECT_EQ(count(ptx, "fence.acq_rel.cta"), 6u) << ptx;  // acquire, release, both: of threadgroup and SIMD-group
  EXPECT_EQ(count(ptx, "fence.acq_rel.gpu"), 3u) << ptx;
  EXPECT_EQ(count(ptx, "fence.acq_rel.sys"), 3u) << ptx;
  EXPECT_EQ(count(ptx, "fence.sc"), 4u) << ptx;
}

TEST_P(Lowered, FastMathIsTheHardwares) {
  std::string body, declarations;
  unsigned made = 0;
  const auto call = [&](const std::string& name, const std::string& operands, const std::string& types) {
    const std::string result = "%r" + std::to_string(made++);
    const std::string type = name.ends_with("f16") ? "half" : "float";
    body += "  " + result + " = call " + type + " @metal." + name + "(" + operands + ")\n  store volatile " + type +
            " " + result + ", ptr addrspace(1) %memory\n";
    if (declarations.find("@metal." + name + "(") == declarations.npos)
      declarations += "declare " + type + " @metal." + name + "(" + types + ") memory(none)\n";
  };
  body = "  %x = load volatile float, ptr addrspace(1) %memory\n  %h = load volatile half, ptr addrspace(1) %memory\n";
  for (const char* name : {"exp", "exp2", "exp10", "log", "log2", "log10", "rsqrt", "sqrt", "sin", "cos"})
    call(std::string("fast_") + name + ".f32", "float %x", "float");
  for (const char* name : {"exp", "exp2", "exp10", "log", "log2", "log10"})
    call(std::string(name) + ".f16", "half %h", "half");
  call("fast_divide.f32", "float %x, float %x", "float, float");
  call("fast_divide.f32", "float 1.0, float %x", "float, float");
  const std::string ptx = expect_ptx(together(body) + declarations);
  EXPECT_EQ(count(ptx, "ex2.approx.f32"), 6u) << ptx;
  EXPECT_EQ(count(ptx, "lg2.approx.f32"), 2u) << ptx;  // three logarithms share one
  for (const char* instruction : {"\trsqrt.approx.f32", "\tsqrt.approx.f32", "sin.approx.f32", "cos.approx.f32",
                                  "div.full.f32", "rcp.approx.f32"})
    EXPECT_EQ(count(ptx, instruction), 1u) << instruction << ptx;
  EXPECT_EQ(ptx.find("ftz"), ptx.npos) << ptx;
}

INSTANTIATE_TEST_SUITE_P(For, Lowered, testing::Values(75u, 80u, 90u),
                         [](const auto& info) { return "sm_" + std::to_string(info.param); });

// The number of calls that name fewer lanes than all, in a kernel of which this is the code.
size_t calls_apart(const std::string& body) {
  const std::string text =
      "define ptx_kernel void @kernel(ptr addrspace(1) %memory, i32 %n) convergent {\n"
      "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "  %shifted = lshr i32 %tid, 5\n"
      "  %group = call i32 @metalloid.same_in_simdgroup(i32 %shifted)\n" +
      body +
      "}\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "declare i32 @metalloid.same_in_simdgroup(i32) memory(none)\n"
      "declare i32 @metal.simd_sum.i32(i32) convergent\n";
  const std::string lowered = LoweredKernel(text, {80}).before_optimisation();
  const std::string call = "call i32 @metal.simd_sum.i32.of_lanes(";
  size_t apart = 0;
  for (size_t at = lowered.find(call); at != lowered.npos; at = lowered.find(call, at + 1))
    apart += !lowered.substr(at, lowered.find('\n', at) - at).ends_with(", i32 -1)");
  return apart;
}

TEST(Lanes, AreTogetherAfterAnIf) {
  EXPECT_EQ(calls_apart(R"(
  %c = icmp ult i32 %tid, 7
  br i1 %c, label %then, label %join
then:
  store i32 1, ptr addrspace(1) %memory
  br label %join
join:
  %s = call i32 @metal.simd_sum.i32(i32 1)
  ret void
)"),
            0u);
}

TEST(Lanes, AreApartWithinAnIf) {
  EXPECT_EQ(calls_apart(R"(
  %c = icmp ult i32 %tid, 7
  br i1 %c, label %then, label %join
then:
  %s = call i32 @metal.simd_sum.i32(i32 1)
  br label %join
join:
  %t = call i32 @metal.simd_sum.i32(i32 1)
  ret void
)"),
            1u);
}

TEST(Lanes, AreTogetherIfTheirSimdgroupDecides) {
  EXPECT_EQ(calls_apart(R"(
  %c = icmp eq i32 %group, 0
  br i1 %c, label %then, label %join
then:
  %s = call i32 @metal.simd_sum.i32(i32 1)
  %positive = icmp sgt i32 %s, 4
  br i1 %positive, label %inner, label %join
inner:
  %u = call i32 @metal.simd_sum.i32(i32 1)
  br label %join
join:
  %t = call i32 @metal.simd_sum.i32(i32 1)
  ret void
)"),
            0u);
}

TEST(Lanes, ThatReturnLeaveTheOthersTogether) {
  EXPECT_EQ(calls_apart(R"(
  %c = icmp ult i32 %tid, %n
  br i1 %c, label %inside, label %end
inside:
  %d = icmp ult i32 %tid, 3
  br i1 %d, label %some, label %join
some:
  %e = icmp ult i32 %tid, 2
  br i1 %e, label %end, label %join
join:
  %s = call i32 @metal.simd_sum.i32(i32 1)
  br label %end
end:
  ret void
)"),
            0u);
}

TEST(Lanes, AreApartInALoopOfDifferentLengths) {
  EXPECT_EQ(calls_apart(R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %s = call i32 @metal.simd_sum.i32(i32 %i)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %tid
  br i1 %more, label %loop, label %after
after:
  %t = call i32 @metal.simd_sum.i32(i32 1)
  ret void
)"),
            1u);
}

TEST(Lanes, AreTogetherInALoopThatAKernelsArgumentEnds) {
  EXPECT_EQ(calls_apart(R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %s = call i32 @metal.simd_sum.i32(i32 %i)
  %next = add i32 %i, 1
  %limit = load i32, ptr addrspace(1) %memory
  %more = icmp ult i32 %next, %limit
  br i1 %more, label %loop, label %after
after:
  ret void
)"),
            0u);
}

TEST(Barriers, AreAlignedWhereLanesAreTogether) {
  const std::string body = "  call void @metal.threadgroup_barrier(i32 2)\n";
  const std::string text = LoweredKernel(divergent(body), {80}).before_optimisation();
  EXPECT_EQ(count(text, "call void @llvm.nvvm.barrier.cta.sync.aligned.all"), 1u) << text;
  EXPECT_EQ(count(text, "call void @llvm.nvvm.barrier.cta.sync.all"), 1u) << text;
}

TEST(Barriers, OfASimdgroupThatOrderNothingAreNothing) {
  const std::string text = LoweredKernel(together("  call void @metal.simdgroup_barrier(i32 0)\n") +
                                             "declare void @metal.simdgroup_barrier(i32) convergent\n",
                                         {80})
                               .before_optimisation();
  EXPECT_EQ(text.find("bar.warp.sync"), text.npos) << text;
}

}  // namespace
}  // namespace metalloid::nvidia
