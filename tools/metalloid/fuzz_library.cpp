// metalloid fuzz library: every kernel of a library, with random arguments, on the reference engine and the vector
// engine.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "differ/survey.hpp"
#include "fuzz.hpp"
#include "library_source.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace {

struct LibraryOptions {
  LibrarySource source;
  std::string only;
  differ::Survey survey;
  unsigned width = 0;
  bool tell_all = false;
};

void fuzz_library(const LibraryOptions& options) {
  const std::shared_ptr<const Library> library = options.source.load();
  const std::vector<std::string> kernels = options.source.kernels_with(*library, options.only);

  differ::Survey survey = options.survey;
  if (options.width > 0) survey.engines = {{"vector", options.width}};
  std::array<size_t, 4> counts{};
  ProgressLine line("kernels", kernels.size());
  survey.run(library, kernels, [&](std::string_view kernel, differ::Verdict verdict, const std::string& what) {
    ++counts[static_cast<size_t>(verdict)];
    line.advance();
    constexpr const char* words[] = {"same", "differs", "undefined", "not run"};
    if (verdict != differ::Verdict::differs && !options.tell_all) return;
    line.clear();
    fmt::print("{}: {}{}{}\n", kernel, words[static_cast<size_t>(verdict)], what.empty() ? "" : ": ", what);
    std::fflush(stdout);
  });
  line.clear();
  const auto count = [&](differ::Verdict verdict) { return counts[static_cast<size_t>(verdict)]; };
  fmt::print("{} kernels: {} the same, {} differ, {} undefined with all arguments tried, {} not run\n", kernels.size(),
             count(differ::Verdict::same), count(differ::Verdict::differs), count(differ::Verdict::undefined),
             count(differ::Verdict::not_run));
  if (count(differ::Verdict::differs) > 0) throw Failure{exit_source_error, "the engines disagree"};
}

}  // namespace

void add_fuzz_library(CLI::App& fuzz) {
  auto options = std::make_shared<LibraryOptions>();
  CLI::App* command =
      fuzz.add_subcommand("library", "Run the kernels of a library on both engines, with arguments made up");
  options->source.add_options(*command);
  command->add_option("--only", options->only, "Kernels whose names have this in them");
  command->add_option("--seed", options->survey.first_seed, "Of the first arguments")->capture_default_str();
  command->add_option("--tries", options->survey.tries, "Arguments that are tried until two are defined")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  auto* width = command->add_option("--width", options->width, "This width of the vector engine");
  width->check(CLI::IsMember({1, 8, 16, 32, 64, 128, 256}));
  command->add_flag("--all", options->tell_all, "Tell of all kernels, not of those alone that differ");
  command->footer(
      "Examples:\n"
      "  metalloid fuzz library kernels.metal\n"
      "  metalloid fuzz library default.metallib --only softmax --seed 100 --tries 50 --all\n");
  command->callback([options] { fuzz_library(*options); });
}

}  // namespace metalloid::tool
