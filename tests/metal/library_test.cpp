#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <metalloid/compiler.hpp>

#include "metal_program.hpp"

namespace {

namespace fs = std::filesystem;

const std::string two_kernels = R"(
  kernel void first(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }
  kernel void second(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = VALUE; }
)";

class Library : public MetalProgram {
 protected:
  ~Library() override {
    unsetenv("METALLOID_DEFAULT_LIBRARY");
    fs::remove_all(folder);
  }

  NS::SharedPtr<MTL::CompileOptions> options_with_macro(const char* name, const NS::Object* value) {
    auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    options->setPreprocessorMacros(NS::Dictionary::dictionary(value, string(name)));
    return options;
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }

  // A library file, as `metalloid compile` makes it.
  void compile(const std::string& name) const {
    const auto result = metalloid::compile(
        "kernel void five(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 5 + i; }");
    ASSERT_TRUE(result.library);
    ASSERT_TRUE(result.library->write(path(name)));
  }

  void expect_five(const NS::SharedPtr<MTL::Library>& library, const NS::Error* error) {
    ASSERT_TRUE(library) << text(error);
    EXPECT_EQ(run<unsigned>(pipeline(function(library, "five")), 3), (std::vector{5u, 6u, 7u}));
  }

  // Waits for the handler of an asynchronous call.
  template <class Value>
  static Value wait(std::future<Value> future) {
    EXPECT_EQ(future.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    return future.get();
  }

  const fs::path folder = [] {
    std::string name = (fs::temp_directory_path() / "library_test.XXXXXX").string();
    return fs::path(mkdtemp(name.data()));
  }();
};

TEST_F(Library, FromSourceListsItsFunctions) {
  const auto library = this->library("kernel void b() {} kernel void a() {}");
  ASSERT_EQ(library->functionNames()->count(), 2u);
  EXPECT_EQ(text(library->functionNames()->object<NS::String>(0)), "b");
  EXPECT_EQ(text(library->functionNames()->object<NS::String>(1)), "a");
  EXPECT_EQ(library->device(), device.get());
  library->setLabel(string("mine"));
  EXPECT_EQ(text(library->label()), "mine");
}

TEST_F(Library, WithAnErrorInItsSourceIsNullAndTheErrorSaysWhere) {
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newLibrary(string("kernel void f() {\n  int x = undefined_name;\n}"), nullptr, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(text(error->domain()), "MTLLibraryErrorDomain");
  EXPECT_EQ(error->code(), NS::Integer(MTL::LibraryErrorCompileFailure));
  EXPECT_NE(text(error).find("program_source:2:11: error: "), std::string::npos) << text(error);
  EXPECT_NE(text(error).find("undefined_name"), std::string::npos) << text(error);
}

TEST_F(Library, WithAWarningComesWithAnErrorThatHoldsIt) {
  NS::Error* error = nullptr;
  const auto library =
      NS::TransferPtr(device->newLibrary(string("#warning look here\nkernel void f() {}"), nullptr, &error));
  ASSERT_TRUE(library);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::LibraryErrorCompileWarning));
  EXPECT_NE(text(error).find("program_source:1:2: warning: "), std::string::npos) << text(error);
}

TEST_F(Library, WithoutWarningsLeavesNoError) {
  NS::Error* error = reinterpret_cast<NS::Error*>(1);
  const auto library = NS::TransferPtr(device->newLibrary(string("kernel void f() {}"), nullptr, &error));
  EXPECT_TRUE(library);
  EXPECT_EQ(error, nullptr);
}

TEST_F(Library, TakesMacrosThatAreNumbersAndStrings) {
  NS::Error* error = nullptr;
  const auto number = options_with_macro("VALUE", NS::Number::number(3));
  EXPECT_TRUE(NS::TransferPtr(device->newLibrary(string(two_kernels), number.get(), &error))) << text(error);
  const auto expression = options_with_macro("VALUE", string("(2.0f * i)"));
  EXPECT_TRUE(NS::TransferPtr(device->newLibrary(string(two_kernels), expression.get(), &error))) << text(error);
  EXPECT_FALSE(NS::TransferPtr(device->newLibrary(string(two_kernels), nullptr, &error)));
}

