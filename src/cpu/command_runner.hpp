// Carries out the commands of a submission, one kind of command after the other.
#pragma once

#include <vector>

#include "cpu/grid.hpp"
#include "device/device.hpp"

namespace metalloid::cpu {

class CommandRunner {
 public:
  explicit CommandRunner(ThreadPool& pool) : pool_(pool), grids_(pool) {}

  // After a fault, what would touch memory is left out; events are still signalled and waited for, so that no one else
  // waits in vain.
  void run(device::Submission& submission);

 private:
  void run(const device::CommandList& list);
  void run(const device::Command& command);

  void carry_out(const device::Dispatch& dispatch);
  void carry_out(const device::Copy& copy);
  void carry_out(const device::Fill& fill);
  void carry_out(const device::SignalEvent& signal);
  void carry_out(const device::WaitEvent& wait);
  void carry_out(const device::Timestamp& timestamp);
  void carry_out(const device::HostWork& host);
  void carry_out(const device::LibraryWork& work);
  void carry_out(const device::Deferred& deferred);
  void carry_out(const device::BeginGroup& group);
  void carry_out(const device::EndGroup& group);

  const char* encoder_label() const;  // null if there is none

  ThreadPool& pool_;
  GridRunner grids_;
  std::vector<device::BeginGroup> groups_;
  device::Submission* submission_ = nullptr;
  device::Outcome outcome_;
};

}  // namespace metalloid::cpu
