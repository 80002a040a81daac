#include "cpu/validation/regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cpu/pipeline.hpp"
#include "device/allocations.hpp"

namespace metalloid::cpu::validation {

namespace {

const Region* containing(const std::vector<Region>& regions, uint64_t address, uint64_t bytes) {
  const auto found = std::ranges::find_if(regions, [&](const Region& r) { return r.contains(address, bytes); });
  return found == regions.end() ? nullptr : &*found;
}

uint64_t distance(const Region& region, uint64_t address) {
  if (address < region.start) return region.start - address;
  return address - region.start < region.bytes ? 0 : address - region.start - region.bytes;
}

}  // namespace

Regions::Regions(const GridState& grid, const SiteTable& table) : grid_(grid), table_(table) {
  unwatched_.kind = Region::Kind::unwatched;
  const auto& slots = grid.pipeline->slots;
  for (uint32_t i = 0; i < slots.size(); ++i) {
    Region& region = slots_.emplace_back();
    region.start = grid.arguments[i].value;
    region.bytes = grid.arguments[i].length;
    region.slot = i;
    region.name = grid.pipeline->slot_names()[i];
    if (slots[i].kind == ParameterKind::threadgroup_memory)
      region.kind = Region::Kind::threadgroup;
    else if (const auto buffer = device::Allocations::shared().find(region.start))
      region.bytes_before = region.start - buffer->address;
  }
  for (uint64_t i = 0; i < table.threadgroup_variable_count; ++i) {
    const ThreadgroupVariable& variable = table.threadgroup_variables[i];
    variables_.push_back({Region::Kind::threadgroup, variable.offset, variable.bytes, 0, true, ~0u, variable.name});
  }
  for (uint64_t i = 0; i < table.constant_variable_count; ++i) {
    const ConstantVariable& variable = table.constant_variables[i];
    constants_.push_back({Region::Kind::constant, reinterpret_cast<uint64_t>(variable.address), variable.bytes, 0, true,
                          ~0u, variable.name});
  }
  find_what_is_only_read();
}

// A buffer that no site writes, nor overlaps with one that is written. Nothing can race there.
void Regions::find_what_is_only_read() {
  std::vector<bool> is_written(slots_.size());
  for (uint64_t i = 0; i < table_.site_count; ++i) {
    const Site& site = table_.sites[i];
    if (!(site.flags & access_writes)) continue;
    for (const Root& root : std::span(table_.roots + site.first_root, site.root_count)) {
      if (root.kind == RootKind::unknown) return;
      if (root.kind == RootKind::slot) is_written[root.index] = true;
    }
  }
  for (Region& region : slots_)
    region.is_written = std::ranges::any_of(slots_, [&](const Region& other) {
      return is_written[other.slot] && region.start - region.bytes_before < other.start + other.bytes &&
             other.start - other.bytes_before < region.start + region.bytes;
    });
}

void Regions::threadgroup_started(const ThreadgroupState& threadgroup) {
  const auto memory = reinterpret_cast<uint64_t>(threadgroup.memory);
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].kind == Region::Kind::threadgroup) slots_[i].start = memory + grid_.arguments[i].value;
  for (size_t i = 0; i < variables_.size(); ++i) variables_[i].start = memory + table_.threadgroup_variables[i].offset;
}

const Region* Regions::find(const Site& site, uint64_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < site.root_count; ++i) {
    const Root& root = table_.roots[site.first_root + i];
    const Region* region = root.kind == RootKind::unknown          ? find_anywhere(address, bytes)
                           : root.kind == RootKind::private_memory ? find_private(address)
                                                                   : region_of(root);
    if (region && (region == &unwatched_ || region->contains(address, bytes))) return region;
  }
  return nullptr;
}

const Region* Regions::nearest(const Site& site, uint64_t address) const {
  const Region* best = nullptr;
  for (uint32_t i = 0; i < site.root_count; ++i) {
    const Region* region = region_of(table_.roots[site.first_root + i]);
    if (region && (!best || distance(*region, address) < distance(*best, address))) best = region;
  }
  return best;
}

const Region* Regions::region_of(const Root& root) const {
  switch (root.kind) {
    case RootKind::slot:
      return &slots_[root.index];
    case RootKind::threadgroup_variable:
      return &variables_[root.index];
    case RootKind::constant_variable:
      return &constants_[root.index];
    case RootKind::private_memory:
    case RootKind::switched_off:
    case RootKind::null:
    case RootKind::unknown:
      break;
  }
  return nullptr;
}

const Region* Regions::find_anywhere(uint64_t address, uint64_t bytes) {
  for (const auto* regions : {&slots_, &variables_, &constants_, &allocations_})
    if (const Region* region = containing(*regions, address, bytes)) return region;
  if (const Region* region = find_private(address)) return region;
  return find_allocation(address, bytes);
}

// A thread's own variables are on the stack that this function was called on.
const Region* Regions::find_private(uint64_t address) const {
  constexpr uint64_t stack_size = 256 << 10;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  return address - here + stack_size < 2 * stack_size ? &unwatched_ : nullptr;
}

const Region* Regions::find_allocation(uint64_t address, uint64_t bytes) {
  const device::Allocations& all = device::Allocations::shared();
  if (all.is_empty()) return &unwatched_;  // the program keeps no account of them
  const auto allocation = all.find(address);
  if (!allocation) return nullptr;
  const Region region = {Region::Kind::allocation, allocation->address, allocation->length, 0, true, ~0u,
                         allocation->label};
  if (!region.contains(address, bytes)) return nullptr;
  allocations_.push_back(region);
  return &allocations_.back();
}

std::string Regions::describe(const Region& region) const {
  switch (region.kind) {
    case Region::Kind::buffer: {
      const auto allocation = device::Allocations::shared().find(region.start);
      const std::string label = allocation && !allocation->label.empty() && allocation->label != region.name
                                    ? fmt::format(" (label \"{}\")", allocation->label)
                                    : "";
      return fmt::format("buffer {} \"{}\"{}", grid_.pipeline->slots[region.slot].index, region.name, label);
    }
    case Region::Kind::threadgroup:
      if (region.slot == ~0u) return fmt::format("threadgroup variable \"{}\"", region.name);
      return fmt::format("threadgroup memory {} \"{}\"", grid_.pipeline->slots[region.slot].index, region.name);
    case Region::Kind::constant:
      return fmt::format("constant \"{}\"", region.name);
    case Region::Kind::allocation:
      return region.name.empty() ? fmt::format("a buffer of {} bytes without a label", region.bytes)
                                 : fmt::format("the buffer with label \"{}\"", region.name);
    case Region::Kind::unwatched:
      break;
  }
  return "memory";
}

}  // namespace metalloid::cpu::validation
