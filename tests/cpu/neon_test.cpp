// The vector engine's code for AArch64, under an emulator: kernels of kernels/*.metal are compiled for a processor with
// NEON, linked to a small runtime (neon/runtime.cpp) and run by qemu; what they leave behind is what the reference
// engine leaves here.
#include <gtest/gtest.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "cpu/object_code.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/vector/plan.hpp"
#include "device/pipeline.hpp"
#include "differ/compare.hpp"
#include "neon/launch.hpp"

namespace metalloid::cpu {
namespace {

static_assert(sizeof(neon::Argument) == sizeof(device::Argument));
static_assert(sizeof(neon::Size) == sizeof(device::Size));
static_assert(offsetof(neon::GridState, threads_per_grid) == offsetof(GridState, threads_per_grid));
static_assert(offsetof(neon::GridState, threadgroups_per_grid) == offsetof(GridState, threadgroups_per_grid));
static_assert(offsetof(neon::GridState, threads_per_threadgroup) == offsetof(GridState, threads_per_threadgroup));
static_assert(offsetof(neon::ThreadgroupState, memory) == offsetof(ThreadgroupState, memory));
static_assert(offsetof(neon::ThreadgroupState, position) == offsetof(ThreadgroupState, position));
static_assert(offsetof(neon::ThreadgroupState, threads) == offsetof(ThreadgroupState, threads));
static_assert(offsetof(neon::ThreadState, position) == offsetof(ThreadState, position));
static_assert(offsetof(neon::ThreadState, index) == offsetof(ThreadState, index));
static_assert(offsetof(neon::ThreadState, lane_positions) == offsetof(ThreadState, lane_positions));
static_assert(offsetof(neon::ThreadState, lanes) == offsetof(ThreadState, lanes));
static_assert(offsetof(neon::ObjectLayout, initial) == offsetof(ObjectLayout, initial));

const Processor processor{"aarch64-unknown-linux-gnu", "cortex-a72", ""};

// The programs that make and run a program of another processor.
struct Tools {
  std::string compiler, renamer, linker, emulator;
  std::string missing;
};

const Tools& tools() {
  static const Tools found = [] {
    Tools tools;
    const auto find = [&](std::vector<const char*> names, const char* package) {
      for (const char* name : names)
        if (auto path = llvm::sys::findProgramByName(name)) return *path;
      tools.missing +=
          std::string(tools.missing.empty() ? "" : " and ") + names.front() + " (apt-get install " + package + ")";
      return std::string();
    };
    tools.compiler = find({"clang++-22"}, "clang-22");
    tools.renamer = find({"llvm-objcopy-22"}, "llvm-22");
    tools.linker = find({"ld.lld-22"}, "lld-22");
    tools.emulator = find({"qemu-aarch64", "qemu-aarch64-static"}, "qemu-user");
    return tools;
  }();
  return found;
}

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    llvm::SmallString<64> path;
    if (llvm::sys::fs::createUniqueDirectory("metalloid-neon", path)) throw std::runtime_error("no temporary folder");
    path_ = path.str().str();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// What went wrong, or nothing.
std::string run(const Folder& folder, std::vector<std::string> words, const std::string& input = "",
                const std::string& output = "") {
  const std::string errors = folder.file("errors");
  const std::vector<llvm::StringRef> arguments(words.begin(), words.end());
  const std::optional<llvm::StringRef> files[] = {input, output, errors};
  constexpr unsigned seconds = 60;
  std::string problem;
  const int status = llvm::sys::ExecuteAndWait(words[0], arguments, std::nullopt, files, seconds, 0, &problem);
  if (status == 0) return "";
  return words[0] + " ended with " + std::to_string(status) + ". " + problem + read(errors);
}

// The parts that are the same for all kernels.
const std::vector<std::string>& runtime_objects() {
  static const Folder folder;
  static const std::vector<std::string> objects = [] {
    const std::string source = METALLOID_SOURCE_DIR;
    std::vector<std::string> objects;
    for (const char* part : {"/tests/cpu/neon/runtime.cpp", "/src/cpu/stack_switch.cpp"}) {
      objects.push_back(folder.file(std::filesystem::path(part).stem().string() + ".o"));
      EXPECT_EQ(run(folder, {tools().compiler, "--target=aarch64-linux-gnu", "-std=c++20", "-O1", "-ffreestanding",
                             "-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-I" + source + "/src", "-c",
                             source + part, "-o", objects.back()}),
                "");
    }
    return objects;
  }();
  return objects;
}

// Positions of lanes that are right in all threadgroups of a launch.
vector::Variant variant_of(const differ::Launch& launch) {
  const device::Size &size = launch.threadgroup, &all = launch.grid;
  const bool is_ragged = all.x % size.x != 0 || all.y % size.y != 0 || all.z % size.z != 0;
  if (is_ragged && (size.y > 1 || size.z > 1)) return {.width = neon::width, .positions = vector::LanePositions::any};
  return vector::variant_for(size, neon::width);
}

// A kernel as a program for AArch64.
class Program {
 public:
  Program(const std::shared_ptr<const Library>& library, const std::string& kernel, vector::Variant variant) {
    const std::string whole = folder_.file("whole.o"), partial = folder_.file("partial.o");
    device::PipelineRequest request;
    request.kernel = {library, kernel, {}};
    const auto slots = device::argument_slots(*library->find(kernel), {});
    for (const auto& path : {whole, partial}) {
      variant.is_partial = path == partial;
      auto object = object_code(request, slots, &variant, processor);
      if (!object) {
        problem = object.error();
        return;
      }
      write(path, *object);
    }
    problem = run(folder_, {tools().renamer, "--redefine-sym=metalloid.entry=metalloid.partial_entry",
                            "--localize-symbol=metalloid.layout", partial});
    if (!problem.empty()) return;
    std::vector<std::string> link{tools().linker, "-static", "-o", program_, whole, partial};
    link.insert(link.end(), runtime_objects().begin(), runtime_objects().end());
    problem = run(folder_, link);
  }

