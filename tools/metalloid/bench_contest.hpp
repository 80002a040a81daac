// Lets the contenders of a workload run on the same data in turn: each is checked first, and one whose result is wrong
// is not timed.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bench_workload.hpp"

namespace metalloid::tool {

// Someone who can run parts of workloads, one at a time. Failures are std::runtime_error.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void prepare(const Workload& workload, const Part& part) = 0;
  virtual std::vector<double> run(size_t times) = 0;  // milliseconds of each
  virtual std::string read_buffer(uint32_t number) = 0;
  virtual void clear() = 0;
};

// Either a runner and its name, or why there is none. The machine copies in two ways, which take turns with everyone
// else: it has another runner for the second.
struct Entrant {
  std::unique_ptr<Runner> runner;
  std::string name;
  std::string why_not;
  std::unique_ptr<Runner> second_runner = nullptr;
};
using Entrants = std::array<Entrant, contender_count>;

Entrants find_entrants();

struct Result {
  bool present = false;     // it takes part in this workload, and was found
  double milliseconds = 0;  // the median
  double fastest = 0;       // of all runs, in milliseconds
  double rate = 0;          // in 10^9 of the workload's unit per second
  std::string failure;      // why there is no time
};

struct ContestResult {
  std::string name, size, unit;
  std::array<Result, contender_count> results;
  const Result& of(Contender contender) const { return results[static_cast<size_t>(contender)]; }
};

ContestResult hold_contest(const Workload& workload, Entrants& entrants, bool quick);

Entrant find_metal();

}  // namespace metalloid::tool
