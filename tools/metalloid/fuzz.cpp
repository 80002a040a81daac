// metalloid fuzz: looks for kernels on which the vector engine, or another device, and the reference engine disagree.
#include "fuzz.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "differ/campaign.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace {

struct FuzzOptions {
  uint64_t seed = 1, count = 0;
  double minutes = 0;
  unsigned width = 0;
  std::string device;
  std::string keep = ".";
  bool print = false;
};

void keep(const differ::Finding& finding, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure{exit_file_error, fmt::format("'{}' cannot be made: {}", folder, error.message())};
  const std::string path = (std::filesystem::path(folder) / fmt::format("seed_{}.metal", finding.seed)).string();
  write_output(path, fmt::format("// Seed {}. {}\n{}", finding.seed, finding.what, differ::source_of(finding.program)));
  fmt::print("{} has it reduced\n", path);
  std::fflush(stdout);
}

void fuzz_kernels(const FuzzOptions& options) {
  if (options.print) {
    fmt::print("{}", differ::source_of(differ::random_program(options.seed)));
    return;
  }
  differ::Campaign campaign;
  campaign.first_seed = options.seed;
  campaign.count = options.count > 0 ? options.count : options.minutes > 0 ? ~uint64_t{0} - options.seed : 100;
  if (options.minutes > 0) campaign.time = std::chrono::seconds(static_cast<int64_t>(options.minutes * 60));
  if (options.width > 0) campaign.engines = {{"vector", options.width}};
  if (!options.device.empty()) campaign.engines = {{options.device, 0}};
  if (const auto ready = campaign.check_devices(); !ready) throw Failure{exit_file_error, ready.error()};

  ProgressLine line("kernels", options.minutes > 0 ? 0 : campaign.count);
  uint64_t kernels = 0;
  campaign.at_kernel = [&](uint64_t) {
    ++kernels;
    line.advance();
  };
  campaign.at_failure = [&](const differ::Finding& finding) {
    line.clear();
    fmt::print("seed {}: {}\n", finding.seed, finding.what);
    std::fflush(stdout);
  };
  campaign.at_finding = [&](const differ::Finding& finding) { keep(finding, options.keep); };
  const auto findings = campaign.run();
  line.clear();
  fmt::print("{} random kernels, {} of them wrong\n", kernels, findings.size());
  if (!findings.empty()) throw Failure{exit_source_error, "the engines disagree"};
}

}  // namespace

void add_fuzz(CLI::App& app) {
  CLI::App* fuzz = app.add_subcommand("fuzz", "Look for differences between engines");
  fuzz->require_subcommand(1);
  CLI::App* kernels =
      fuzz->add_subcommand("kernels", "Run random kernels on the reference engine and another, or another device");
  auto options = std::make_shared<FuzzOptions>();
  kernels->add_option("--seed", options->seed, "Of the first kernel; the next has the next")->capture_default_str();
  auto* count = kernels->add_option("--count", options->count, "How many kernels; 100 unless --minutes is given");
  kernels->add_option("--minutes", options->minutes, "How long")->check(CLI::PositiveNumber)->excludes(count);
  auto* width = kernels->add_option("--width", options->width, "Only this width of the vector engine");
  width->check(CLI::IsMember({1, 8, 16, 32, 64, 128, 256}));
  kernels->add_option("--device", options->device, "This device in place of the vector engine: nvidia")
      ->excludes(width);
  kernels->add_option("--keep", options->keep, "Where reduced kernels are written")->capture_default_str();
  kernels->add_flag("--print", options->print, "Print the kernel of the seed and run nothing");
  kernels->footer(
      "Examples:\n"
      "  metalloid fuzz kernels --count 50\n"
      "  metalloid fuzz kernels --minutes 120 --seed 1000000 --keep found\n"
      "  metalloid fuzz kernels --device nvidia --count 1000\n"
      "  metalloid fuzz kernels --seed 23 --print\n");
  kernels->callback([options] { fuzz_kernels(*options); });
  add_fuzz_library(*fuzz);
}

}  // namespace metalloid::tool
