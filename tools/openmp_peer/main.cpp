// metalloid-openmp-peer: runs the benchmark's kernels as plain loops with OpenMP, and what the machine can do at most,
// for benchmarks to compare with. A peer (peer/serve.hpp) because its code is for the CPU it was built on alone, and
// because OpenMP's threads should not share a process with Metal's.
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/loops.hpp"
#include "peer/serve.hpp"

namespace metalloid::peer {

namespace {

// In huge pages where the system has them, so that the machine's limits are not those of small ones.
class Memory {
 public:
  explicit Memory(size_t size) : size_(size) {
    address_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address_ == MAP_FAILED) throw std::bad_alloc();
    madvise(address_, size, MADV_HUGEPAGE);
  }
  Memory(Memory&& other) noexcept : address_(std::exchange(other.address_, nullptr)), size_(other.size_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (address_) munmap(address_, size_);
  }
  void* address() const { return address_; }

 private:
  void* address_;
  size_t size_;
};

// A loop with its arguments, the buffers by address.
using Addresses = std::vector<void*>;
using Bound = std::function<void()>;
using Binder = Bound (*)(const std::vector<Argument>&, const Addresses&);

template <class Parameter>
Parameter argument(const Argument& given, const Addresses& buffers) {
  if constexpr (std::is_pointer_v<Parameter>)
    return static_cast<Parameter>(buffers.at(given.bits));
  else
    return std::bit_cast<Parameter>(given.bits);
}

template <auto function, class... Parameters, size_t... i>
Bound bind(void (*)(Parameters...), const std::vector<Argument>& arguments, const Addresses& buffers,
           std::index_sequence<i...>) {
  return
      [values = std::make_tuple(argument<Parameters>(arguments.at(i), buffers)...)] { std::apply(function, values); };
}

template <class... Parameters>
constexpr size_t arity(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}

template <auto function>
Bound bind(const std::vector<Argument>& arguments, const Addresses& buffers) {
  return bind<function>(function, arguments, buffers, std::make_index_sequence<arity(function)>());
}

#define LOOP(name) {#name, bind<kernels::name>}
const std::map<std::string, Binder> loops = {
    LOOP(add),     LOOP(exponential),    LOOP(gelu_float),   LOOP(gelu_half),   LOOP(matmul),
    LOOP(softmax), LOOP(rms_norm),       LOOP(layer_norm),   LOOP(reduction),   LOOP(scan),
    LOOP(sort),    LOOP(histogram),      LOOP(transpose),    LOOP(convolution), LOOP(mandelbrot),
    LOOP(matvec),  LOOP(matvec_q4),      LOOP(attention),    LOOP(gather),      LOOP(scatter),
    LOOP(copy),    LOOP(copy_streaming), LOOP(multiply_add), LOOP(sgemm),       LOOP(openblas_config)};
#undef LOOP

class LoopRunner : public Runner {
 public:
  std::string name() const override {
    return fmt::format("GCC {} -O3 -march=native -fopenmp, {} threads", __VERSION__, omp_get_max_threads());
  }

  void load(const std::string&) override {}  // the loops are compiled already

  void add_buffer(std::span<const std::byte> contents) override {
    memory_.emplace_back(contents.size());
    addresses_.push_back(memory_.back().address());
    std::memcpy(addresses_.back(), contents.data(), contents.size());
  }
  void write_buffer(size_t number, std::span<const std::byte> contents) override {
    std::memcpy(addresses_.at(number), contents.data(), contents.size());
  }
  void read_buffer(size_t number, std::span<std::byte> contents) override {
    std::memcpy(contents.data(), addresses_.at(number), contents.size());
  }

  void add_launch(const Launch& launch) override {
    const auto loop = loops.find(launch.kernel);
    if (loop == loops.end()) throw std::runtime_error("there is no loop " + launch.kernel);
    launches_.push_back(loop->second(launch.arguments, addresses_));
  }

  void run() override {
    for (const Bound& launch : launches_) launch();
  }

  void clear() override {
    launches_.clear();
    addresses_.clear();
    memory_.clear();
  }

 private:
  std::vector<Memory> memory_;
  Addresses addresses_;
  std::vector<Bound> launches_;
};

Runner& loop_runner() {
  static LoopRunner runner;
  return runner;
}

}  // namespace

}  // namespace metalloid::peer

int main() {
  return metalloid::peer::serve(metalloid::peer::loop_runner);
}
