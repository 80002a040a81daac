#include "ahead_of_time.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "files.hpp"
#include "nvidia/ahead.hpp"
#include "program.hpp"
#include "terminal.hpp"

extern char** environ;

namespace metalloid::tool {

namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "metalloid_XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw Failure{exit_file_error, "there is no place for temporary files"};
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Whether the program ended well; what it says goes to standard error. None if there is no such program.
std::optional<bool> run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  if (posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return std::nullopt;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<std::string> assemble(const std::string& ptx, const nvidia::Architecture& architecture) {
  const TemporaryFolder folder;
  const std::string input = folder / "kernel.ptx", output = folder / "kernel.cubin";
  write_output(input, ptx);
  const auto done = run({"ptxas", "-arch=" + architecture.name(), input, "-o", output});
  if (!done)
    return Error{
        "--cubin needs 'ptxas', NVIDIA's assembler, and there is none on the PATH; install the CUDA toolkit, or "
        "leave --cubin out: drivers make machine code of PTX by themselves"};
  if (!*done) return Error{fmt::format("ptxas does not take the code for {}", architecture.name())};
  return read_input(output);
}

std::vector<std::string> kernels_without_constants(const Library& library) {
  std::vector<std::string> kernels;
  size_t others = 0;
  for (const std::string_view name : library.function_names()) {
    const auto can = nvidia::can_be_compiled_ahead(library, std::string(name));
    if (!can) throw Failure{exit_source_error, can.error()};
    if (*can)
      kernels.emplace_back(name);
    else
      others += library.find(name)->kind == FunctionKind::kernel;
  }
  if (others > 0)
    fmt::print(stderr, "note: {} of {} kernels take function constants, and are compiled when they are used\n", others,
               others + kernels.size());
  return kernels;
}

std::vector<DeviceCode> compile_all(const std::shared_ptr<const Library>& library,
                                    const std::vector<std::string>& kernels, const nvidia::Architecture& architecture,
                                    bool cubin) {
  const auto assembler = [&](const std::string& ptx) { return assemble(ptx, architecture); };
  const nvidia::Assemble assembles = cubin ? nvidia::Assemble(assembler) : nvidia::Assemble();
  std::vector<std::vector<DeviceCode>> made(kernels.size());
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::string problem;
  const auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      auto code = nvidia::compile_ahead(library, kernels[i], architecture, assembles);
      const std::lock_guard lock(mutex);
      if (!code && problem.empty()) problem = code.error();
      if (!problem.empty()) return;
      made[i] = *std::move(code);
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i) others.emplace_back(work);
    work();
  }
  if (!problem.empty()) throw Failure{exit_source_error, problem};
  std::vector<DeviceCode> all;
  for (auto& code : made) std::move(code.begin(), code.end(), std::back_inserter(all));
  return all;
}

}  // namespace

void add_device_code(const std::shared_ptr<Library>& library, const std::vector<std::string>& devices, bool cubin) {
  std::vector<nvidia::Architecture> architectures;
  for (const std::string& device : devices) {
    const auto architecture = nvidia::parse_architecture(device);
    if (!architecture)
      throw Failure{exit_usage_error,
                    fmt::format("unknown device '{}'; known are NVIDIA's GPUs by their architecture: sm_75, sm_80, "
                                "sm_90, ...",
                                device)};
    architectures.push_back(*architecture);
  }
  const std::vector<std::string> kernels = kernels_without_constants(*library);
  for (const nvidia::Architecture& architecture : architectures)
    library->add_device_code(compile_all(library, kernels, architecture, cubin));
}

}  // namespace metalloid::tool
