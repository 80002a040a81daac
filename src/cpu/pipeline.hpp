// A kernel compiled for the CPU.
#pragma once

#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "cpu/loaded_code.hpp"
#include "device/pipeline.hpp"

namespace metalloid::cpu {

class Pipeline final : public device::Pipeline {
 public:
  static Result<std::shared_ptr<Pipeline>> make(std::shared_ptr<Loader> loader, const device::PipelineRequest& request);

  uint64_t function_address(std::string_view name) const override;

  LoadedCode::Entry entry() const { return code_->entry; }
  const ObjectLayout& threadgroup_layout() const { return *code_->layout; }

  // For shader validation: null and empty if the pipeline was made without.
  const validation::SiteTable* sites() const { return code_->sites; }
  const std::vector<std::string>& slot_names() const { return slot_names_; }

 private:
  std::unique_ptr<LoadedCode> code_;
  std::vector<std::string> linked_;
  std::vector<std::string> slot_names_;
};

}  // namespace metalloid::cpu
