#include "cpu/validation/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cpu/pipeline.hpp"

namespace metalloid::cpu::validation {

namespace {

// Reading this much of what was never written is a mistake even in a copy of a struct that has padding.
constexpr uint64_t more_than_padding = 16;

const char* verb(const Site& site) {
  if (site.flags & access_is_atomic) return "atomic access";
  return site.flags & access_writes ? "write" : "read";
}

bool is_same(const std::byte* memory, const void* value, uint64_t bytes, bool is_fill) {
  if (!is_fill) return std::memcmp(memory, value, bytes) == 0;
  const std::byte filling = *static_cast<const std::byte*>(value);
  return std::all_of(memory, memory + bytes, [&](std::byte present) { return present == filling; });
}

}  // namespace

Validator::Validator(const GridState& grid, const SiteTable& table, ReportLimit& limit)
    : grid_(grid), table_(table), reporter_(grid, limit), regions_(grid, table) {}

void* Validator::access(const ThreadState& thread, void* address, uint64_t bytes, uint32_t site, const void* value) {
  if (bytes == 0) return address;
  threads_[thread.index].site = site;
  last_thread_ = thread.index;
  const Attempt attempt{table_.sites[site], site, thread.index, reinterpret_cast<uint64_t>(address), bytes, value};
  return is_allowed(attempt) ? address : harmless(bytes);
}

void* Validator::matrix(const ThreadState& thread, void* address, uint64_t elements_per_row, bool transpose,
                        uint32_t element_bytes, uint32_t site) {
  threads_[thread.index].site = site;
  last_thread_ = thread.index;
  const uint32_t lane = thread.index % device::threads_per_simdgroup;
  const uint64_t row = (lane / 4 & 4) + (lane / 2 & 3), column = (lane / 4 & 2) * 2 + (lane & 1) * 2;
  bool allowed = true;
  for (uint64_t i = 0; i < 2; ++i) {
    const uint64_t element = transpose ? (column + i) * elements_per_row + row : row * elements_per_row + column + i;
    const uint64_t place = reinterpret_cast<uint64_t>(address) + element * element_bytes;
    allowed &= is_allowed({table_.sites[site], site, thread.index, place, element_bytes, nullptr});
  }
  return allowed ? address : std::memset(&harmless_matrix_, 0, sizeof harmless_matrix_);
}

void Validator::at_fence(const ThreadState& thread, uint32_t site) {
  threads_[thread.index].site = site;
  races_.fence_passed(thread.index);
}

void Validator::in_loop(const ThreadState& thread, uint32_t site) {
  threads_[thread.index].site = site;
  last_thread_ = thread.index;
}

bool Validator::is_allowed(const Attempt& attempt) {
  const Region* region = regions_.find(attempt.site, attempt.address, attempt.bytes);
  if (!region) {
    report_out_of_bounds(attempt);
    return false;
  }
  if (region->kind == Region::Kind::unwatched) return true;
  const bool is_aligned = attempt.address % attempt.site.alignment == 0;
  if (!is_aligned) check_alignment(attempt, *region);
  if (!is_aligned && attempt.is(access_is_atomic)) return false;
  if (region->kind == Region::Kind::threadgroup) {
    const uint64_t offset = attempt.address - reinterpret_cast<uint64_t>(memory_);
    check_initialised(attempt, *region, offset);
    check_race(attempt, *region, MemoryKind::threadgroup, offset);
  } else if (region->kind != Region::Kind::constant && region->is_written && !attempt.is(access_is_constant)) {
    check_race(attempt, *region, MemoryKind::device, attempt.address);
  }
  return true;
}

void* Validator::harmless(uint64_t bytes) {
  harmless_.assign(std::max<uint64_t>(bytes / sizeof(HarmlessUnit) + 1, harmless_.size()), {});
  return harmless_.data();
}

void Validator::check_alignment(const Attempt& attempt, const Region& region) {
  if (!reporter_.wants(Mistake::misaligned, attempt.site)) return;
  reporter_.add(
      {Mistake::misaligned, &attempt.site, nullptr,
       fmt::format("{} of {} at address {:#x}", verb(attempt.site), bytes_of(attempt, region), attempt.address),
       done_by(attempt.thread),
       fmt::format("the type needs an alignment of {}; use a packed type or load its elements one by one",
                   attempt.site.alignment)});
}

void Validator::check_initialised(const Attempt& attempt, const Region& region, uint64_t offset) {
  uint8_t* const first = initialised_.data() + offset;
  uint8_t* const last = first + attempt.bytes;
  if (attempt.is(access_reads) && !attempt.is(access_is_exchange)) {
    uint64_t missing = 0, longest = 0, run = 0;
    for (const uint8_t* byte = first; byte < last; ++byte) {
      run = *byte ? 0 : run + 1;
      missing += *byte ? 0 : 1;
      longest = std::max(longest, run);
    }
    const bool is_mistake =
        attempt.is(access_is_copy) ? missing == attempt.bytes || longest >= more_than_padding : missing > 0;
    if (is_mistake && !uninitialised_reads_.contains(attempt.site_number))
      uninitialised_reads_[attempt.site_number] = {
          Mistake::uninitialised,
          &attempt.site,
          nullptr,
          fmt::format("{}, which no thread of the threadgroup has written", bytes_of(attempt, region)),
          done_by(attempt.thread),
          "threadgroup memory holds whatever was there before; write it first, then pass a barrier"};
  }
  if (attempt.is(access_writes)) std::fill(first, last, 1);
}

void Validator::check_race(const Attempt& attempt, const Region& region, MemoryKind memory, uint64_t address) {
  const MemoryAccess access{memory,
                            address,
                            attempt.bytes,
                            attempt.thread,
                            attempt.site_number,
                            attempt.is(access_reads),
                            attempt.is(access_writes),
                            attempt.is(access_is_atomic),
                            attempt.is(access_is_matrix)};
  const auto before = races_.access(access, [&] {
    return !attempt.value || !is_same(reinterpret_cast<const std::byte*>(attempt.address), attempt.value, attempt.bytes,
                                      attempt.is(access_is_fill));
  });
  if (!before) return;
  uninitialised_reads_.erase(attempt.site_number);
  uninitialised_reads_.erase(before->site);
  report_race(attempt, region, *before, memory);
}

void Validator::report_uninitialised_reads() {
  for (const auto& [site, report] : uninitialised_reads_)
    if (reporter_.wants(report.mistake, *report.site)) reporter_.add(report);
  uninitialised_reads_.clear();
}

void Validator::report_out_of_bounds(const Attempt& attempt) {
  const Region* meant = regions_.nearest(attempt.site, attempt.address);
  const bool is_unbound = meant && meant->kind == Region::Kind::buffer && meant->start == 0;
  const Mistake mistake = is_unbound ? Mistake::unbound : Mistake::out_of_bounds;
  if (!reporter_.wants(mistake, attempt.site)) return;
  Report report{mistake, &attempt.site, nullptr, {}, done_by(attempt.thread), {}};
  if (is_unbound) {
    const uint32_t index = grid_.pipeline->slots[meant->slot].index;
    report.what = fmt::format("{} of {} bytes at byte {} of {}, which nothing is bound to", verb(attempt.site),
                              attempt.bytes, attempt.address, regions_.describe(*meant));
    report.hint = fmt::format("bind it with setBuffer(…, {}) or setBytes(…, {}) before the dispatch", index, index);
  } else if (meant) {
    report.what =
        fmt::format("{} of {}, which has {} bytes", verb(attempt.site), bytes_of(attempt, *meant), meant->bytes);
    report.hint = meant->kind == Region::Kind::buffer
                      ? "compare the index with the number of elements, or make the buffer larger"
                  : meant->slot != ~0u ? "compare the index with what setThreadgroupMemoryLength was given"
                                       : "compare the index with the size of the array";
  } else {
    report.what = fmt::format("{} of {} bytes at address {:#x}, which is in no buffer", verb(attempt.site),
                              attempt.bytes, attempt.address);
    report.hint = "the pointer comes from memory: was it set, and does its buffer still exist?";
  }
  reporter_.add(report);
}

void Validator::report_race(const Attempt& attempt, const Region& region, const Access& before, MemoryKind memory) {
  const Site& other = table_.sites[before.site];
  if (!reporter_.wants(Mistake::race, attempt.site, &other)) return;
  const char* flag = memory == MemoryKind::device ? "mem_device" : "mem_threadgroup";
  const bool same_threadgroup = before.threadgroup == threadgroup_;
  const bool same_simdgroup = same_threadgroup && before.thread / device::threads_per_simdgroup ==
                                                      attempt.thread / device::threads_per_simdgroup;
  Report report{Mistake::race, &attempt.site, &other, bytes_of(attempt, region), {}, {}};
  report.details = fmt::format("  {} by {}, after\n  {}: {} by {}\n", verb(attempt.site),
                               reporter_.thread(threadgroup_, attempt.thread), Reporter::place(other), verb(other),
                               reporter_.thread(before.threadgroup, before.thread));
  if (!same_threadgroup)
    report.hint =
        "threadgroups run in any order: give each its own elements, use atomics, or split the work into two dispatches";
  else if ((attempt.site.flags | other.flags) & access_is_atomic)
    report.hint =
        fmt::format("make both accesses atomic, or put threadgroup_barrier(mem_flags::{}) between them", flag);
  else if (same_simdgroup)
    report.hint = fmt::format(
        "put simdgroup_barrier(mem_flags::{}) between them: lanes of a SIMD-group do not run in step", flag);
  else
    report.hint = fmt::format("put threadgroup_barrier(mem_flags::{}) between them", flag);
  reporter_.add(report);
}

// "bytes 12..15 of buffer 0 "values""; before its start they are negative.
std::string Validator::bytes_of(const Attempt& attempt, const Region& region) const {
  const auto first = static_cast<int64_t>(attempt.address - region.start);
  return fmt::format("bytes {}..{} of {}", first, first + static_cast<int64_t>(attempt.bytes) - 1,
                     regions_.describe(region));
}

std::string Validator::done_by(uint32_t thread) const {
  return fmt::format("  by {}\n", reporter_.thread(threadgroup_, thread));
}

void Validator::threadgroup_started(const ThreadgroupState& threadgroup) {
  memory_ = threadgroup.memory;
  const device::Size& groups = grid_.threadgroups_per_grid;
  const device::Size& at = threadgroup.position;
  threadgroup_ = static_cast<uint32_t>((uint64_t{at.z} * groups.y + at.y) * groups.x + at.x);
  thread_count_ = static_cast<uint32_t>(threadgroup.threads.count());
  threads_.assign(thread_count_, {});
  initialised_.assign(grid_.threadgroup_memory, 0);
  for (uint64_t i = 0; i < table_.threadgroup_variable_count; ++i) {
    const ThreadgroupVariable& variable = table_.threadgroup_variables[i];
    if (variable.is_initialised)
      std::fill_n(initialised_.begin() + static_cast<ptrdiff_t>(variable.offset), variable.bytes, 1);
  }
  regions_.threadgroup_started(threadgroup);
  races_.threadgroup_started(threadgroup_);
}

void Validator::thread_started(const ThreadState& thread) {
  last_thread_ = thread.index;
}

void Validator::thread_ended(const ThreadState& thread) {
  threads_[thread.index].has_ended = true;
}

void Validator::lanes_met(const ThreadgroupState&, uint32_t first, uint32_t active) {
  races_.lanes_met(first, active);
}

void Validator::barrier_passed(const ThreadgroupState&, uint32_t flags) {
  report_uninitialised_reads();
  races_.barrier_passed(flags);
  const auto waiting = std::ranges::find(threads_, false, &Progress::has_ended);
  if (waiting == threads_.end() || waiting->site == no_site) return;
  const Site& here = table_.sites[waiting->site];
  const auto index = [&](const auto& thread) { return static_cast<uint32_t>(thread - threads_.begin()); };
  const auto different = std::ranges::find_if(
      threads_, [&](const Progress& thread) { return thread.has_ended || thread.site != waiting->site; });
  if (different == threads_.end()) return;
  const Site* there = different->has_ended || different->site == no_site ? nullptr : &table_.sites[different->site];
  if (!reporter_.wants(Mistake::barrier, here, there)) return;
  Report report{Mistake::barrier, &here, there, "", "", ""};
  report.what = there ? "other threads of the threadgroup wait at another barrier"
                      : "other threads of the threadgroup have ended without it";
  report.details = fmt::format("  {} waits here\n  ", reporter_.thread(threadgroup_, index(waiting)));
  report.details += there ? fmt::format("{}: {} waits there\n", Reporter::place(*there),
                                        reporter_.thread(threadgroup_, index(different)))
                          : fmt::format("{} has ended\n", reporter_.thread(threadgroup_, index(different)));
  report.hint =
      "all threads of a threadgroup must execute the same barriers: keep them out of divergent branches and "
      "loops, and after no return";
  reporter_.add(report);
}

void Validator::threadgroup_ended(const ThreadgroupState&) {
  report_uninitialised_reads();
}

void Validator::stopped(const FaultCause& cause) {
  if (cause.kind != device::FaultKind::timeout || last_thread_ >= threads_.size()) return;
  const Progress& last = threads_[last_thread_];
  if (last.site == no_site || !reporter_.wants(Mistake::endless, table_.sites[last.site])) return;
  const auto unfinished = std::ranges::count(threads_, false, &Progress::has_ended);
  reporter_.add(
      {Mistake::endless, &table_.sites[last.site], nullptr,
       fmt::format("{} of {} threads of the threadgroup had not ended when it was stopped", unfinished, thread_count_),
       fmt::format("  {} was here last\n", reporter_.thread(threadgroup_, last_thread_)),
       "does the loop's condition ever become false? METALLOID_TIMEOUT sets the limit in seconds"});
}

}  // namespace metalloid::cpu::validation
