// Differences between engines are found: a second engine is played by the reference engine with other source.
#include "differ/compare.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace metalloid::differ {
namespace {

const std::vector<Engine> twin = {{"reference", 0}};

KernelCase only_case(const std::string& source) {
  auto cases = parse_cases("#include <metal_stdlib>\nusing namespace metal;\n" + source);
  EXPECT_TRUE(cases) << cases.error();
  return cases->front();
}

const std::string add = R"(
//@ buffer float random N
//@ buffer float zeros N
//@ grid 100 group 32
kernel void f(device const float* in, device float* out, uint i [[thread_position_in_grid]]) { out[i] = in[i] + 1; }
)";

// The first difference when `text` in the source of the other engine is `other`.
std::string difference(const std::string& source, const std::string& text, const std::string& other) {
  const auto found = differences(only_case(source), twin, [&](std::string changed) {
    const size_t at = changed.find(text);
    EXPECT_NE(at, std::string::npos);
    return changed.replace(at, text.size(), other);
  });
  EXPECT_TRUE(found) << found.error();
  return !found || found->empty() ? "" : found->front().what;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Compare, TheSameKernelDoesNotDiffer) {
  EXPECT_EQ(difference(add, "in[i] + 1", "1 + in[i]"), "");
}

TEST(Compare, AWrongResultIsNamed) {
  expect_part(difference(add, "in[i] + 1", "in[i] + (i == 70 ? 1.01f : 1.0f)"),
              "differs in 1 of 100 elements; first, [70]");
}

KernelCase case_of(StructuredArgument argument) {
  KernelCase kernel;
  kernel.kernel = "f";
  kernel.arguments.emplace_back(std::move(argument));
  kernel.tolerance = 0.01;
  return kernel;
}

TEST(Compare, FieldsOfStructsAreComparedAndWhatIsBetweenIsNot) {
  const KernelCase kernel = case_of({{{Element::f32, 0}, {Element::u8, 4}}, 8, {}});
  const auto remains = [](float number, uint8_t byte, uint8_t padding) {
    Remains result;
    result.memory.emplace_back(16);
    std::memcpy(&result.memory[0][8], &number, sizeof number);
    result.memory[0][12] = byte;
    result.memory[0][13] = padding;
    return result;
  };
  EXPECT_FALSE(difference_between(kernel, remains(1, 2, 3), remains(1.001f, 2, 4)));
  EXPECT_TRUE(difference_between(kernel, remains(1, 2, 3), remains(1.1f, 2, 3)));
  EXPECT_EQ(difference_between(kernel, remains(1, 2, 3), remains(1, 5, 3)),
            "argument 0 differs: byte 12 begins what is 0x5 and not 0x2");
}

TEST(Compare, BytesAreCloseIfTheyAreFloatsThatAre) {
  const KernelCase kernel = case_of({{{Element::u8, 0}}, 1, {}});
  const auto remains = [](uint32_t word) {
    Remains result;
    result.memory.emplace_back(4);
    std::memcpy(result.memory[0].data(), &word, sizeof word);
    return result;
  };
  EXPECT_FALSE(difference_between(kernel, remains(0x3f800000), remains(0x3f800001)));
  EXPECT_TRUE(difference_between(kernel, remains(0x40000000), remains(0x41000000)));
}

TEST(Compare, FloatsMayBeTheLastBitApart) {
  EXPECT_EQ(difference(add, "in[i] + 1", "(in[i] + 1) * 1.0000001f"), "");
}

TEST(Compare, IntegersMayNot) {
  const std::string source = R"(
//@ buffer uint random N
//@ grid 100 group 32
kernel void f(device uint* x, uint i [[thread_position_in_grid]]) { x[i] |= 1; }
)";
  expect_part(difference(source, "|= 1", "|= i == 3 ? 9 : 1"), "differs in 1 of");
}

