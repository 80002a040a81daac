#include "cpu/validation/races.hpp"

#include <algorithm>

#include "device/pipeline.hpp"

namespace metalloid::cpu::validation {

namespace {

constexpr uint32_t device_flag = 1, threadgroup_flag = 2;  // of mem_flags

}  // namespace

void RaceDetector::threadgroup_started(uint32_t number) {
  threadgroup_ = number;
  ++clock_;
}

void RaceDetector::lanes_met(uint32_t first, uint32_t active) {
  ++clock_;
  for (uint32_t lane = 0; lane < device::threads_per_simdgroup; ++lane)
    if (active >> lane & 1) met_[first + lane] = clock_;
}

void RaceDetector::barrier_passed(uint32_t flags) {
  ++clock_;
  if (flags & device_flag) barrier_[static_cast<size_t>(MemoryKind::device)] = clock_;
  if (flags & threadgroup_flag) barrier_[static_cast<size_t>(MemoryKind::threadgroup)] = clock_;
}

bool RaceDetector::ordered_in_threadgroup(const Access& before, const Access& present, MemoryKind memory) const {
  if (before.tick < barrier_[static_cast<size_t>(memory)]) return true;
  if (before.tick < std::min(fenced_[before.thread], fenced_[present.thread])) return true;
  const bool same_simdgroup =
      before.thread / device::threads_per_simdgroup == present.thread / device::threads_per_simdgroup;
  if (!same_simdgroup) return false;
  // A lane's part of a matrix operation is noted before the lanes meet in it, and happens when they do.
  return before.is_matrix != present.is_matrix || before.tick < std::min(met_[before.thread], met_[present.thread]);
}

bool RaceDetector::ordered_by_atomics(const Access& before, const Access& present) const {
  const auto first = atomics_.find(before.threadgroup), second = atomics_.find(present.threadgroup);
  if (first == atomics_.end() || second == atomics_.end()) return false;
  if (first->second.has_more && second->second.has_more) return true;
  return std::ranges::any_of(second->second.places, [&](const Atomics::Place& seen) {
    const auto done = std::ranges::find(first->second.places, seen.address, &Atomics::Place::address);
    return done != first->second.places.end() && done->tick > before.tick;
  });
}

void RaceDetector::note_atomic(uint64_t address) {
  ++clock_;
  Atomics& atomics = atomics_[threadgroup_];
  auto known = std::ranges::find(atomics.places, address, &Atomics::Place::address);
  if (known != atomics.places.end())
    known->tick = clock_;
  else if (atomics.places.size() < Atomics::max_places)
    atomics.places.push_back({address, clock_});
  else
    atomics.has_more = true;
}

}  // namespace metalloid::cpu::validation
