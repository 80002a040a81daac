// What shader validation says about a kernel, and how often: one report for each kind of mistake and pair of places in
// a dispatch, and no more than a hundred in a submission.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "cpu/thread_state.hpp"
#include "cpu/validation/site_table.hpp"
#include "device/device.hpp"

namespace metalloid::cpu::validation {

enum class Mistake : uint8_t { out_of_bounds, unbound, misaligned, uninitialised, race, barrier, endless };

using LogFunction = std::function<void(const device::Log&)>;

// Of a submission.
class ReportLimit {
 public:
  void submission_started() { reported_ = left_out_ = 0; }
  bool take() { return reported_ < max_reports ? (++reported_, true) : (++left_out_, false); }
  // Says how many reports were left out, if any.
  void submission_ended(const LogFunction& log) const;

 private:
  static constexpr uint32_t max_reports = 100;
  uint32_t reported_ = 0, left_out_ = 0;
};

// A report in the making: the mistake, where it was made, and lines of text about it.
struct Report {
  Mistake mistake = Mistake::out_of_bounds;
  const Site* site = nullptr;
  const Site* other_site = nullptr;
  std::string what;     // after "data race in kernel "x": "
  std::string details;  // further lines, each with its end
  std::string hint;
};

class Reporter {
 public:
  Reporter(const GridState& grid, ReportLimit& limit) : grid_(grid), limit_(limit) {}

  // Whether such a report is still to be made; if so, it counts as made.
  bool wants(Mistake mistake, const Site& site, const Site* other_site = nullptr);
  void add(const Report& report) const;

  // "thread (3, 0, 0) of threadgroup (1, 0, 0), (67, 0, 0) in the grid"
  std::string thread(uint64_t threadgroup, uint32_t index) const;
  static std::string place(const Site& site);  // "race.metal:14:17"

 private:
  const GridState& grid_;
  ReportLimit& limit_;
  using Place = std::tuple<const char*, uint32_t, uint32_t>;
  std::set<std::tuple<Mistake, Place, Place>> made_;
};

}  // namespace metalloid::cpu::validation
