// Shader validation of one dispatch: the engine tells it what threads do (EngineEvents), instrumented code asks it
// before each access to memory (runtime.cpp), and it reports what is wrong. Its threadgroups run one after the other on
// one thread, so reports are the same every time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cpu/engine_events.hpp"
#include "cpu/faults.hpp"
#include "cpu/validation/races.hpp"
#include "cpu/validation/regions.hpp"
#include "cpu/validation/report.hpp"
#include "cpu/validation/site_table.hpp"

namespace metalloid::cpu::validation {

class Validator final : public EngineEvents {
 public:
  Validator(const GridState& grid, const SiteTable& table, ReportLimit& limit);

  // Where the access may be made: at the address, or where it does no harm. `value` is what a write will leave there;
  // null if that is not known.
  void* access(const ThreadState& thread, void* address, uint64_t bytes, uint32_t site, const void* value);
  // The same for a lane's two elements of an 8×8 matrix; all of a matrix of 8 elements per row fits where the answer
  // points if it is another address.
  void* matrix(const ThreadState& thread, void* address, uint64_t elements_per_row, bool transpose,
               uint32_t element_bytes, uint32_t site);
  void at_barrier(const ThreadState& thread, uint32_t site) { threads_[thread.index].site = site; }
  void at_fence(const ThreadState& thread, uint32_t site);
  void in_loop(const ThreadState& thread, uint32_t site);

  // The threadgroup was abandoned.
  void stopped(const FaultCause& cause);

  void threadgroup_started(const ThreadgroupState& threadgroup) override;
  void thread_started(const ThreadState& thread) override;
  void thread_ended(const ThreadState& thread) override;
  void lanes_met(const ThreadgroupState& threadgroup, uint32_t first, uint32_t active) override;
  void barrier_passed(const ThreadgroupState& threadgroup, uint32_t flags) override;
  void threadgroup_ended(const ThreadgroupState& threadgroup) override;

 private:
  static constexpr uint32_t no_site = ~0u;

  // What a thread did last.
  struct Progress {
    uint32_t site = no_site;
    bool has_ended = false;
  };

  // An access that is being looked at.
  struct Attempt {
    const Site& site;
    uint32_t site_number, thread;
    uint64_t address, bytes;
    const void* value;

    bool is(uint32_t flags) const { return (site.flags & flags) != 0; }
  };

  bool is_allowed(const Attempt& attempt);
  void* harmless(uint64_t bytes);
  void check_alignment(const Attempt& attempt, const Region& region);
  void check_initialised(const Attempt& attempt, const Region& region, uint64_t offset);
  void check_race(const Attempt& attempt, const Region& region, MemoryKind memory, uint64_t address);

  void report_out_of_bounds(const Attempt& attempt);
  void report_uninitialised_reads();
  void report_race(const Attempt& attempt, const Region& region, const Access& before, MemoryKind memory);
  std::string bytes_of(const Attempt& attempt, const Region& region) const;
  std::string done_by(uint32_t thread) const;

  const GridState& grid_;
  const SiteTable& table_;
  Reporter reporter_;
  Regions regions_;
  RaceDetector races_;

  const std::byte* memory_ = nullptr;  // of the present threadgroup
  uint32_t threadgroup_ = 0;           // its number
  uint32_t thread_count_ = 0;
  uint32_t last_thread_ = 0;
  std::vector<Progress> threads_;
  std::vector<uint8_t> initialised_;  // of threadgroup memory, for each byte
  // By site, since the last barrier: one that races with a write later on is that mistake and no other.
  std::map<uint32_t, Report> uninitialised_reads_;
  struct alignas(64) HarmlessUnit {
    std::byte bytes[64];
  };
  std::vector<HarmlessUnit> harmless_;
  HarmlessUnit harmless_matrix_[4];  // lanes come back to it when they meet, so it stays where it is
};

}  // namespace metalloid::cpu::validation
