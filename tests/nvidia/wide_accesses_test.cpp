// Accesses of neighbouring elements are joined where addresses allow it, and do the same at every address; loads are
// called constant only where the kernel and the launch say so.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "differ/run.hpp"
#include "emulated_simdgroup.hpp"
#include "nvidia/compile.hpp"

namespace metalloid::nvidia {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// A lane adds one to four floats of its own; there is nothing to tell how the buffers are aligned.
const std::string four_floats = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %from, ptr addrspace(1) %to) convergent {
  %lane = call i32 @metal.thread_index_in_simdgroup()
  %offset = shl i32 %lane, 4
  %p0 = getelementptr i8, ptr addrspace(1) %from, i32 %offset
  %p1 = getelementptr i8, ptr addrspace(1) %p0, i32 4
  %p2 = getelementptr i8, ptr addrspace(1) %p0, i32 8
  %p3 = getelementptr i8, ptr addrspace(1) %p0, i32 12
  %q0 = getelementptr i8, ptr addrspace(1) %to, i32 %offset
  %q1 = getelementptr i8, ptr addrspace(1) %q0, i32 4
  %q2 = getelementptr i8, ptr addrspace(1) %q0, i32 8
  %q3 = getelementptr i8, ptr addrspace(1) %q0, i32 12
  %a0 = load float, ptr addrspace(1) %p0, align 4
  %a1 = load float, ptr addrspace(1) %p1, align 4
  %a2 = load float, ptr addrspace(1) %p2, align 4
  %a3 = load float, ptr addrspace(1) %p3, align 4
  %b0 = fadd float %a0, 1.0
  %b1 = fadd float %a1, 2.0
  %b2 = fadd float %a2, 3.0
  %b3 = fadd float %a3, 4.0
  store float %b2, ptr addrspace(1) %q2, align 4
  store float %b0, ptr addrspace(1) %q0, align 4
  store float %b3, ptr addrspace(1) %q3, align 4
  store float %b1, ptr addrspace(1) %q1, align 4
  ret void
}
declare i32 @metal.thread_index_in_simdgroup()
)";

TEST(WideAccesses, TakeSixteenBytesAtOnceWhereAddressesAllow) {
  const std::string text = LoweredKernel(four_floats, {90}).ir();
  EXPECT_EQ(count(text, "load <4 x i32>, ptr addrspace(1)"), 1u) << text;
  EXPECT_EQ(count(text, "store <4 x i32>"), 1u) << text;
  EXPECT_EQ(count(text, "load float, ptr addrspace(1)"), 4u) << text;  // at other addresses
}

TEST(WideAccesses, GiveTheSameAtEveryAddressAndInPlace) {
  EmulatedSimdgroup code(LoweredKernel(four_floats, {90}));
  for (size_t from = 0; from < 4; ++from)
    for (size_t to = 0; to < 4; ++to)
      for (const bool is_in_place : {false, true}) {
        if (is_in_place && from != to) continue;
        alignas(16) std::array<float, 140> numbers, results;
        for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
        results = numbers;
        const std::array<float, 140> before = numbers;
        std::array<float, 140>& written = is_in_place ? numbers : results;
        code.run(~0u, ~0u, {numbers.data() + from, written.data() + to});
        for (size_t i = 0; i < 128; ++i)
          EXPECT_EQ(written[to + i], before[from + i] + static_cast<float>(i % 4 + 1)) << from << " " << to << " " << i;
        for (size_t i = 0; i < written.size(); ++i)
          if (i < to || i >= to + 128) {
            EXPECT_EQ(written[i], before[i]) << i;
          }
      }
}

// The second buffer may be the first, one element further on: what is stored there is read and overwritten in turn.
TEST(WideAccesses, KeepTheOrderOfWhatMayOverlap) {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i), bytes = std::to_string(4 * i);
    body += "  %p" + n + " = getelementptr i8, ptr addrspace(1) %x, i32 " + bytes + "\n  %q" + n +
            " = getelementptr i8, ptr addrspace(1) %y, i32 " + bytes + "\n  %v" + n +
            " = load float, ptr addrspace(1) %p" + n + ", align 4\n  %w" + n + " = fadd float %v" + n +
            ", 1.0\n  store float %w" + n + ", ptr addrspace(1) %q" + n +
            ", align 4\n  store float 0.5, ptr addrspace(1) %p" + n + ", align 4\n";
  }
  const std::string text =
      "define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {\n" + body + "  ret void\n}\n";
  EmulatedSimdgroup code(LoweredKernel(text, {90}));
  alignas(16) std::array<float, 8> numbers = {10, 20, 30, 40, 50, 60, 70, 80};
  auto expected = numbers;
  for (size_t i = 0; i < 4; ++i) {
    expected[i + 1] = expected[i] + 1;
    expected[i] = 0.5f;
  }
  code.run(1, 1, {numbers.data(), numbers.data() + 1});
  EXPECT_EQ(numbers, expected);
}

