// Making pipelines: limits, errors, caches and archives.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

namespace fs = std::filesystem;

// The disk cache of this process, looked up when the first pipeline is made.
const fs::path cache_folder = [] {
  std::string name = (fs::temp_directory_path() / "metalloid-cpu-test-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  setenv("METALLOID_CACHE_DIR", folder.c_str(), 1);
  return folder;
}();

class RemoveCache final : public testing::Environment {
  void TearDown() override { fs::remove_all(cache_folder); }
};
const auto* const remove_cache = testing::AddGlobalTestEnvironment(new RemoveCache);

std::vector<fs::path> cached_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(cache_folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}

class Archive final : public device::CodeStore {
 public:
  std::optional<std::string> load(std::string_view key) override {
    const auto entry = entries.find(std::string(key));
    if (entry == entries.end()) return std::nullopt;
    ++hits;
    return entry->second;
  }
  void store(std::string_view key, std::string_view code) override { entries[std::string(key)] = code; }

  std::map<std::string, std::string> entries;
  int hits = 0;
};

const char* source = R"(
    constant int n [[function_constant(0)]];
    [[max_total_threads_per_threadgroup(128)]]
    kernel void f(device int* out, uint i [[thread_position_in_grid]]) { out[i] = i * n; })";

device::PipelineRequest request_for(std::shared_ptr<const Library> library, int n) {
  device::PipelineRequest request;
  request.kernel = {std::move(library), "f", {constant(0, n)}};
  return request;
}

