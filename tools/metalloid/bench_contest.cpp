#include "bench_contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "bench.hpp"
#include "bench_peer.hpp"

namespace metalloid::tool {

namespace {

class PeerRunner : public Runner {
 public:
  PeerRunner(std::unique_ptr<Peer> peer, bool takes_source) : peer_(std::move(peer)), takes_source_(takes_source) {}

  void prepare(const Workload& workload, const Part& part) override {
    if (takes_source_) peer_->load(kernel_source(workload.source + ".cl"));
    for (const WorkBuffer& buffer : workload.buffers) peer_->add_buffer(buffer.contents, buffer.changes);
    for (const peer::Launch& launch : part.launches) peer_->add_launch(launch);
  }

  std::vector<double> run(size_t times) override {
    std::vector<double> milliseconds = peer_->run(times);
    for (double& time : milliseconds) time /= 1000;
    return milliseconds;
  }

  std::string read_buffer(uint32_t number) override { return peer_->read_buffer(number); }
  void clear() override { peer_->clear(); }

 private:
  std::unique_ptr<Peer> peer_;
  bool takes_source_;
};

Entrant find_peer(const char* program, bool takes_source) {
  auto peer = std::make_unique<Peer>(program);
  if (peer->name().empty()) return {nullptr, "", peer->why_not()};
  std::string name = peer->name();
  return {std::make_unique<PeerRunner>(std::move(peer), takes_source), std::move(name), ""};
}

// The plain loops' peer once more, if it finds OpenBLAS.
Entrant find_openblas() {
  Entrant entrant = find_peer("metalloid-openmp-peer", false);
  if (!entrant.runner) return entrant;
  Workload question;
  constexpr uint32_t size = 256;
  const uint32_t text = question.add_output(size);
  const Part part{Contender::openblas, {{"openblas_config", {}, {}, {peer::buffer(text), peer::scalar(size)}}}};
  try {
    entrant.runner->prepare(question, part);
    entrant.runner->run(1);
    entrant.name = entrant.runner->read_buffer(text).c_str();
    entrant.runner->clear();
  } catch (const std::runtime_error& failure) {
    return {nullptr, "", failure.what()};
  }
  return entrant;
}

double element(const std::string& bytes, Element type, size_t i) {
  auto read = [&]<class T>(T value) {
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  switch (type) {
    case Element::f32:
      return read(float{});
    case Element::f16:
      return device::from_half(read(uint16_t{}));
    case Element::u32:
      return read(uint32_t{});
    case Element::u8:
      return read(uint8_t{});
  }
  return NAN;
}

// What is wrong; empty if nothing is.
std::string find_mistake(const Workload& workload, Runner& runner) {
  for (const Expectation& expected : workload.expectations) {
    const std::string bytes = runner.read_buffer(expected.buffer);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < expected.values.size(); ++i) {
      const double value = element(bytes, expected.element, i);
      const double tolerance = expected.absolute + expected.relative * std::abs(expected.values[i]);
      if (std::abs(value - expected.values[i]) <= tolerance) continue;
      if (wrong++ == 0) first = i;
    }
    if (static_cast<double>(wrong) > expected.outliers * static_cast<double>(expected.values.size()))
      return fmt::format("{} of {} results are wrong; number {} is {}, not {}", wrong, expected.values.size(), first,
                         element(bytes, expected.element, first), expected.values[first]);
  }
  return "";
}

// A part on its way: prepared, checked, and timed in turns.
struct Heat {
  const Part& part;
  Runner& runner;
  size_t untimed_runs = 1, timed_runs = 1;  // of a turn
  std::vector<double> times = {};
  std::string failure = {};
};

void prepare(const Workload& workload, Heat& heat) {
  try {
    heat.runner.prepare(workload, heat.part);
    double fastest = heat.runner.run(1)[0];
    if (heat.part.checked) heat.failure = find_mistake(workload, heat.runner);
    if (!heat.failure.empty()) return;
    fastest = std::min(fastest, heat.runner.run(1)[0]);
    const auto runs_in = [&](double milliseconds, double most) {
      return static_cast<size_t>(std::clamp(milliseconds / fastest, 1.0, most));
    };
    heat.untimed_runs = runs_in(40, 100);
    heat.timed_runs = runs_in(20, 50);
  } catch (const std::runtime_error& failure) {
    heat.failure = failure.what();
  }
}

// The threads of the one before look out for more work for a while, OpenMP's for 7 ms and OpenBLAS's for 26.
constexpr std::chrono::milliseconds until_threads_sleep{30};

// The host of a virtual machine gives processors that have slept less, for a tenth of a second or more: on one of ours,
// two of them reached the pace of one.
void keep_processors_busy(std::chrono::milliseconds time) {
  const auto stay = [end = std::chrono::steady_clock::now() + time] {
    while (std::chrono::steady_clock::now() < end) continue;
  };
  std::vector<std::thread> others(std::max(std::thread::hardware_concurrency(), 1U) - 1);
  for (std::thread& other : others) other = std::thread(stay);
  stay();
  for (std::thread& other : others) other.join();
}

// Turn by turn, until there have been enough, or enough time has passed.
void take_turns(std::vector<Heat>& heats, unsigned turns, double patience_milliseconds) {
  const auto start = std::chrono::steady_clock::now();
  for (unsigned turn = 0; turn < turns && (turn == 0 || milliseconds_since(start) < patience_milliseconds); ++turn)
    for (Heat& heat : heats) {
      if (!heat.failure.empty()) continue;
      keep_processors_busy(until_threads_sleep);
      try {
        // Schedulers put threads that have slept on processors of their own only after some time, and what others left
        // in the last cache takes some runs to go.
        heat.runner.run(heat.untimed_runs);
        for (double time : heat.runner.run(heat.timed_runs)) heat.times.push_back(time);
      } catch (const std::runtime_error& failure) {
        heat.failure = failure.what();
      }
    }
}

}  // namespace

Entrants find_entrants() {
  Entrants entrants;
  auto at = [&](Contender contender) -> Entrant& { return entrants[static_cast<size_t>(contender)]; };
  at(Contender::metal) = find_metal();
  at(Contender::opencl) = find_peer("metalloid-opencl-peer", true);
  at(Contender::openmp) = find_peer("metalloid-openmp-peer", false);
  at(Contender::openblas) = find_openblas();
  at(Contender::machine) = find_peer("metalloid-openmp-peer", false);
  at(Contender::machine).second_runner = find_peer("metalloid-openmp-peer", false).runner;
  return entrants;
}

ContestResult hold_contest(const Workload& workload, Entrants& entrants, bool quick) {
  ContestResult contest{workload.name, workload.size, workload.unit, {}};
  std::vector<Heat> heats;
  std::array<bool, contender_count> is_taken{};
  for (const Part& part : workload.parts) {
    const auto index = static_cast<size_t>(part.contender);
    const Entrant& entrant = entrants[index];
    Runner* runner = std::exchange(is_taken[index], true) ? entrant.second_runner.get() : entrant.runner.get();
    if (runner) heats.push_back({part, *runner});
  }
  for (Heat& heat : heats) prepare(workload, heat);
  take_turns(heats, quick ? 3 : 9, quick ? 500 : 8000);
  for (Heat& heat : heats) {
    Result& result = contest.results[static_cast<size_t>(heat.part.contender)];
    result.present = true;
    result.failure = heat.failure;
    if (heat.failure.empty()) {
      const double time = median(heat.times);
      const double rate = (heat.part.work > 0 ? heat.part.work : workload.work) / time / 1e6;
      if (rate > result.rate) {  // of a contender's parts, the best counts
        result.rate = rate;
        result.milliseconds = time;
        result.fastest = *std::min_element(heat.times.begin(), heat.times.end());
      }
    }
    heat.runner.clear();
  }
  return contest;
}

}  // namespace metalloid::tool
