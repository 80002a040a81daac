// The inputs a kernel asks of its grid: every attribute, in every type that Metal allows for it.
#include "compile_source.hpp"

namespace metalloid {
namespace {

constexpr const char* positions[] = {
    "thread_position_in_grid",
    "thread_position_in_threadgroup",
    "threadgroup_position_in_grid",
    "threadgroups_per_grid",
    "threads_per_grid",
    "threads_per_threadgroup",
    "dispatch_threads_per_threadgroup",
};

constexpr const char* scalars[] = {
    "thread_index_in_threadgroup",
    "thread_index_in_simdgroup",
    "thread_index_in_quadgroup",
    "simdgroup_index_in_threadgroup",
    "simdgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup",
    "threads_per_simdgroup",
    "thread_execution_width",
    "quadgroup_index_in_threadgroup",
    "quadgroups_per_threadgroup",
    "dispatch_quadgroups_per_threadgroup",
};

// A kernel with one parameter for each attribute, all of one type, each of them used.
template <size_t N>
void expect_kernel(const char* const (&attributes)[N], const std::string& type, DataType data_type) {
  std::string parameters, sum;
  for (size_t i = 0; i < N; ++i) {
    const std::string name = "v" + std::to_string(i);
    parameters += ", " + type + " " + name + " [[" + attributes[i] + "]]";
    sum += " + uint(" + name + (type.back() == '2' || type.back() == '3' ? ".y)" : ")");
  }
  const Function f = function_of("\nkernel void f(device uint* out" + parameters + ") { out[0] = 0" + sum + "; }");
  ASSERT_EQ(f.parameters.size(), N + 1);
  for (size_t i = 0; i < N; ++i) {
    const Parameter& parameter = f.parameters[i + 1];
    EXPECT_EQ(parameter.kind, ParameterKind::grid_value) << attributes[i];
    EXPECT_EQ(to_string(parameter.grid_value), attributes[i]);
    EXPECT_EQ(parameter.type.data_type, data_type) << attributes[i];
  }
}

TEST(GridValues, OfPositionsAndSizesAreScalarsOrVectors) {
  expect_kernel(positions, "uint", DataType::uint1);
  expect_kernel(positions, "uint2", DataType::uint2);
  expect_kernel(positions, "uint3", DataType::uint3);
  expect_kernel(positions, "ushort", DataType::ushort1);
  expect_kernel(positions, "ushort2", DataType::ushort2);
  expect_kernel(positions, "ushort3", DataType::ushort3);
}

TEST(GridValues, OfIndicesAreScalars) {
  expect_kernel(scalars, "uint", DataType::uint1);
  expect_kernel(scalars, "ushort", DataType::ushort1);
}

TEST(GridValues, AreTakenThroughTypedefsConstAndSeveralAttributes) {
  const Function f = function_of(R"(
    using Position = uint3;
    typedef ushort Lane;
    #define LANE [[thread_index_in_simdgroup]]
    kernel void f(device uint* out, const Position p [[thread_position_in_grid]], Lane lane LANE,
                  const uint __attribute__((unused)) n [[threads_per_simdgroup]],
                  [[maybe_unused]] metal::uint2 t [[threads_per_threadgroup]], uint [[simdgroup_index_in_threadgroup]] sg,
                  [[thread_index_in_threadgroup]] uint index) {
      out[p.x] = lane + n + t.x + sg + index;
    })");
  const std::pair<GridValue, DataType> expected[] = {
      {GridValue::thread_position_in_grid, DataType::uint3},
      {GridValue::thread_index_in_simdgroup, DataType::ushort1},
      {GridValue::threads_per_simdgroup, DataType::uint1},
      {GridValue::threads_per_threadgroup, DataType::uint2},
      {GridValue::simdgroup_index_in_threadgroup, DataType::uint1},
      {GridValue::thread_index_in_threadgroup, DataType::uint1},
  };
  ASSERT_EQ(f.parameters.size(), 7u);
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(f.parameters[i + 1].grid_value, expected[i].first);
    EXPECT_EQ(f.parameters[i + 1].type.data_type, expected[i].second);
  }
}

TEST(GridValues, MayBeAskedForTwice) {
  const Function f = function_of(R"(
    kernel void f(device uint* out, uint2 a [[thread_position_in_grid]], uint b [[thread_position_in_grid]]) {
      out[b] = a.y;
    })");
  EXPECT_EQ(f.parameters.at(1).grid_value, f.parameters.at(2).grid_value);
}

}  // namespace
}  // namespace metalloid
