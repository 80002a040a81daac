// Runs a kernel's groups on AArch64 Linux with nothing but system calls. It is linked to two objects of a kernel, one
// for groups of 32 lanes and one for smaller ones, reads a launch (launch.hpp) and writes what the kernel leaves
// behind.
//
// Each group of a threadgroup has its own stack and runs until it waits or ends; when all that are left wait, they have
// met at their barrier.
#include "cpu/stack_switch.hpp"
#include "launch.hpp"

using namespace metalloid::cpu;
using namespace metalloid::cpu::neon;

extern "C" {
void metalloid_entry(ThreadState*) asm("metalloid.entry");
void metalloid_partial_entry(ThreadState*) asm("metalloid.partial_entry");
extern const ObjectLayout metalloid_layout asm("metalloid.layout");
}

namespace {

// System calls.

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long x8 asm("x8") = number, x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = d,
                   x4 asm("x4") = e, x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

constexpr long page = 4096;

[[noreturn]] void end(long status) {
  for (;;) call(93, status);
}

void transfer(long number, long file, unsigned char* bytes, uint64_t count) {
  while (count > 0) {
    const long done = call(number, file, reinterpret_cast<long>(bytes), static_cast<long>(count));
    if (done <= 0) end(3);
    bytes += done;
    count -= static_cast<uint64_t>(done);
  }
}
void read(void* bytes, uint64_t count) {
  transfer(63, 0, static_cast<unsigned char*>(bytes), count);
}
void write(void* bytes, uint64_t count) {
  transfer(64, 1, static_cast<unsigned char*>(bytes), count);
}

// So many bytes of pages, and one behind them that nobody may touch.
unsigned char* map(uint64_t bytes) {
  const long pages = (static_cast<long>(bytes) + page - 1) / page * page;
  constexpr long readable_and_writable = 3, private_and_anonymous = 0x22;
  const long start = call(222, 0, pages + page, readable_and_writable, private_and_anonymous, -1, 0);
  if (start < 0) end(4);
  call(226, start + pages, page, 0);
  return reinterpret_cast<unsigned char*>(start + pages) - bytes;
}

// Groups.

constexpr uint32_t most_groups = 32;
constexpr uint64_t stack_bytes = 2 << 20;

enum class Progress { runs, waits, ended };

struct Group : ThreadState {
  void (*entry)(ThreadState*);
  unsigned char* stack;
  StackPointer left_at;
  Progress progress;
  uint32_t table[3 * width];
};

Group groups[most_groups];
StackPointer scheduler;

void leave(Group& group, Progress progress) {
  group.progress = progress;
  metalloid_switch_stack(&group.left_at, scheduler);
}

void run_group(void* argument) {
  Group& group = *static_cast<Group*>(argument);
  group.entry(&group);
  leave(group, Progress::ended);
}

Size position_of(uint32_t index, Size size) {
  return {index % size.x, index / size.x % size.y, index / size.x / size.y};
}

void place(Group& group, uint32_t number, const ThreadgroupState& threadgroup) {
  const Size size = threadgroup.threads;
  const uint32_t first = number * width, left = size.x * size.y * size.z - first;
  group.threadgroup = &threadgroup;
  group.index = first;
  group.position = position_of(first, size);
  group.lanes = left < width ? left : width;
  group.lane_positions = group.table;
  group.groups = 1;
  group.positions = &group.position;
  for (uint32_t lane = 0; lane < group.lanes; ++lane) {
    const Size position = position_of(first + lane, size);
    group.table[lane] = position.x;
    group.table[width + lane] = position.y;
    group.table[2 * width + lane] = position.z;
  }
  group.entry = group.lanes == width ? metalloid_entry : metalloid_partial_entry;
  if (!group.stack) group.stack = map(stack_bytes);
  group.left_at = make_stack(group.stack + stack_bytes, run_group, &group);
  group.progress = Progress::runs;
}

// Whether somebody is left who waits.
bool run_until_all_wait(uint32_t count) {
  bool somebody_runs = true, somebody_waits = false;
  while (somebody_runs) {
    somebody_runs = somebody_waits = false;
    for (uint32_t i = 0; i < count; ++i) {
      if (groups[i].progress == Progress::runs) metalloid_switch_stack(&scheduler, groups[i].left_at);
      somebody_runs |= groups[i].progress == Progress::runs;
      somebody_waits |= groups[i].progress == Progress::waits;
    }
  }
  return somebody_waits;
}

void run_threadgroup(const ThreadgroupState& threadgroup) {
  for (uint64_t i = 0; i < metalloid_layout.initial_bytes; ++i)
    threadgroup.memory[i] = static_cast<unsigned char>(metalloid_layout.initial[i]);
  const Size size = threadgroup.threads;
  const uint32_t count = (size.x * size.y * size.z + width - 1) / width;
  if (count > most_groups) end(5);
  for (uint32_t i = 0; i < count; ++i) place(groups[i], i, threadgroup);
  while (run_until_all_wait(count))
    for (uint32_t i = 0; i < count; ++i)
      if (groups[i].progress == Progress::waits) groups[i].progress = Progress::runs;
}

uint32_t smaller(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

void run_grid(const GridState& grid, unsigned char* memory) {
  const Size count = grid.threadgroups_per_grid, size = grid.threads_per_threadgroup, all = grid.threads_per_grid;
  for (uint32_t i = 0; i < count.x * count.y * count.z; ++i) {
    const Size at = position_of(i, count);
    run_threadgroup({&grid,
                     memory,
                     at,
                     {smaller(size.x, all.x - at.x * size.x), smaller(size.y, all.y - at.y * size.y),
                      smaller(size.z, all.z - at.z * size.z)}});
  }
}

void run_launch() {
  LaunchHeader launch;
  ArgumentHeader headers[most_arguments];
  Argument arguments[most_arguments];
  read(&launch, sizeof launch);
  read(headers, launch.arguments * sizeof *headers);
  uint64_t threadgroup_bytes = metalloid_layout.threadgroup_bytes;
  for (uint32_t i = 0; i < launch.arguments; ++i) {
    arguments[i].length = headers[i].length;
    if (headers[i].is_threadgroup_memory) {
      threadgroup_bytes = (threadgroup_bytes + 15) / 16 * 16;
      arguments[i].value = threadgroup_bytes;
      threadgroup_bytes += headers[i].length;
    } else {
      unsigned char* bytes = map(headers[i].length);
      read(bytes, headers[i].length);
      arguments[i].value = reinterpret_cast<uint64_t>(bytes);
    }
  }
  const Size grid = launch.grid, threads = launch.threadgroup;
  run_grid({arguments,
            grid,
            {(grid.x + threads.x - 1) / threads.x, (grid.y + threads.y - 1) / threads.y,
             (grid.z + threads.z - 1) / threads.z},
            threads},
           map((threadgroup_bytes + 127) / 128 * 128));
  for (uint32_t i = 0; i < launch.arguments; ++i)
    if (!headers[i].is_threadgroup_memory) write(reinterpret_cast<void*>(arguments[i].value), arguments[i].length);
}

}  // namespace

// What kernels call.
extern "C" {

void wait_at_barrier(ThreadState* state) asm("metalloid.wait_at_barrier");
void wait_at_barrier(ThreadState* state) {
  leave(*static_cast<Group*>(state), Progress::waits);
}

void let_others_run(ThreadState* state) asm("metalloid.let_others_run");
void let_others_run(ThreadState* state) {
  leave(*static_cast<Group*>(state), Progress::runs);
}

void run_as_partial(ThreadState* state) asm("metalloid.run_as_partial");
void run_as_partial(ThreadState* state) {
  metalloid_partial_entry(state);
}

void* memcpy(void* to, const void* from, size_t count) {
  for (size_t i = 0; i < count; ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  return to;
}

void* memset(void* to, int value, size_t count) {
  for (size_t i = 0; i < count; ++i) static_cast<char*>(to)[i] = static_cast<char>(value);
  return to;
}

[[noreturn]] void _start() {
  run_launch();
  end(0);
}
}
