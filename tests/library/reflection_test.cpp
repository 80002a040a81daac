#include <gtest/gtest.h>

#include <metalloid/reflection.hpp>

namespace metalloid {
namespace {

TEST(Reflection, DataTypesAreCalledAsMetalSourceCallsThem) {
  EXPECT_EQ(to_string(DataType::float1), "float");
  EXPECT_EQ(to_string(DataType::half4x3), "half4x3");
  EXPECT_EQ(to_string(DataType::ulong1), "ulong");
  EXPECT_EQ(to_string(DataType::bfloat4), "bfloat4");
  EXPECT_EQ(to_string(DataType::structure), "struct");
  EXPECT_EQ(to_string(DataType::visible_function_table), "visible_function_table");
  EXPECT_EQ(to_string(static_cast<DataType>(57)), "unknown");
  EXPECT_EQ(to_string(static_cast<DataType>(60000)), "unknown");
}

TEST(Reflection, DataTypesHaveTheValuesOfMTLDataType) {
  EXPECT_EQ(static_cast<int>(DataType::float4x4), 15);
  EXPECT_EQ(static_cast<int>(DataType::half4x4), 28);
  EXPECT_EQ(static_cast<int>(DataType::bool4), 56);
  EXPECT_EQ(static_cast<int>(DataType::ulong4), 88);
  EXPECT_EQ(static_cast<int>(DataType::bfloat4), 124);
}

TEST(Reflection, TexturesAreCalledAsMetalSourceCallsThem) {
  EXPECT_EQ(to_string(TextureType::texture_1d), "texture1d");
  EXPECT_EQ(to_string(TextureType::texture_2d_array), "texture2d_array");
  EXPECT_EQ(to_string(TextureType::texture_2d_multisample_array), "texture2d_ms_array");
  EXPECT_EQ(to_string(TextureType::texture_cube), "texturecube");
  EXPECT_EQ(to_string(TextureType::texture_buffer), "texture_buffer");
}

TEST(Reflection, GridValuesAreFoundByTheirAttribute) {
  for (int i = 1; i <= static_cast<int>(GridValue::grid_size); ++i) {
    const auto value = static_cast<GridValue>(i);
    EXPECT_FALSE(to_string(value).empty()) << i;
    EXPECT_EQ(grid_value_named(to_string(value)), value) << i;
  }
  EXPECT_EQ(to_string(GridValue::thread_position_in_grid), "thread_position_in_grid");
  EXPECT_EQ(grid_value_named("position"), GridValue::none);
  EXPECT_EQ(grid_value_named(""), GridValue::none);
}

TEST(Reflection, OtherValuesAreCalledByTheirOwnNames) {
  EXPECT_EQ(to_string(Access::read_write), "read_write");
  EXPECT_EQ(to_string(ParameterKind::threadgroup_memory), "threadgroup_memory");
  EXPECT_EQ(to_string(FunctionKind::visible), "visible");
}

}  // namespace
}  // namespace metalloid
