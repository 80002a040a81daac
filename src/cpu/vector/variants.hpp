// The code of a pipeline on the vector engine, compiled as dispatches need it.
#pragma once

#include <list>
#include <memory>
#include <metalloid/result.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "cpu/loaded_code.hpp"
#include "cpu/vector/variant.hpp"
#include "device/pipeline.hpp"

namespace metalloid::cpu::vector {

// Null code: it could not be compiled, and `error` says why; or it is not worth it, and there is none. It stays as it
// is as long as the pipeline.
struct CompiledVariant {
  explicit CompiledVariant(const Variant& variant) : variant(variant) {}

  Variant variant;
  std::unique_ptr<LoadedCode> code;
  std::string error;
  std::once_flag compiled;
};

class Variants {
 public:
  // Compiles the first one, which says what width the others have; its own is chosen for the kernel if it is any_width.
  static Result<std::unique_ptr<Variants>> make(std::shared_ptr<Loader> loader, const device::PipelineRequest& request,
                                                std::span<const device::Slot> slots, const Variant& first,
                                                const Processor& processor);

  uint32_t width() const { return first().layout->width; }
  bool chose_width() const { return chose_width_; }
  const LoadedCode& first() const { return *variants_.front().code; }

  // From any thread; compiles it if nobody has yet, and waits for whoever does.
  const CompiledVariant& get(const Variant& variant);

 private:
  Variants(std::shared_ptr<Loader> loader, const device::PipelineRequest& request, std::span<const device::Slot> slots,
           const Processor& processor)
      : loader_(std::move(loader)), request_(request), slots_(slots.begin(), slots.end()), processor_(processor) {}
  CompiledVariant& find(const Variant& variant);
  void compile(CompiledVariant& variant) const;

  const std::shared_ptr<Loader> loader_;
  device::PipelineRequest request_;
  const std::vector<device::Slot> slots_;
  const Processor processor_;
  bool chose_width_ = false;
  std::mutex mutex_;
  std::list<CompiledVariant> variants_;
};

}  // namespace metalloid::cpu::vector
