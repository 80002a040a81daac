#include "library/describe.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample_library.hpp"

namespace metalloid {
namespace {

TEST(Describe, TheTextShowsEachArgumentDownToStructMembers) {
  const auto text = describe_text(*sample::rich_library());
  ASSERT_TRUE(text) << text.error();
  EXPECT_EQ(text->substr(0, text->find("\n\n")),
            R"(kernel softmax_float32  kernels/softmax.metal:12:6
  in the source: softmax<float>
  argument        name         memory       type                   access      size  align  if
  buffer(0)       input        device       float                  read        4     4
  buffer(1)       output       device       float                  write       4     4
  buffer(2)       arguments    constant     Arguments              read        96    16
    +0              shape                   Shape                              8     4
      +0              rows                  uint                               4     4
      +4              columns               uint                               4     4
    +16             weights                 half4[3][2]                        48    8
    +64             list                    Node*                  read_write  8     8
      +0              value                 float                              4     4
      +8              next                  Node*                  read_write  8     8
    +72             image                   texture2d_array<half>  write       8     8
  buffer(5..8)    mask         device       bool                   read        1     1      masked
  threadgroup(0)  scratch      threadgroup  float                              4     4
  texture(0)      image                     texture2d<float>       read        8     8
  sampler(0)      nearest                   sampler                            8     8
  from the grid: uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]
  most threads per threadgroup: 256
  static threadgroup memory: 4096 bytes
  function constants: bool masked [[function_constant(0)]], ushort2 tile [[function_constant(10)]] (optional)
  code: 300 bytes of bitcode)");
  EXPECT_TRUE(
      text->ends_with("4 functions, 2 function constants: bool masked [[function_constant(0)]], "
                      "ushort2 tile [[function_constant(10)]] (optional)\n"))
      << *text;
}

TEST(Describe, ALargeLibraryIsALineForEachFunctionAndReadsNoCode) {
  const auto provider =
      std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("f", 1), sample::code("g", 2)});
  const Library library({sample::simple("f", 1), sample::simple("longer", 2)}, {}, provider);
  EXPECT_EQ(*describe_text(library, {.most_in_full = 1}),
            "function  kind    arguments  source\n"
            "f         kernel  1          kernels/simple.metal:1:1\n"
            "longer    kernel  1          kernels/simple.metal:2:1\n"
            "2 functions\n");
  EXPECT_EQ(provider->calls, 0u);
}

TEST(Describe, OneFunctionIsShownInFullOnRequest) {
  const auto library = sample::rich_library();
  const auto text = describe_text(*library, {.function = "copy", .most_in_full = 1});
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->starts_with("kernel copy")) << *text;
  EXPECT_NE(text->find("code: 100 bytes"), text->npos) << *text;
  EXPECT_EQ(text->find("softmax"), text->npos) << *text;
}

TEST(Describe, AMisspeltFunctionGetsASuggestion) {
  const auto library = sample::rich_library();
  EXPECT_EQ(describe_text(*library, {.function = "softmax_float23"}).error(),
            "the library has no function named 'softmax_float23'; did you mean 'softmax_float32'?");
  EXPECT_EQ(describe_json(*library, {.function = "matmul"}).error(), "the library has no function named 'matmul'");
}

TEST(Describe, TheJsonHasEveryField) {
  const auto library = sample::rich_library();
  const auto text = describe_json(*library);
  ASSERT_TRUE(text) << text.error();
  const auto json = nlohmann::json::parse(*text);
  ASSERT_EQ(json["functions"].size(), 4u);
  const auto& function = json["functions"][0];
  EXPECT_EQ(function["name"], "softmax_float32");
  EXPECT_EQ(function["source_name"], "softmax<float>");
  EXPECT_EQ(function["kind"], "kernel");
  EXPECT_EQ(function["location"], (nlohmann::json{{"file", "kernels/softmax.metal"}, {"line", 12}, {"column", 6}}));
  EXPECT_EQ(function["max_total_threads_per_threadgroup"], 256);
  EXPECT_EQ(function["static_threadgroup_memory"], 4096);
  EXPECT_EQ(function["code"], (nlohmann::json{{"entry", "_Z7softmaxIfEvv"}, {"size", 300}}));
  EXPECT_EQ(function["function_constants"][1],
            (nlohmann::json{{"index", 10}, {"name", "tile"}, {"type", "ushort2"}, {"required", false}}));
  EXPECT_EQ(json["function_constants"].size(), 2u);

  const auto& parameters = function["parameters"];
  ASSERT_EQ(parameters.size(), 9u);
  EXPECT_EQ(parameters[2]["address_space"], "constant");
  EXPECT_EQ(parameters[3]["array_length"], 4);
  EXPECT_EQ(parameters[3]["function_constant"], "masked");
  EXPECT_EQ(parameters[7]["grid_value"], "threadgroup_position_in_grid");
  const auto& members = parameters[2]["type"]["members"];
  EXPECT_EQ(members[1]["offset"], 16);
  EXPECT_EQ(members[1]["argument_index"], 3);
  EXPECT_EQ(members[1]["type"]["type"], "half4[3][2]");
  EXPECT_EQ(members[1]["type"]["element"]["array_length"], 2);
  EXPECT_EQ(members[2]["type"]["element"]["members"][1]["name"], "next");
  EXPECT_EQ(members[3]["type"]["texture_type"], "texture2d_array");
  EXPECT_TRUE(json["functions"][1]["max_total_threads_per_threadgroup"].is_null());
}

TEST(Describe, TheJsonOfAnEmptyLibraryIsJson) {
  const auto json = nlohmann::json::parse(*describe_json(Library(std::vector<Function>{}, {}, nullptr)));
  EXPECT_EQ(json,
            (nlohmann::json{{"functions", nlohmann::json::array()}, {"function_constants", nlohmann::json::array()}}));
}

TEST(Describe, CodeThatCannotBeHadIsDescribedByItsError) {
  const Library library({sample::simple("f", 1)}, {}, std::make_shared<sample::GivenCode>(std::vector<Code>(1)));
  EXPECT_NE(describe_text(library)->find("code: this function has no code"), std::string::npos);
  const auto json = nlohmann::json::parse(*describe_json(library));
  EXPECT_EQ(json["functions"][0]["code"]["error"], "this function has no code");
}

TEST(Describe, NamesCannotControlTheTerminalOrBreakTheJson) {
  Function function = sample::simple("evil\x1b[2J\xFF", 1);
  const Library library({function}, {}, std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("f", 1)}));
  EXPECT_NE(describe_text(library)->find("evil<U+001B>[2J<FF>"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(*describe_json(library))["functions"].size(), 1u);
}

}  // namespace
}  // namespace metalloid
