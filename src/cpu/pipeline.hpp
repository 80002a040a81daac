// A kernel compiled for the CPU.
#pragma once

#include <atomic>
#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "cpu/loaded_code.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/vector/variants.hpp"
#include "device/pipeline.hpp"

namespace metalloid::cpu {

class Pipeline final : public device::Pipeline {
 public:
  static Result<std::shared_ptr<Pipeline>> make(std::shared_ptr<Loader> loader, const device::PipelineRequest& request);

  uint64_t function_address(std::string_view name) const override;

  const ObjectLayout& threadgroup_layout() const { return *code().layout; }

  // On the reference engine.
  Entry entry() const { return code_->entry; }

  // On the vector engine: how many lanes its groups have, and its code, compiled if need be.
  bool is_vector() const { return variants_ != nullptr; }
  uint32_t width() const { return variants_->width(); }
  bool chose_width() const { return variants_->chose_width(); }  // or the environment did
  const vector::CompiledVariant& variant(const vector::Variant& variant) const { return variants_->get(variant); }

  // What one of its threadgroups took when last measured, in nanoseconds; 0: never. Any thread may read and write it.
  std::atomic<uint32_t>& time_of_threadgroup() const { return time_of_threadgroup_; }

  // For shader validation: null and empty if the pipeline was made without.
  const validation::SiteTable* sites() const { return code().sites; }
  const std::vector<std::string>& slot_names() const { return slot_names_; }

 private:
  Status compile(std::shared_ptr<Loader> loader, const device::PipelineRequest& request);
  const LoadedCode& code() const { return variants_ ? variants_->first() : *code_; }

  std::unique_ptr<LoadedCode> code_;            // on the reference engine
  std::unique_ptr<vector::Variants> variants_;  // on the vector engine
  std::vector<std::string> linked_;
  std::vector<std::string> slot_names_;
  mutable std::atomic<uint32_t> time_of_threadgroup_ = 0;
};

}  // namespace metalloid::cpu
