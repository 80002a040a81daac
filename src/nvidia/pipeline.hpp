// A kernel compiled for a GPU: its PTX, and the modules that the driver made of it. There is a variant for each set of
// assumptions (compile.hpp), compiled when it is first needed. A module lives in a context; in a new one it is loaded
// again.
#pragma once

#include <array>
#include <memory>
#include <metalloid/result.hpp>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/commands.hpp"
#include "device/pipeline.hpp"
#include "nvidia/compile.hpp"
#include "nvidia/context.hpp"

namespace metalloid::nvidia {

class Pipeline final : public device::Pipeline {
 public:
  static Result<std::shared_ptr<Pipeline>> make(std::shared_ptr<Gpu> gpu, const device::PipelineRequest& request);
  ~Pipeline() override;

  uint64_t function_address(std::string_view name) const override;

  struct Code {
    cuda::Function function = nullptr;
    const std::vector<LogSite>* log_sites = nullptr;  // the pipeline's
    uint64_t serial = 0;                              // no other function's, ever
    uint32_t dynamic_variables = 0;                   // bytes of dynamic memory that it takes for its variables
  };

  // Whether buffers are apart (compile.hpp) that a launch gives to the slots.
  bool are_apart(std::span<const uint64_t> addresses, std::span<const device::Argument> arguments) const;

  // In the present context.
  Result<Code> code(const Gpu::Use& use, const Assumptions& assumptions) const;

 private:
  struct Variant {
    std::optional<CompiledKernel> code;
    std::string cubin;  // made of it ahead of time; or empty
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    uint64_t serial = 0;
    uint32_t generation = 0;  // of the context that has the module
  };

  Pipeline(std::shared_ptr<Gpu> gpu, const device::PipelineRequest& request)
      : gpu_(std::move(gpu)), request_(request) {}
  Status compile(Variant& variant, const Assumptions& assumptions) const;
  // For threadgroups of so many threads at least, if it is said.
  Status load(const Gpu::Use& use, Variant& variant, std::optional<uint32_t> threads) const;

  const std::shared_ptr<Gpu> gpu_;
  const device::PipelineRequest request_;
  std::vector<bool> writes_;  // of each slot: the kernel may write to that buffer
  mutable std::mutex mutex_;
  mutable std::array<Variant, Assumptions::all.size()> variants_;  // by place()
};

}  // namespace metalloid::nvidia