TEST_F(Library, IsCompiledForTheLanguageVersionThatItsOptionsSay) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  NS::Error* error = nullptr;
  const auto version = [&](MTL::LanguageVersion version) {
    options->setLanguageVersion(version);
    const auto library = NS::TransferPtr(device->newLibrary(
        string("kernel void v(device int* out [[buffer(0)]]) { out[0] = __METAL_VERSION__; }"), options.get(), &error));
    EXPECT_TRUE(library) << text(error);
    return run<int>(pipeline(function(library, "v")), 1).at(0);
  };
  EXPECT_EQ(version(MTL::LanguageVersion2_4), 240);
  EXPECT_EQ(version(MTL::LanguageVersion3_1), 310);
  EXPECT_EQ(version(MTL::LanguageVersion4_0), 400);
}

TEST_F(Library, IsCompiledWithTheMathThatItsOptionsSay) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  NS::Error* error = nullptr;
  const auto keeps_nan = [&] {
    const auto library = NS::TransferPtr(device->newLibrary(
        string("#include <metal_stdlib>\n"
               "kernel void f(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
               "  float zero = out[i]; out[i] = metal::isnan(zero / zero) ? 1 : 0; }"),
        options.get(), &error));
    EXPECT_TRUE(library) << text(error);
    return run<float>(pipeline(function(library, "f")), 1).at(0) == 1;
  };
  options->setFastMathEnabled(false);
  EXPECT_TRUE(keeps_nan());
}

TEST_F(Library, IsMadeInTheBackground) {
  std::promise<std::pair<NS::UInteger, std::string>> good, bad;
  device->newLibrary(string("kernel void f() {}"), nullptr, [&](MTL::Library* library, NS::Error* error) {
    good.set_value({library->functionNames()->count(), text(error)});
  });
  device->newLibrary(string("kernel void f() { oops }"), nullptr, [&](MTL::Library* library, NS::Error* error) {
    bad.set_value({library->functionNames()->count(), text(error)});
  });
  EXPECT_EQ(wait(good.get_future()), std::pair(NS::UInteger(1), std::string("(no error)")));
  const auto failure = wait(bad.get_future());
  EXPECT_EQ(failure.first, 0u);
  EXPECT_NE(failure.second.find("oops"), std::string::npos) << failure.second;
}

TEST_F(Library, HasNoFunctionOfAnUnknownName) {
  const auto library = this->library("kernel void f() {}");
  EXPECT_EQ(library->newFunction(string("g")), nullptr);
  EXPECT_EQ(library->newFunction(static_cast<NS::String*>(nullptr)), nullptr);
  NS::Error* error = nullptr;
  const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  EXPECT_EQ(library->newFunction(string("g"), values.get(), &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::LibraryErrorFunctionNotFound));
  EXPECT_NE(text(error).find("'g'"), std::string::npos) << text(error);
}

