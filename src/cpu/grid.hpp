// A dispatch: its threadgroups, spread over the cores.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cpu/ranges.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/validation/report.hpp"
#include "cpu/vector/plan.hpp"
#include "device/device.hpp"

namespace metalloid::cpu {

// Of thread or threadgroup `number`, counting x first.
device::Size position_of(uint64_t number, device::Size size);

// The threads of a threadgroup: fewer than its full size at a ragged edge of the grid.
device::Size threads_of(device::Size position, device::Size full_size, device::Size grid);

// What a queue keeps between dispatches, so that none of them allocates.
class GridRunner {
 public:
  explicit GridRunner(ThreadPool& pool) : pool_(pool) {}

  // Shader validation reports only so much about one submission.
  void submission_started() { report_limit_.submission_started(); }
  void submission_ended(const std::function<void(const device::Log&)>& log) { report_limit_.submission_ended(log); }

  // The first fault, if there was one: threadgroups that had not started then do not run.
  std::optional<device::Fault> run(const device::Dispatch& dispatch, const std::function<void(const device::Log&)>& log,
                                   const char* encoder_label);

 private:
  GridState prepare(const device::Dispatch& dispatch, device::Size threads);

  ThreadPool& pool_;
  validation::ReportLimit report_limit_;
  std::vector<device::Argument> arguments_;
  vector::GridPlan plan_;
};

}  // namespace metalloid::cpu
