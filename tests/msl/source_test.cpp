// The source as a text: macros, versions, includes, what a string may reach, several threads, the cache.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "compile_source.hpp"

namespace metalloid {
namespace {

namespace fs = std::filesystem;

// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "metalloid_source_test.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }

  fs::path write(const fs::path& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A cache of our own, for this process only.
class PrivateCache : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_.emplace();
    setenv("METALLOID_CACHE_DIR", folder_->path().c_str(), 1);
  }
  void TearDown() override { folder_.reset(); }
  bool empty() const { return fs::is_empty(folder_->path()); }

 private:
  std::optional<Folder> folder_;
};
const auto* const cache = static_cast<PrivateCache*>(::testing::AddGlobalTestEnvironment(new PrivateCache));

TEST(Source, KnowsItIsMetalAndWhichVersion) {
  const char* source = R"(
    #if !defined(__METAL__) || !defined(__METAL_VERSION__) || !defined(__METAL_MACOS__)
    #error not Metal
    #endif
    static_assert(__METAL_VERSION__ == EXPECTED, "");
    kernel void f() {})";
  const std::pair<LanguageVersion, const char*> versions[] = {
      {{1, 2}, "120"}, {{2, 4}, "240"}, {{3, 0}, "300"}, {{3, 1}, "310"}, {{3, 2}, "320"}};
  for (const auto& [version, number] : versions) {
    CompileOptions options = without_cache();
    options.language = version;
    options.macros = {{"EXPECTED", number}};
    EXPECT_EQ(functions_of(source, options), "f") << number;
  }
  EXPECT_EQ(functions_of("\nstatic_assert(__METAL_VERSION__ == 320, \"\"); kernel void f() {}"), "f");
}

TEST(Source, KnowsItsMathMode) {
  const char* source = R"(
    #ifdef __FAST_MATH__
    static_assert(FAST, "");
    #else
    static_assert(!FAST, "");
    #endif
    kernel void f(device float* x) { x[0] = exp(x[1]); })";
  CompileOptions options = without_cache();
  options.macros = {{"FAST", "1"}};
  EXPECT_EQ(functions_of(source, options), "f");
  options.math_mode = MathMode::safe;
  options.macros = {{"FAST", "0"}};
  EXPECT_EQ(functions_of(source, options), "f");
}

TEST(Source, TakesMacrosFromTheOptions) {
  CompileOptions options = without_cache();
  options.macros = {{"N", "4"}, {"NAME", "scale"}, {"EMPTY", ""}, {"GONE", "1"}};
  options.undefined_macros = {"GONE"};
  EXPECT_EQ(functions_of(R"(
    #ifdef GONE
    #error GONE is here
    #endif
    EMPTY kernel void NAME(device float* x) { float a[N] = {}; x[0] = a[N - 1]; })",
                         options),
            "scale");
}

TEST(Source, HasTheStandardLibraryWithOrWithoutAnInclude) {
  for (const char* include : {"", "#include <metal_stdlib>\n", "#import <metal_stdlib>\n", "#include <metal_math>\n",
                              "#include <metal_stdlib>\n#include <metal_stdlib>\n#include <simd/simd.h>\n"}) {
    const CompileResult result =
        compile(std::string(include) + "kernel void f(device float4* x) { x[0] = metal::sin(x[1]); }", without_cache());
    EXPECT_TRUE(result.library) << format(result.diagnostics);
  }
}

TEST(Source, CallsItselfWhatTheOptionsSay) {
  CompileOptions options = without_cache();
  options.source_name = "attention.metal";
  const CompileResult result = compile("foo x;", options);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].file, "attention.metal");
  EXPECT_EQ(function_of("\nkernel void f() {}", options).location.file, "attention.metal");
}

TEST(Source, OfAnyLineEndsAndBytesIsTaken) {
  EXPECT_EQ(functions_of("\r\nkernel void f()\r\n{\r\n}\r\n"), "f");
  EXPECT_EQ(functions_of("\n// \xc3\xa9\xe6\xbc\xa2 and \xff\xfe\nkernel void f() {}"), "f");
  EXPECT_TRUE(compile("", without_cache()).library) << "an empty source is an empty library";
  EXPECT_TRUE(compile("\xef\xbb\xbfkernel void f() {}", without_cache()).library) << "a byte order mark";
}

