#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "sample_library.hpp"

namespace metalloid {
namespace {

TEST(Library, FindsFunctionsByNameAndSaysWhichItLacks) {
  const auto library = sample::rich_library();
  ASSERT_NE(library->find("softmax_float32"), nullptr);
  EXPECT_EQ(library->find("softmax_float32")->source_name, "softmax<float>");
  EXPECT_EQ(library->find("softmax"), nullptr);
  const auto code = library->code("softmax");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error(), "the library has no function named 'softmax'");
}

TEST(Library, ProducesOnlyTheCodeThatIsAskedFor) {
  const auto provider =
      std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("f", 1), sample::code("g", 2)});
  const Library library({sample::simple("f", 1), sample::simple("g", 2)}, {}, provider);
  EXPECT_NE(library.find("g"), nullptr);
  EXPECT_EQ(provider->calls, 0u);
  EXPECT_TRUE(library.code("g"));
  EXPECT_EQ(provider->calls, 1u);
  EXPECT_TRUE(library.serialise());
  EXPECT_EQ(provider->calls, 3u);
}

TEST(Library, ReadsOnlyTheFunctionThatIsAskedForAndOnlyOnce) {
  std::vector<size_t> reads(3);
  const Library library(
      {"f", "g", "h"},
      [&](size_t i) {
        ++reads[i];
        return sample::simple(std::string(1, static_cast<char>('f' + i)), 1);
      },
      {}, nullptr);
  const Function* first = library.find("g");
  EXPECT_EQ(first, library.find("g"));
  EXPECT_EQ(reads, (std::vector<size_t>{0, 1, 0}));
  EXPECT_EQ(&library.functions()[1], first);
  EXPECT_EQ(reads, (std::vector<size_t>{1, 1, 1}));
}

TEST(Library, ServesSeveralThreadsAtOnce) {
  const auto original = sample::rich_library();
  const auto library = *Library::from_bytes(sample::rich_file());
  std::atomic<size_t> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        for (std::string_view name : original->function_names()) {
          if (*library->find(name) != *original->find(name)) ++wrong;
          if (**library->code(name) != **original->code(name)) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Library, OutlivesWhatOpenedIt) {
  const Function* function = nullptr;
  std::shared_ptr<const Code> code;
  const auto library = *Library::from_bytes(sample::rich_file());
  function = library->find("copy");
  code = *library->code("copy");
  EXPECT_EQ(function->name, "copy");
  EXPECT_EQ(code->bitcode, std::vector<uint8_t>(100, 2));
}

TEST(Library, MergesLibrariesAndStaysLazy) {
  const auto provider = std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("other", 9)});
  const auto other = std::make_shared<Library>(
      std::vector<Function>{sample::simple("other", 1)},
      std::vector<FunctionConstant>{{"tile", 10, DataType::ushort2, true}, {"scale", 0, DataType::float1, true}},
      provider);
  const auto merged = merge({sample::rich_library(), other});
  ASSERT_TRUE(merged) << merged.error();
  EXPECT_EQ((*merged)->functions().size(), 5u);
  EXPECT_EQ(provider->calls, 0u);
  EXPECT_EQ((*(*merged)->code("other"))->bitcode[0], 9);
  EXPECT_EQ((*(*merged)->code("softmax_float32"))->static_threadgroup_memory, 4096u);
  EXPECT_EQ((*merged)->function_constants(), (std::vector<FunctionConstant>{{"masked", 0, DataType::bool1, true},
                                                                            {"scale", 0, DataType::float1, true},
                                                                            {"tile", 10, DataType::ushort2, true}}));
  const auto written = (*merged)->serialise();
  ASSERT_TRUE(written);
  EXPECT_EQ((*Library::from_bytes(*written))->functions(), (*merged)->functions());
}

TEST(Library, DoesNotMergeTwoFunctionsOfOneName) {
  const auto provider = std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("copy", 9)});
  const auto other = std::make_shared<Library>(std::vector<Function>{sample::simple("copy", 77)},
                                               std::vector<FunctionConstant>{}, provider);
  const auto merged = merge({sample::rich_library(), other});
  ASSERT_FALSE(merged);
  EXPECT_NE(merged.error().find("'copy' is defined twice, at kernels/simple.metal:3 and at kernels/simple.metal:77"),
            std::string::npos)
      << merged.error();
}

TEST(Library, MergingNothingGivesAnEmptyLibrary) {
  EXPECT_TRUE((*merge({}))->functions().empty());
}

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Times are printed, not judged: they belong to the machine.
TEST(Library, OpensTwoThousandKernelsAtOnce) {
  constexpr size_t count = 2000;
  std::mt19937 random(1);
  std::vector<uint8_t> module(17'000);
  for (uint8_t& byte : module) byte = static_cast<uint8_t>(random() % 64);
  std::vector<Function> functions;
  std::vector<Code> code;
  for (size_t i = 0; i < count; ++i) {
    Function function = sample::softmax();
    function.name = "affine_qmm_t_nax_bfloat16_gs_64_b_4_alN_true_batch_" + std::to_string(i);
    function.source_name = "affine_qmm_t_nax<bfloat16_t, 64, " + std::to_string(i) + ">";
    function.parameters[0].index = static_cast<uint32_t>(i % 300);
    functions.push_back(function);
    for (size_t change = 0; change < 300; ++change) module[random() % module.size()] = static_cast<uint8_t>(random());
    code.push_back({"_Z" + function.name, module, 0, {}, {}});
  }
  const Library library(functions, {}, std::make_shared<sample::GivenCode>(code));
  Result<std::vector<uint8_t>> file = Error{};
  const double writing = milliseconds([&] { file = library.serialise(); });
  ASSERT_TRUE(file);
  const auto path = std::filesystem::path(testing::TempDir()) / "two_thousand_kernels.metallib";
  ASSERT_TRUE((*Library::from_bytes(*file))->write(path));

  const std::string& wanted = functions[1234].name;
  std::shared_ptr<Library> opened;
  const double opening = milliseconds([&] { opened = *Library::open(path); });
  const double finding = milliseconds([&] { EXPECT_EQ(*opened->find(wanted), functions[1234]); });
  const double reading = milliseconds([&] { EXPECT_EQ((*opened->code(wanted))->bitcode, code[1234].bitcode); });
  const double all_functions = milliseconds([&] { EXPECT_EQ(opened->functions(), functions); });
  const double all_code = milliseconds([&] {
    for (std::string_view name : opened->function_names()) EXPECT_TRUE(opened->code(name));
  });
  std::printf(
      "2000 kernels, %.1f MB of bitcode in a file of %.1f MB: write %.0f ms, open %.2f ms, find one %.3f ms, "
      "its code %.2f ms; all functions %.1f ms, all code %.0f ms\n",
      count * 17e-3, file->size() * 1e-6, writing, opening, finding, reading, all_functions, all_code);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace metalloid
