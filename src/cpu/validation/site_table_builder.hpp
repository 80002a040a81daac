// Collects the sites of a module while it is instrumented, and writes them into it as a constant.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "cpu/lower/threadgroup_memory.hpp"
#include "cpu/source_place.hpp"
#include "cpu/validation/provenance.hpp"
#include "cpu/validation/site_table.hpp"

namespace metalloid::cpu::validation {

class SiteTableBuilder {
 public:
  SiteTableBuilder(const llvm::Function& kernel, std::span<llvm::Function* const> linked,
                   std::span<const device::Slot> slots)
      : provenance_(kernel, linked, slots) {}

  // The number of the new site. A place in the standard library is that of the user's line which led there.
  uint32_t add(const llvm::Instruction& at, uint32_t flags, uint32_t alignment, llvm::ArrayRef<Root> roots);

  const Provenance& provenance() const { return provenance_; }

  // Once threadgroup variables have their places.
  void write(llvm::Module& module, const lower::ThreadgroupLayout& layout);

 private:
  struct SiteRecord {
    SourcePlace place;
    uint32_t flags, alignment, first_root, root_count;
  };

  Provenance provenance_;
  std::vector<SiteRecord> sites_;
  std::vector<Root> roots_;
};

}  // namespace metalloid::cpu::validation