TEST(Source, WithAZeroByteInItIsHandled) {
  const std::string source("kernel void f() {}\n\0\nkernel void g() {}", 39);
  const CompileResult result = compile(source, without_cache());
  EXPECT_TRUE(result.library || has_errors(result.diagnostics));
}

TEST(Source, FromAStringIncludesNothingFromTheFileSystem) {
  const Folder folder;
  const fs::path header = folder.write("secret.h", "constant int secret = 42;\n");
  for (const std::string& name : {header.string(), "../" + header.filename().string(), std::string("/etc/passwd"),
                                  std::string("/dev/zero"), std::string("secret.h"), std::string(".")}) {
    const CompileResult result = compile_source("\n#include \"" + name + "\"\nkernel void f() {}");
    EXPECT_FALSE(result.library) << name;
    EXPECT_EQ(errors_in(result.diagnostics), "'" + name + "' file not found\n");
    EXPECT_TRUE(result.included_files.empty());
  }
  EXPECT_FALSE(
      compile_source("\n#if __has_include(\"" + header.string() + "\")\n#error seen\n#endif\n").diagnostics.size());
}

TEST(Source, FromAStringIncludesWhatLiesInItsFolders) {
  const Folder folder;
  folder.write("inside/a.h", "#pragma once\n#include \"deep/b.h\"\nfloat a(float x) { return b(x) + 1; }\n");
  folder.write("inside/deep/b.h", "#pragma once\ninline float b(float x) { return x * 2; }\n");
  const fs::path outside = folder.write("outside.h", "constant int x = 1;\n");
  CompileOptions options = without_cache();
  options.include_directories = {folder.path() / "inside"};
  const CompileResult result = compile_source(
      "\n#include \"a.h\"\n#include <deep/b.h>\nkernel void f(device float* x) { x[0] = a(x[1]); }", options);
  ASSERT_TRUE(result.library) << format(result.diagnostics);
  ASSERT_EQ(result.included_files.size(), 2u);
  EXPECT_EQ(result.included_files[0].filename(), "a.h");
  for (const std::string& escape : {std::string("../outside.h"), outside.string(), std::string("deep/../../outside.h")})
    EXPECT_FALSE(compile_source("\n#include \"" + escape + "\"\nkernel void f() {}", options).library) << escape;
}

TEST(Source, FromAStringDoesNotEscapeItsFoldersThroughLinks) {
  const Folder folder;
  folder.write("outside.h", "constant int x = 1;\n");
  folder.write("inside/a.h", "");
  fs::create_symlink(folder.path() / "outside.h", folder.path() / "inside" / "link.h");
  CompileOptions options = without_cache();
  options.include_directories = {folder.path() / "inside"};
  EXPECT_FALSE(compile_source("\n#include \"link.h\"\nkernel void f() {}", options).library);
}

TEST(Source, FromAFileIncludesWhatLiesBesideIt) {
  const Folder folder;
  folder.write("kernels/shared.h", "float twice(float x) { return x * 2; }\n");
  const fs::path file = folder.write("kernels/a.metal",
                                     "#include \"shared.h\"\nkernel void f(device float* x) { x[0] = twice(x[1]); }\n");
  const CompileResult result = compile_file(file, without_cache());
  ASSERT_TRUE(result.library) << format(result.diagnostics);
  EXPECT_EQ(result.included_files, std::vector<fs::path>{folder.path() / "kernels" / "shared.h"});
  EXPECT_EQ(result.library->find("f")->location.file, file.string());
}

TEST(Source, NamesTheHeaderInWhichAnErrorIs) {
  const Folder folder;
  const fs::path header = folder.write("broken.h", "\nfloat f(float x) { return y; }\n");
  CompileOptions options = without_cache();
  options.include_directories = {folder.path()};
  const CompileResult result = compile_source("\n#include \"broken.h\"\nkernel void g() {}", options);
  ASSERT_EQ(result.diagnostics.size(), 1u) << format(result.diagnostics);
  EXPECT_EQ(result.diagnostics[0].file, header.string());
  EXPECT_EQ(result.diagnostics[0].line, 2u);
  EXPECT_EQ(result.diagnostics[0].source_line, "float f(float x) { return y; }");
}

