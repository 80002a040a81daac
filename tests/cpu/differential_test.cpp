// Every kernel of kernels/*.metal gives the same on the vector engine, at each width, as on the reference engine, and
// touches no byte that is not its own. kernels/found has those that `metalloid fuzz kernels` found and reduced. Run
// with METALLOID_PROCESSOR set, the tests see the code for lesser processors than the one they run on; with
// METALLOID_DEVICE, they compare that device with the CPU's reference engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "cpu/host_processor.hpp"
#include "differ/compare.hpp"

namespace metalloid::differ {
namespace {

struct Named {
  std::string name;  // of the file and the kernel
  KernelCase kernel;
};

std::ostream& operator<<(std::ostream& stream, const Named& named) {
  return stream << named.name;
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(METALLOID_SOURCE_DIR "/tests/cpu/kernels"))
    if (entry.path().extension() == ".metal") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::vector<Named> all_cases() {
  std::vector<Named> all;
  for (const auto& file : files()) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    auto cases = parse_cases(text.str());
    if (!cases) throw std::runtime_error(file.string() + ": " + cases.error());
    for (KernelCase& kernel : *cases) {
      std::string name = file.stem().string() + "_" + kernel.kernel;
      all.push_back({std::move(name), std::move(kernel)});
    }
  }
  return all;
}

// The kernels of a file are compiled together.
std::shared_ptr<const Library> library_of(const std::string& source) {
  static std::map<std::string, std::shared_ptr<const Library>> libraries;
  auto& library = libraries[source];
  if (library) return library;
  auto compiled = compile_source(source);
  EXPECT_TRUE(compiled) << compiled.error();
  if (compiled) library = *compiled;
  return library;
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Lesser processors differ in how they do what all widths do.
std::vector<Engine> engines() {
  if (const std::string device = setting("METALLOID_DEVICE"); !device.empty()) return {{device, 0}};
  if (!setting("METALLOID_PROCESSOR").empty()) return {{"vector", 32}};
  return vector_engines();
}

class Differential : public testing::TestWithParam<Named> {
 protected:
  void SetUp() override {
    for (const Engine& engine : engines())
      if (const auto present = check_presence(engine); !present) GTEST_SKIP() << present.error();
    const auto processor = cpu::host_processor();
    if (!processor && processor.error().find("lacks what that one has") != std::string::npos)
      GTEST_SKIP() << processor.error();
    ASSERT_TRUE(processor) << processor.error();
  }
};

TEST_P(Differential, EnginesAgree) {
  const KernelCase& kernel = GetParam().kernel;
  const auto library = library_of(kernel.source);
  ASSERT_TRUE(library);
  const auto found = differences(kernel, library, engines());
  ASSERT_TRUE(found) << found.error();
  for (const Difference& difference : *found) ADD_FAILURE() << to_text(difference);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Differential, testing::ValuesIn(all_cases()),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace metalloid::differ