TEST(Compare, ReadingOneElementTooManyIsAFault) {
  expect_part(difference(add, "in[i] + 1", "in[i] + (in[i + 1] < 9 ? 1 : 2)"), "fails");
  expect_part(difference(add, "in[i] + 1", "in[i] + (in[int(i) - 1] < 9 ? 1 : 2)"), "fails");
}

TEST(Compare, WritingBesideABufferIsSeen) {
  expect_part(difference(add, "out[i] =", "if (i == 0) out[-2] = 5; out[i] ="), "beside a buffer");
}

TEST(Compare, MessagesThatAreMissingAreSeen) {
  const std::string source = R"(
#include <metal_logging>
//@ buffer uint zeros N
//@ grid 20 group 8
kernel void f(device uint* x, uint i [[thread_position_in_grid]]) {
  if (i % 3 == 0) os_log_default.log("%u", i);
}
)";
  EXPECT_EQ(difference(source, "i % 3 == 0", "i % 3 < 1"), "");
  expect_part(difference(source, "i % 3 == 0", "i % 3 == 1"), "logs");
}

TEST(Compare, AKernelThatTheReferenceEngineCannotRunIsAnError) {
  const auto wrong_source = differences(only_case("//@ grid 1 group 1\nkernel void f() { oops; }\n"), twin);
  ASSERT_FALSE(wrong_source);
  expect_part(wrong_source.error(), "oops");
  const auto wrong_arguments =
      differences(only_case("//@ buffer int zeros 4\n//@ grid 1 group 1\nkernel void f() {}\n"), twin);
  ASSERT_FALSE(wrong_arguments);
  expect_part(wrong_arguments.error(), "takes 0 arguments");
}

TEST(Compare, AnotherDeviceIsComparedInItsOwnMemory) {
  const std::vector<Engine> device = {{"cpu", 0}};
  const auto right = differences(only_case(add), device);
  ASSERT_TRUE(right) << right.error();
  EXPECT_TRUE(right->empty()) << to_text(right->front());
  const auto beside = differences(only_case(add), device, [](std::string source) {
    return source.replace(source.find("out[i] ="), 8, "out[i] = out[i == 99 ? 100 : i] =");
  });
  ASSERT_TRUE(beside) << beside.error();
  ASSERT_EQ(beside->size(), 1u);
  EXPECT_EQ(to_text(beside->front()), "cpu, grid 100x1x1 group 32x1x1: writes beside a buffer");
}

TEST(Compare, ADeviceThatIsNotThereIsAnError) {
  const auto present = check_presence({"abacus", 0});
  ASSERT_FALSE(present);
  expect_part(present.error(), "abacus");
  EXPECT_TRUE(check_presence({"cpu", 0}));
}

TEST(Compare, GroupFunctionsNeedTheirLanes) {
  const auto library = compile_source(R"(
    #include <metal_stdlib>
    using namespace metal;
    kernel void alone(device uint* x, uint i [[thread_position_in_grid]]) { threadgroup_barrier(mem_flags::mem_none); x[i] = 1; }
    kernel void meeting(device uint* x, uint i [[thread_position_in_grid]]) { simdgroup_barrier(mem_flags::mem_none); x[i] = 1; }
    kernel void together(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = simd_sum(x[i]); }
    kernel void in_fours(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = quad_sum(x[i]); }
    kernel void matrix(device float* x) { simdgroup_float8x8 m; simdgroup_load(m, x); simdgroup_store(m, x); })");
  ASSERT_TRUE(library) << library.error();
  const auto needs = [&](const char* kernel, unsigned width) { return needs_wider_groups(**library, kernel, width); };
  EXPECT_FALSE(needs("alone", 1));
  EXPECT_TRUE(needs("meeting", 16) && !needs("meeting", 32));
  EXPECT_TRUE(needs("together", 16) && !needs("together", 32));
  EXPECT_TRUE(needs("in_fours", 1) && !needs("in_fours", 8));
  EXPECT_TRUE(needs("matrix", 16) && !needs("matrix", 32));
}

}  // namespace
}  // namespace metalloid::differ