TEST(Source, ThatCannotBeReadIsAnErrorThatSaysSo) {
  const CompileResult missing = compile_file("/nowhere/at/all.metal", without_cache());
  EXPECT_EQ(errors_in(missing.diagnostics), "cannot read '/nowhere/at/all.metal': No such file or directory\n");
  const Folder folder;
  EXPECT_EQ(errors_in(compile_file(folder.path(), without_cache()).diagnostics),
            "cannot read '" + folder.path().string() + "': it is a folder\n");
}

TEST(Source, IsCompiledOnSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> names(6);
  for (size_t i = 0; i < names.size(); ++i)
    threads.emplace_back([i, &names] {
      const std::string name = "kernel_" + std::to_string(i);
      const CompileResult result = compile_source("\ntemplate <int N> int g() { return N; }\nkernel void " + name +
                                                  "(device int* x) { x[0] = g<" + std::to_string(i) + ">(); }");
      if (result.library && result.library->code(name)) names[i] = result.library->function_names()[0];
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], "kernel_" + std::to_string(i));
}

TEST(Source, GivesCodeToSeveralThreadsAtOnce) {
  std::string source = "\ntemplate <int N> kernel void f(device int* x) { x[0] = N; }\n";
  for (int i = 0; i < 16; ++i)
    source += "template [[host_name(\"f" + std::to_string(i) + "\")]] kernel void f<" + std::to_string(i) +
              ">(device int*);\n";
  const auto library = library_of(source);
  ASSERT_TRUE(library);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < 16; i += 2) good += library->code("f" + std::to_string(i)) ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 + 8 + 7 + 7);
}

TEST(Source, CompiledTwiceGivesTheSame) {
  const char* source = "\nkernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = sin(x[i]); }";
  const auto first = library_of(source), second = library_of(source);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->functions(), second->functions());
  EXPECT_EQ(code_of(*first, "f"), code_of(*second, "f"));
}

TEST(Source, OutOfTheCacheIsAsIfCompiled) {
  const Folder folder;
  folder.write("n.h", "constant int n = 1;\n");
  CompileOptions cached;
  cached.include_directories = {folder.path()};
  const char* source = "\n#include \"n.h\"\n#warning old\nkernel void f(device int* x) { x[0] = n; }\n";
  const CompileResult fresh = compile_source(source, cached);
  ASSERT_TRUE(fresh.library) << format(fresh.diagnostics);
  const Code code = code_of(*fresh.library, "f");
  EXPECT_FALSE(cache->empty());
  const CompileResult again = compile_source(source, cached);
  ASSERT_TRUE(again.library);
  EXPECT_EQ(again.library->functions(), fresh.library->functions());
  EXPECT_EQ(format(again.diagnostics), format(fresh.diagnostics));
  EXPECT_EQ(again.diagnostics.size(), 1u) << "the warning is said again";
  EXPECT_EQ(again.included_files, fresh.included_files);
  EXPECT_EQ(code_of(*again.library, "f"), code);
}

TEST(Source, WithAChangedHeaderIsNotTakenFromTheCache) {
  const Folder folder;
  CompileOptions cached;
  cached.include_directories = {folder.path()};
  const auto code_with = [&](const char* header) {
    folder.write("n.h", header);
    const auto library = library_of("\n#include \"n.h\"\nkernel void f(device int* x) { x[0] = n; }\n", cached);
    return library ? code_of(*library, "f") : Code();
  };
  const Code one = code_with("constant int n = 1;\n");
  EXPECT_TRUE(code_with("constant int n = 2;\n") != one);
  EXPECT_TRUE(code_with("constant int n = 1;\n") == one);
}

TEST(Source, ThatIsWrongIsNotCached) {
  CompileOptions cached;
  const char* source = "\nkernel void f(device int* x) { x[0] = y; }";
  const std::string said = format(compile_source(source, cached).diagnostics);
  EXPECT_EQ(format(compile_source(source, cached).diagnostics), said);
  EXPECT_FALSE(said.empty());
}

}  // namespace
}  // namespace metalloid
