// The threads that oneDNN works with, and we with OpenBLAS: ours in place of OpenMP's.
//
// oneDNN asks the OpenMP runtime for six things. GCC's runtime lets its threads spin for milliseconds after each piece
// of work, and then they are in the way of the device's own threads: a command buffer that has a product and a kernel
// in turn takes a third longer. How long they spin is said in the environment only, which belongs to the program. So
// this module has those six functions itself; oneDNN, which is loaded as a part of it, finds them before OpenMP's.
// (A program that is itself linked with OpenMP has them found first, all six, and keeps OpenMP's threads.)
//
// There is one team, for whoever comes first; others wait. Its threads spin for a time that back-to-back work never
// exceeds, and sleep then. Parts of our own are not a certain thread's: on a machine that is busy with other things, to
// wait for a thread that has no processor takes ten times as long as a small product.
#include "mps/libraries/cpu/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "device/look_again.hpp"

namespace metalloid::mps::cpu {
namespace {

void wait_while(const std::atomic<uint32_t>& value, uint32_t old) {
  constexpr int spins = 4000;  // about a hundred microseconds
  for (int i = 1; i <= spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    device::look_again(uint64_t(i));
  }
  value.wait(old, std::memory_order_acquire);
}

unsigned processors_of_process() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return unsigned(std::max(1, CPU_COUNT(&set)));
}

// Who a thread is in the team it works in at the moment.
struct Membership {
  unsigned number = 0, count = 1;
  bool in_parallel = false;
};
thread_local Membership membership;

class Team {
 public:
  using Work = void (*)(void*);
  using Part = void (*)(void*, unsigned);

  void run(Work work, void* data, unsigned count) {
    const Membership outside = membership;
    if (outside.in_parallel || count == 1) {
      membership = {0, 1, true};
      work(data);
    } else {
      std::lock_guard lock(mutex_);
      need_threads(count - 1);
      work_ = work;
      data_ = data;
      left_.store(count - 1, std::memory_order_relaxed);
      call(count);
      membership = {0, count, true};
      work(data);
      wait_for_others();
    }
    membership = outside;
  }

  // Parts are whoever's that comes first: a thread that is asleep, or kept from its processor by others, is not waited
  // for, and the caller does them all.
  void run_parts(Part part, void* data, unsigned count) {
    const Membership outside = membership;
    if (outside.in_parallel || most_threads() == 1) {
      for (unsigned i = 0; i < count; ++i) part(data, i);
      return;
    }
    std::lock_guard lock(mutex_);
    need_threads(1);
    part_ = part;
    part_data_ = data;
    left_.store(count, std::memory_order_relaxed);
    unclaimed_.store(count, std::memory_order_release);
    call(parts_for_all);
    take_parts(0);
    wait_for_others();
    membership = outside;
  }

  void barrier() {
    if (membership.count == 1) return;
    const uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == membership.count) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      phase_.notify_all();
    } else {
      wait_while(phase_, phase);
    }
  }

 private:
  static constexpr unsigned count_bits = 12, parts_for_all = 0;

  void need_threads(unsigned count) {
    for (; threads_ < count; ++threads_) std::thread(&Team::live, this, threads_ + 1).detach();
  }
  void call(unsigned count) {
    const uint32_t round = (call_.load(std::memory_order_relaxed) >> count_bits) + 1;
    call_.store(round << count_bits | count, std::memory_order_release);
    call_.notify_all();
  }
  void wait_for_others() {
    for (uint32_t left; (left = left_.load(std::memory_order_acquire)) != 0;) wait_while(left_, left);
  }
  void finish_one() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_all();
  }

  // What a part is and how many are left is not changed while somebody has one. A thread that comes late may find parts
  // of a later call, and take them.
  void take_parts(unsigned number) {
    membership = {number, 2, true};
    for (uint32_t unclaimed = unclaimed_.load(std::memory_order_acquire); unclaimed > 0;)
      if (unclaimed_.compare_exchange_weak(unclaimed, unclaimed - 1, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
        part_(part_data_, unclaimed - 1);
        finish_one();
        unclaimed = unclaimed_.load(std::memory_order_acquire);
      }
  }

  // A call says in one word that there is work and for how many: those it does not need look at nothing else.
  void live(unsigned number) {
    for (uint32_t known = 0;;) {
      wait_while(call_, known);
      known = call_.load(std::memory_order_acquire);
      const uint32_t count = known & ((1u << count_bits) - 1);
      if (count == parts_for_all) take_parts(number);
      if (number >= count) continue;
      membership = {number, count, true};
      work_(data_);
      finish_one();
    }
  }

  std::mutex mutex_;
  unsigned threads_ = 0;
  Work work_ = nullptr;
  Part part_ = nullptr;
  void *data_ = nullptr, *part_data_ = nullptr;
  alignas(64) std::atomic<uint32_t> call_ = 0;
  alignas(64) std::atomic<uint32_t> left_ = 0;
  alignas(64) std::atomic<uint32_t> unclaimed_ = 0;
  alignas(64) std::atomic<uint32_t> arrived_ = 0, phase_ = 0;
};

Team& team() {
  static Team& team = *new Team;  // its threads live to the end of the process
  return team;
}

}  // namespace

unsigned most_threads() {
  static const unsigned most = std::min(processors_of_process(), 4095u);
  return most;
}

void run_parts_on_team(unsigned parts, void (*part)(void* data, unsigned index), void* data) {
  team().run_parts(part, data, parts);
}

}  // namespace metalloid::mps::cpu

#define OPENMP_FUNCTION extern "C" __attribute__((visibility("default")))

using namespace metalloid::mps::cpu;

OPENMP_FUNCTION void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned) {
  team().run(work, data, threads == 0 ? most_threads() : std::min(threads, 4095u));
}
OPENMP_FUNCTION void GOMP_barrier() {
  team().barrier();
}
OPENMP_FUNCTION int omp_get_max_threads() {
  return int(most_threads());
}
OPENMP_FUNCTION int omp_get_num_threads() {
  return int(membership.count);
}
OPENMP_FUNCTION int omp_get_thread_num() {
  return int(membership.number);
}
OPENMP_FUNCTION int omp_in_parallel() {
  return membership.in_parallel && membership.count > 1;
}
