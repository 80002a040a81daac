#include "backend_options.hpp"

#include <CLI/Validators.hpp>
#include <cstdlib>
#include <map>

#include "program.hpp"

namespace metalloid::tool {

void add_backend_options(CLI::App& command, BackendOptions& options) {
  const std::map<std::string, BackendPreference> backends = {
      {"auto", BackendPreference::Auto}, {"metal", BackendPreference::Metal}, {"cpu", BackendPreference::Cpu}};
  command.add_option("--backend", options.preference, "metal, cpu (plain C++), or auto")
      ->transform(CLI::CheckedTransformer(backends));
  command.add_option("--device", options.device, "Part of the Metal device's name, as METALLOID_DEVICE");
}

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  if (!options.device.empty()) ::setenv("METALLOID_DEVICE", options.device.c_str(), 1);
  Result<std::unique_ptr<Backend>> backend = init_backend(options.preference);
  if (!backend) throw Failure{exit_usage_error, backend.error()};
  return std::move(*backend);
}

}  // namespace metalloid::tool