void expect_works(Kernel& kernel, int n) {
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(100);
  EXPECT_EQ(kernel.run({{100, 1, 1}, {32, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out[99], 99 * n);
}

TEST(Pipelines, KnowTheirLimits) {
  auto request = request_for(library_of(source), 1);
  EXPECT_EQ(Kernel(request).pipeline->max_threads_per_threadgroup, 128u);
  request.max_threads_per_threadgroup = 64;
  EXPECT_EQ(Kernel(request).pipeline->max_threads_per_threadgroup, 64u);
  request.max_threads_per_threadgroup = 4096;
  EXPECT_NE(Kernel(request).error.find("at most 1024"), std::string::npos);
}

TEST(Pipelines, ComeFromTheDiskCacheTheSecondTime) {
  const auto request = request_for(library_of(source), 17);
  const auto before = cached_files();
  Kernel first(request);
  expect_works(first, 17);
  const auto files = cached_files();
  ASSERT_GT(files.size(), before.size());
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const fs::path& file : files) fs::last_write_time(file, long_ago);
  Kernel second(request);
  expect_works(second, 17);
  EXPECT_EQ(cached_files().size(), files.size());
  const auto used = std::ranges::count_if(
      files, [&](const fs::path& file) { return fs::last_write_time(file) > long_ago + std::chrono::hours(1); });
  EXPECT_EQ(static_cast<size_t>(used), files.size() - before.size()) << "an entry that is used becomes the youngest";
}

TEST(Pipelines, AreCompiledAgainWhenTheCacheIsDamaged) {
  const auto request = request_for(library_of(source), 18);
  ASSERT_TRUE(Kernel(request).pipeline);
  for (const fs::path& file : cached_files()) fs::resize_file(file, fs::file_size(file) / 2);
  Kernel again(request);
  expect_works(again, 18);
}

TEST(Pipelines, ComeFromArchivesWhenTheseHaveThem) {
  const auto library = library_of(source);
  auto archive = std::make_shared<Archive>();
  auto request = request_for(library, 3);
  request.archives = {archive};
  request.only_from_archives = true;
  EXPECT_EQ(Kernel(request).error, "'f' is in none of the binary archives, and compiling it was ruled out");
  request.only_from_archives = false;
  Kernel first(request);
  expect_works(first, 3);
  EXPECT_FALSE(archive->entries.empty());
  request.only_from_archives = true;
  Kernel second(request);
  expect_works(second, 3);
  EXPECT_EQ(static_cast<size_t>(archive->hits), archive->entries.size()) << "one for each variant of the code";
  auto other = request_for(library, 4);
  other.archives = {archive};
  other.only_from_archives = true;
  EXPECT_FALSE(Kernel(other).pipeline) << "the constant is part of the key";
}

TEST(Pipelines, WhoseParametersDifferInAttributesAloneAreNotMistakenForEachOther) {
  const char* text = R"(
    constant bool a [[function_constant(0)]];
    constant bool b [[function_constant(1)]];
    kernel void f(device uint* out, uint i [[thread_position_in_grid]], uint x [[ATTRIBUTE]],
                  device uint* more [[buffer(1), function_constant(CONSTANT)]]) {
      if (a == b) return;
      out[i] = x + (more ? 100 : 0);
    })";
  std::vector<uint32_t> out(64), more(1);
  const auto last = [&](const std::string& attribute, const std::string& name) {
    CompileOptions options;
    options.cache = false;
    options.macros = {{"ATTRIBUTE", attribute}, {"CONSTANT", name}};
    Kernel kernel(compile(text, options).library, {constant(0, true), constant(1, false)});
    EXPECT_TRUE(kernel.pipeline) << kernel.error;
    if (!kernel.pipeline) return ~0u;
    std::vector<device::Argument> arguments{buffer(out)};
    if (name == "a") arguments.push_back(buffer(more));
    EXPECT_EQ(kernel.run({{64, 1, 1}, {32, 1, 1}, arguments}), "");
    return out[63];
  };
  EXPECT_EQ(last("thread_index_in_threadgroup", "a"), 131u);
  EXPECT_EQ(last("threadgroup_position_in_grid", "a"), 101u);
  EXPECT_EQ(last("threads_per_threadgroup", "a"), 132u);
  EXPECT_EQ(last("threads_per_threadgroup", "b"), 32u);
}

TEST(Pipelines, FromADamagedArchiveAreAnErrorAndNoCrash) {
  auto archive = std::make_shared<Archive>();
  auto request = request_for(library_of(source), 5);
  request.archives = {archive};
  ASSERT_TRUE(Kernel(request).pipeline);
  auto& code = archive->entries.begin()->second;
  for (size_t size : {size_t{0}, size_t{10}, code.size() / 2}) {
    archive->entries.begin()->second.resize(std::min(size, code.size()));
    EXPECT_FALSE(Kernel(request).pipeline);
  }
  archive->entries.clear();
  Kernel again(request);
  expect_works(again, 5);
}

TEST(Pipelines, AreMadeFromKernelsOfTheLibraryOnly) {
  const auto library = library_of("[[visible]] int v(int x) { return x; } kernel void f(device int* o) { *o = 1; }");
  EXPECT_EQ(Kernel(library, {}, "g").error, "the library has no function 'g'");
  EXPECT_EQ(Kernel(library, {}, "v").error, "'v' is a visible function; a pipeline is made from a kernel");
  device::PipelineRequest request;
  request.kernel = {library, "f", {}};
  request.linked = {{library, "v", {}}, {library, "v", {}}};
  EXPECT_EQ(Kernel(request).error, "two functions named 'v' are linked into one pipeline");
}

TEST(Pipelines, MayHaveNamesOfTheCLibrary) {
  Kernel kernel("kernel void memset(device float* out, uint i [[thread_position_in_grid]]) { out[i] = 0; }", {},
                "memset");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> out(64, 1);
  EXPECT_EQ(kernel.run({{64, 1, 1}, {64, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out, std::vector<float>(64, 0));
}

TEST(Pipelines, MayHaveLoopsThatOptimisationKnowsFromTheCLibrary) {
  for (const char* type : {"char", "uchar", "ushort", "int", "ulong"}) {
    Kernel kernel("using T = " + std::string(type) + R"(;
      [[gnu::noinline]] uint length(thread const T* text) { uint n = 0; while (text[n] != 0) ++n; return n; }
      [[gnu::noinline]] bool equal(thread const T* a, thread const T* b, uint n) {
        for (uint i = 0; i < n; ++i) if (a[i] != b[i]) return false;
        return true;
      }
      kernel void f(device uint* out, device const T* in) {
        T text[64], other[64];
        uint n = 0;
        for (; in[n] != 0; ++n) text[n] = in[n];
        for (uint i = 0; i < n; ++i) other[i] = in[i];
        text[n] = 0;
        out[0] = length(text);
        out[1] = n;
        out[2] = equal(text, other, n);
      })");
    ASSERT_TRUE(kernel.pipeline) << type << ": " << kernel.error;
    std::vector<uint64_t> text(6, 0x0101010101010101);
    text.back() = 0;
    std::vector<uint32_t> out(3);
    EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out), buffer(text)}}), "");
    EXPECT_GE(out[0], 5u) << type;
    EXPECT_EQ(out[0], out[1]) << type;
    EXPECT_EQ(out[2], 1u) << type;
  }
}

TEST(Pipelines, KeepDenormalsAndRoundAsWritten) {
  Kernel kernel(R"(
    kernel void f(device float* out, device const float* in, device half* halves, device bfloat* bfloats) {
      out[0] = in[0] * 0.5f;
      { volatile float p = in[1] * in[1]; out[1] = p + in[2]; }
      halves[0] = half(in[3]); halves[1] = halves[2] + halves[3];
      bfloats[0] = bfloat(in[4]);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  const float a = 1 + 0x1p-12f;
  std::vector<float> in{0x1p-140f, a, -(1 + 0x1p-11f), 1 + 0x1p-11f + 0x1p-20f, 1 + 0x1p-8f}, out(2);
  std::vector<uint16_t> halves{0, 0, 0x0001, 0x0002}, bfloats(1);
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out), buffer(in), buffer(halves), buffer(bfloats)}}), "");
  EXPECT_EQ(out[0], 0x1p-141f);
  EXPECT_EQ(out[1], 0) << "the product was not rounded before the sum";
  EXPECT_EQ(halves[0], 0x3c01);
  EXPECT_EQ(halves[1], 0x0003);
  EXPECT_EQ(bfloats[0], 0x3f80) << "ties go to even";
}

}  // namespace
}  // namespace metalloid::cpu
