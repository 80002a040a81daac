#include "compiler_driver.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "ahead_of_time.hpp"
#include "dependencies.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace fs = std::filesystem;

namespace {

class Driver {
 public:
  Driver(const CompilerArguments& arguments, const std::string& default_output)
      : arguments_(arguments),
        default_output_(default_output),
        colour_(arguments.colour.value_or(takes_colour(STDERR_FILENO))) {}

  int run() {
    check_usage();
    print_warnings();
    switch (arguments_.stage) {
      case Stage::list_dependencies:
      case Stage::preprocess:
        write_preprocessed();
        break;
      case Stage::check:
        for (const std::shared_ptr<Library>& library : compile_all())
          if (library) compile_functions(*library);
        break;
      case Stage::compile:
        write_each();
        break;
      case Stage::link:
        write_library_of_all();
        break;
    }
    return has_errors_ ? exit_source_error : exit_success;
  }

 private:
  void check_usage() const {
    if (arguments_.inputs.empty()) throw Failure{exit_usage_error, "no input files"};
    if (arguments_.cubin && arguments_.devices.empty())
      throw Failure{exit_usage_error, "--cubin needs --device, which says for which GPUs"};
    if (arguments_.stage == Stage::compile && arguments_.inputs.size() > 1 && !arguments_.output.empty())
      throw Failure{exit_usage_error, "-o names one file, and -c makes one for each of several inputs"};
    for (const Input& input : arguments_.inputs)
      if (!input.is_source && arguments_.stage != Stage::link)
        throw Failure{exit_usage_error, fmt::format("'{}' is compiled already; leave it out, or leave out -c, -E, "
                                                    "-M or -fsyntax-only",
                                                    input.path)};
    for (const Input& input : arguments_.inputs) require_readable(input.path);
  }

  void print_warnings() const {
    if (arguments_.options.no_warnings) return;
    for (const std::string& warning : arguments_.warnings) fmt::print(stderr, "warning: {}\n", warning);
  }

  void write_preprocessed() {
    std::string text;
    for (const Input& input : arguments_.inputs) {
      PreprocessResult result = preprocess(input);
      if (arguments_.stage == Stage::list_dependencies)
        text += dependency_rule(dependencies_of(input, result.text), fs::path(input.path).stem().string() + ".air");
      else
        text += arguments_.line_markers ? result.text : without_line_markers(result.text);
    }
    if (has_errors_) return;
    const DependencyRule& rule = arguments_.dependency_rule;
    std::string output = arguments_.output.empty() ? std::string(standard_stream) : arguments_.output;
    if (arguments_.stage == Stage::list_dependencies && !rule.file.empty()) output = rule.file;
    write_output(output, text);
  }

  static Dependencies dependencies_of(const Input& input, std::string_view preprocessed) {
    Dependencies dependencies{input.path, {}};
    for (const IncludedFile& file : included_files(preprocessed, input.path))
      dependencies.files.emplace_back(file.path);
    return dependencies;
  }

  void write_each() {
    for (const Input& input : arguments_.inputs) {
      std::shared_ptr<Library> library = compile(input);
      if (!library) continue;
      std::string output = arguments_.output;
      if (output.empty())
        output = (input.path == standard_stream ? "-" : fs::path(input.path).stem().string() + ".air");
      write_with_device_code(*library, output);
      write_dependency_rules(output);
    }
  }

  void write_library_of_all() {
    std::vector<std::shared_ptr<Library>> libraries = compile_all();
    if (has_errors_) return;
    std::string output = arguments_.output.empty() ? default_output_ : arguments_.output;
    write_with_device_code(*link_libraries(libraries), output);
    write_dependency_rules(output);
  }

  // Code is made for devices from what is in the file: by that they will look for it.
  void write_with_device_code(const Library& library, const std::string& output) {
    if (arguments_.devices.empty()) return write_library(library, output);
    auto read = Library::from_bytes(compile_functions(library));
    if (!read) throw Failure{exit_source_error, read.error()};
    add_device_code(*read, arguments_.devices, arguments_.cubin);
    auto bytes = (*read)->serialise();
    if (!bytes) throw Failure{exit_source_error, bytes.error()};
    write_output(output, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }

  std::vector<std::shared_ptr<Library>> compile_all() {
    std::vector<std::shared_ptr<Library>> libraries;
    for (const Input& input : arguments_.inputs) {
      if (input.is_source) {
        libraries.push_back(compile(input));
      } else {
        auto read = read_libraries(input.path);
        libraries.insert(libraries.end(), read.begin(), read.end());
      }
    }
    return libraries;
  }

  // Null if the source has errors, which are on standard error then.
  std::shared_ptr<Library> compile(const Input& input) {
    CompileResult result;
    if (input.path == standard_stream)
      result = metalloid::compile(standard_input(), standard_input_options());
    else
      result = compile_file(input.path, options());
    report(result.diagnostics);
    if (!result.library) has_errors_ = true;
    dependencies_.push_back({input.path, std::move(result.included_files)});
    return result.library;
  }

  PreprocessResult preprocess(const Input& input) {
    PreprocessResult result = input.path == standard_stream
                                  ? metalloid::preprocess(standard_input(), standard_input_options())
                                  : preprocess_file(input.path, arguments_.options);
    report(result.diagnostics);
    if (arguments_.list_headers) {
      for (const IncludedFile& file : included_files(result.text, input.path))
        fmt::print(stderr, "{} {}\n", std::string(file.depth, '.'), file.path);
    }
    return result;
  }

  const std::string& standard_input() {
    if (!standard_input_) standard_input_ = read_input(std::string(standard_stream));
    return *standard_input_;
  }

  // A file by itself has nobody to call.
  CompileOptions options() const {
    CompileOptions options = arguments_.options;
    options.for_linking = arguments_.stage == Stage::compile || arguments_.inputs.size() > 1;
    return options;
  }

  // Source from standard input includes what lies in the current folder.
  CompileOptions standard_input_options() const {
    CompileOptions options = this->options();
    options.source_name = "<stdin>";
    options.include_directories.insert(options.include_directories.begin(), ".");
    return options;
  }

  void report(const std::vector<Diagnostic>& diagnostics) {
    fmt::print(stderr, "{}", format(diagnostics, colour_));
    has_errors_ |= has_errors(diagnostics);
  }

  // The rules of what was compiled since the last call.
  void write_dependency_rules(const std::string& output) {
    std::vector<Dependencies> sources = std::exchange(dependencies_, {});
    if (!arguments_.dependency_rule.wanted || sources.empty()) return;
    std::string text;
    for (const Dependencies& source : sources) text += dependency_rule(source, output);
    std::string file = arguments_.dependency_rule.file;
    if (file.empty())
      file = fs::path(output == standard_stream ? sources[0].source : output).replace_extension(".d").string();
    write_output(file, text);
  }

  std::string dependency_rule(const Dependencies& source, const std::string& output) const {
    const DependencyRule& rule = arguments_.dependency_rule;
    return make_rule(rule.targets.empty() ? std::vector{output} : rule.targets, source, rule.phony_targets);
  }

  const CompilerArguments& arguments_;
  const std::string& default_output_;
  bool colour_;
  bool has_errors_ = false;
  std::optional<std::string> standard_input_;
  std::vector<Dependencies> dependencies_;
};

}  // namespace

int run_compiler(const CompilerArguments& arguments, const std::string& default_output) {
  return Driver(arguments, default_output).run();
}

}  // namespace metalloid::tool