TEST_F(Library, ComesFromAFileAURLAndData) {
  compile("five.metallib");
  NS::Error* error = nullptr;
  expect_five(NS::TransferPtr(device->newLibrary(string(path("five.metallib")), &error)), error);
  expect_five(NS::TransferPtr(device->newLibrary(NS::URL::fileURLWithPath(string(path("five.metallib"))), &error)),
              error);
  std::ifstream file(path("five.metallib"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  dispatch_data_t data = dispatch_data_create(bytes.data(), bytes.size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  expect_five(NS::TransferPtr(device->newLibrary(data, &error)), error);
  dispatch_release(data);
}

TEST_F(Library, ThatIsNotThereIsAnErrorThatNamesTheFile) {
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newLibrary(string(path("none.metallib")), &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::LibraryErrorFileNotFound));
  EXPECT_NE(text(error).find("none.metallib"), std::string::npos) << text(error);
}

TEST_F(Library, OfApplesCompilerIsAnErrorThatSaysSo) {
  write("apple.metallib", std::string("MTLB") + std::string(200, '\1'));
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newLibrary(string(path("apple.metallib")), &error), nullptr);
  EXPECT_NE(text(error).find("Apple"), std::string::npos) << text(error);
  error = nullptr;
  EXPECT_EQ(device->newLibrary(NS::URL::fileURLWithPath(string(path("apple.metallib"))), &error), nullptr);
  EXPECT_NE(text(error).find("Apple"), std::string::npos) << text(error);

  const std::string bytes = "MTLB and no more";
  dispatch_data_t data = dispatch_data_create(bytes.data(), bytes.size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  error = nullptr;
  EXPECT_EQ(device->newLibrary(data, &error), nullptr);
  EXPECT_NE(text(error).find("Apple"), std::string::npos) << text(error);
  dispatch_release(data);
}

TEST_F(Library, ThatIsTheDefaultOneIsFoundWhereTheEnvironmentSays) {
  compile("mine.metallib");
  setenv("METALLOID_DEFAULT_LIBRARY", path("mine.metallib").c_str(), 1);
  expect_five(NS::TransferPtr(device->newDefaultLibrary()), nullptr);
}

TEST_F(Library, ThatIsTheDefaultOneIsFoundInTheWorkingFolder) {
  EXPECT_EQ(device->newDefaultLibrary(), nullptr);
  compile("default.metallib");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const auto library = NS::TransferPtr(device->newDefaultLibrary());
  fs::current_path(before);
  expect_five(library, nullptr);
}

TEST_F(Library, ThatIsADamagedDefaultOneIsReported) {
  write("mine.metallib", "this is no library");
  setenv("METALLOID_DEFAULT_LIBRARY", path("mine.metallib").c_str(), 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(device->newDefaultLibrary(), nullptr);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("mine.metallib"), std::string::npos) << message;
}

TEST_F(Library, OfABundleIsLookedForThere) {
  NS::Error* error = nullptr;
  NS::Bundle* bundle = NS::Bundle::bundle(string(folder.string()));
  EXPECT_EQ(device->newDefaultLibrary(bundle, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(text(error).find(path("default.metallib")), std::string::npos) << text(error);
  compile("default.metallib");
  expect_five(NS::TransferPtr(device->newDefaultLibrary(bundle, &error)), error);
}

TEST_F(Library, OptionsAreCopiedWhole) {
  const auto options = options_with_macro("N", NS::Number::number(4));
  options->setLanguageVersion(MTL::LanguageVersion3_0);
  options->setOptimizationLevel(MTL::LibraryOptimizationLevelSize);
  options->setPreserveInvariance(true);
  options->setInstallName(string("@rpath/x"));
  const auto copy = NS::TransferPtr(options->copy());
  options->setLanguageVersion(MTL::LanguageVersion2_4);
  EXPECT_EQ(copy->languageVersion(), MTL::LanguageVersion3_0);
  EXPECT_EQ(copy->optimizationLevel(), MTL::LibraryOptimizationLevelSize);
  EXPECT_TRUE(copy->preserveInvariance());
  EXPECT_EQ(text(copy->installName()), "@rpath/x");
  EXPECT_EQ(copy->preprocessorMacros()->object<NS::Number>(string("N"))->intValue(), 4);
}

TEST_F(Library, OptionFastMathIsModeAndFunctionsAtOnce) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  EXPECT_TRUE(options->fastMathEnabled());
  EXPECT_EQ(options->mathMode(), MTL::MathModeFast);
  options->setFastMathEnabled(false);
  EXPECT_FALSE(options->fastMathEnabled());
  EXPECT_EQ(options->mathMode(), MTL::MathModeSafe);
  EXPECT_EQ(options->mathFloatingPointFunctions(), MTL::MathFloatingPointFunctionsPrecise);
  options->setMathMode(MTL::MathModeFast);
  EXPECT_TRUE(options->fastMathEnabled());
}

TEST_F(Library, OfADynamicKindIsRefusedWithAReason) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setLibraryType(MTL::LibraryTypeDynamic);
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newLibrary(string("float f() { return 1; }"), options.get(), &error), nullptr);
  EXPECT_NE(text(error).find("dynamic libraries"), std::string::npos) << text(error);
  EXPECT_FALSE(device->supportsDynamicLibraries());
}

TEST_F(Library, CompilesInManyThreadsAtOnce) {
  constexpr int threads = 4;
  std::vector<std::future<NS::UInteger>> counts;
  for (int i = 0; i < threads; ++i)
    counts.push_back(std::async(std::launch::async, [this, i] {
      const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      const auto library = this->library("kernel void f" + std::to_string(i) + "() {}");
      return library->functionNames()->count();
    }));
  for (auto& count : counts) EXPECT_EQ(count.get(), 1u);
}

}  // namespace