// Twelve bytes at a time are never aligned for long: testing costs more than it saves.
TEST(WideAccesses, LeaveThreeElementsAlone) {
  const std::string text = LoweredKernel(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %from, ptr addrspace(1) %to) {
  %p1 = getelementptr i8, ptr addrspace(1) %from, i32 4
  %p2 = getelementptr i8, ptr addrspace(1) %from, i32 8
  %a0 = load i32, ptr addrspace(1) %from, align 4
  %a1 = load i32, ptr addrspace(1) %p1, align 4
  %a2 = load i32, ptr addrspace(1) %p2, align 4
  %s = add i32 %a0, %a1
  %t = xor i32 %s, %a2
  store i32 %t, ptr addrspace(1) %to, align 4
  ret void
}
)",
                                         {90})
                               .ir();
  EXPECT_EQ(count(text, "br i1"), 0u) << text;
}

TEST(SmallCopies, StayInRegisters) {
  const std::string text = LoweredKernel(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %from, ptr addrspace(1) %to) {
  %part = alloca [24 x i8], align 8
  call void @llvm.memcpy.p0.p1.i64(ptr align 8 %part, ptr addrspace(1) align 8 %from, i64 24, i1 false)
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 8 %to, ptr align 8 %part, i64 24, i1 false)
  ret void
}
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p1.p0.i64(ptr addrspace(1), ptr, i64, i1)
)",
                                         {90})
                               .ir();
  EXPECT_EQ(count(text, "alloca"), 0u) << text;
  EXPECT_EQ(count(text, "llvm.memcpy"), 0u) << text;
}

CompiledKernel compiled(const std::string& source, bool are_buffers_apart) {
  auto library = differ::compile_source("#include <metal_stdlib>\nusing namespace metal;\n" + source);
  EXPECT_TRUE(library) << library.error();
  const Function& kernel = (*library)->functions().back();
  device::PipelineRequest request;
  request.kernel = {*library, kernel.name, {}};
  auto code = compile(request, device::argument_slots(kernel, {}), {90},
                      {.is_even = true, .are_buffers_apart = are_buffers_apart});
  EXPECT_TRUE(code) << code.error();
  return *code;
}

TEST(Buffers, ThatAreApartAreReadAsConstantsInWholeVectors) {
  const char* source =
      "kernel void k(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {\n"
      "  for (uint k = 0; k < 4; ++k) out[4 * i + k] = x[4 * i + k] + 1;\n}\n";
  const CompiledKernel apart = compiled(source, true), any = compiled(source, false);
  EXPECT_EQ(apart.writes_argument, (std::vector<bool>{false, true}));
  EXPECT_EQ(any.writes_argument, apart.writes_argument);
  EXPECT_EQ(count(apart.ptx, "ld.global.nc.v4"), 1u) << apart.ptx;
  EXPECT_EQ(count(apart.ptx, "st.global.v4"), 1u) << apart.ptx;
  EXPECT_EQ(count(any.ptx, ".nc"), 0u) << any.ptx;
  EXPECT_EQ(count(any.ptx, ".v4"), 0u) << any.ptx;  // each store may change what is loaded next
}

TEST(Buffers, ThatAreWrittenAreNotReadAsConstants) {
  const CompiledKernel code = compiled(
      "kernel void k(device float* x, device atomic_int* y, device int* z, uint i [[thread_position_in_grid]]) {\n"
      "  x[i] = x[i + 1] + atomic_load_explicit(y, memory_order_relaxed);\n  device int* p = i & 1 ? z : z + 7;\n"
      "  *p = 1;\n}\n",
      true);
  EXPECT_EQ(code.writes_argument, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(count(code.ptx, ".nc"), 0u) << code.ptx;
}

TEST(Buffers, MayAllBeWrittenThroughPointersFromMemory) {
  const CompiledKernel code = compiled(
      "struct Table { device float* to; };\n"
      "kernel void k(device const float* x, constant Table& table, uint i [[thread_position_in_grid]]) {\n"
      "  table.to[i] = 2;\n  table.to[i + 1] = x[i];\n}\n",
      true);
  EXPECT_TRUE(code.writes_argument[0]);
  EXPECT_EQ(count(code.ptx, "ld.global.nc.b32"), 0u) << code.ptx;
}

}  // namespace
}  // namespace metalloid::nvidia
