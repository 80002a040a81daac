// Code made before there is a GPU: a library carries the PTX of its kernels, and optionally what NVIDIA's assembler
// makes of that, by the same keys that the caches know. The device takes it from there where the key fits: the same
// kernel, compiled by the same Metalloid for the same GPUs. Where none fits, it compiles as usual.
#pragma once

#include <functional>
#include <memory>
#include <metalloid/library.hpp>
#include <optional>
#include <string>

#include "device/pipeline.hpp"
#include "nvidia/compile.hpp"

namespace metalloid::nvidia {

// "sm_90"; none if it is no GPU's name that we know.
std::optional<Architecture> parse_architecture(std::string_view name);

// Machine code of PTX.
using Assemble = std::function<Result<std::string>(const std::string& ptx)>;

// All that a pipeline of the kernel may need. It takes no function constants, or none that it has to be given.
// `assemble` may be empty.
Result<std::vector<DeviceCode>> compile_ahead(const std::shared_ptr<const Library>& library, const std::string& kernel,
                                              const Architecture& architecture, const Assemble& assemble);

// Whether compile_ahead() can be asked for it.
Result<bool> can_be_compiled_ahead(const Library& library, const std::string& function);

// A library's own code as a store that compile() looks into.
class LibraryCode final : public device::CodeStore {
 public:
  explicit LibraryCode(const Library& library) : library_(library) {}

  std::optional<std::string> load(std::string_view key) override;
  void store(std::string_view, std::string_view) override {}

  const std::string& error() const { return error_; }  // what was found but could not be read; or empty
  const std::string& cubin() const { return cubin_; }  // of what was found last; or empty

 private:
  const Library& library_;
  std::string error_, cubin_;
};

}  // namespace metalloid::nvidia