  std::string problem;  // empty: there is a program

  differ::Remains run_on(const differ::KernelCase& kernel, const differ::Launch& launch) const {
    const std::string input = folder_.file("input"), output = folder_.file("output");
    differ::Remains remains;
    std::vector<bool> has_bytes;
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      has_bytes.push_back(!std::holds_alternative<differ::ThreadgroupArgument>(kernel.arguments[i]));
      remains.memory.push_back(differ::initial_bytes(kernel, kernel.arguments[i], i, launch.grid.count()));
    }
    write(input, to_bytes(kernel, launch, remains.memory));
    remains.fault = run(folder_, {tools().emulator, program_}, input, output);
    const std::string left = read(output);
    size_t at = 0;
    for (size_t i = 0; i < has_bytes.size() && remains.fault.empty(); ++i) {
      if (!has_bytes[i]) continue;
      if (left.size() < at + remains.memory[i].size()) remains.fault = "the output is not complete";
      std::copy_n(left.begin() + static_cast<ptrdiff_t>(at), std::min(left.size() - at, remains.memory[i].size()),
                  remains.memory[i].begin());
      at += remains.memory[i].size();
    }
    return remains;
  }

 private:
  static std::string to_bytes(const differ::KernelCase& kernel, const differ::Launch& launch,
                              const std::vector<std::vector<uint8_t>>& memory) {
    std::string headers, contents;
    const auto add = [&](const auto& header) { headers.append(reinterpret_cast<const char*>(&header), sizeof header); };
    const device::Size &grid = launch.grid, &size = launch.threadgroup;
    add(neon::LaunchHeader{
        {grid.x, grid.y, grid.z}, {size.x, size.y, size.z}, static_cast<uint32_t>(kernel.arguments.size())});
    for (size_t i = 0; i < memory.size(); ++i) {
      const auto* threadgroup = std::get_if<differ::ThreadgroupArgument>(&kernel.arguments[i]);
      add(neon::ArgumentHeader{threadgroup ? threadgroup->bytes : memory[i].size(), threadgroup != nullptr});
      if (!threadgroup) contents.append(memory[i].begin(), memory[i].end());
    }
    return headers + contents;
  }

  const Folder folder_;
  const std::string program_ = folder_.file("program");
};

// The kernels of a file, compiled together.
struct File {
  explicit File(const char* stem) {
    std::string path = METALLOID_SOURCE_DIR "/tests/cpu/kernels/";
    const auto parsed = differ::parse_cases(read(path + stem + ".metal"));
    if (!parsed) throw std::runtime_error(path + stem + ": " + parsed.error());
    cases = *parsed;
    const auto compiled = differ::compile_source(cases.front().source);
    if (!compiled) throw std::runtime_error(path + stem + ": " + compiled.error());
    library = *compiled;
  }
  std::vector<differ::KernelCase> cases;
  std::shared_ptr<const Library> library;
};

class Neon : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!tools().missing.empty()) GTEST_SKIP() << "there is no " << tools().missing;
  }
};

// Each kernel on one of its grids.
TEST_P(Neon, GivesWhatTheReferenceEngineGives) {
  const File file(GetParam());
  for (size_t i = 0; i < file.cases.size(); ++i) {
    const differ::KernelCase& kernel = file.cases[i];
    const differ::Launch& launch = kernel.launches[i % kernel.launches.size()];
    SCOPED_TRACE(kernel.kernel + ", " + to_text(launch));
    const auto reference = differ::Subject::make({"reference", 0}, file.library, kernel);
    ASSERT_TRUE(reference) << reference.error();
    const Program program(file.library, kernel.kernel, variant_of(launch));
    ASSERT_EQ(program.problem, "");
    const auto difference = differ::difference_between(kernel, reference->run(kernel, launch, differ::Guard::end),
                                                       program.run_on(kernel, launch));
    EXPECT_FALSE(difference) << *difference;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Neon, testing::Values("control_flow", "groups", "memory", "numbers", "shared_memory"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
}  // namespace metalloid::cpu
