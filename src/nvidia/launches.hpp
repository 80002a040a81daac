// Launches that follow each other on a stream, gathered until something else has to come after them. A launch by itself
// costs the host microseconds. They are put on the stream as chains: graphs of CUDA's that are kept, and whose nodes
// are given other kernels and arguments each time, where these have changed. (On an H200's host: 4.8 us for a launch by
// itself, 1.3 us for it as a chain that is there; in a long chain 1.3 us for each where all is new, 0.6 us where
// nothing is.) A sequence of launches that comes again just
// as it was, as in each step of a training or for each token, gets a chain of its own. Kernels of a chain come onto the
// GPU while the one before them ends, where its architecture lets them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/size.hpp"
#include "nvidia/context.hpp"
#include "nvidia/pipeline.hpp"

namespace metalloid::nvidia {

struct Launch {
  const Pipeline* pipeline = nullptr;
  Pipeline::Code code;
  device::Size grid, block;  // in threadgroups, in threads
  uint32_t threadgroup_memory = 0;
  size_t first_value = 0, values = 0;  // of the slots, among all that were gathered
  LaunchSize size;
  const char* encoder_label = nullptr;
};

class Launches {
 public:
  // As many as may be gathered; then they have to be sent.
  static constexpr size_t most = 128;

  explicit Launches(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Launches();

  void add(Launch launch, std::span<const uint64_t> values);
  size_t count() const { return launches_.size(); }
  void clear();

  // Puts all on the stream. If the driver does not take one, those after it are dropped.
  struct Refused {
    cuda::Code code = cuda::Code::success;
    Launch launch;
  };
  std::optional<Refused> send(const Gpu::Use& use, cuda::Stream stream);

 private:
  // A graph of kernels, each after the one before it, and what its nodes were given last.
  struct Chain {
    cuda::Graph graph = nullptr;
    cuda::ExecutableGraph executable = nullptr;
    std::vector<cuda::GraphNode> nodes;
    std::vector<uint64_t> module_serials;
    std::vector<cuda::KernelNode> kernels;
    std::vector<std::vector<uint64_t>> arguments;
  };

  // All that is gathered, as it was when it came before.
  struct Sequence {
    uint64_t signature = 0;
    uint64_t last_seen = 0;
    Chain chain;
  };

  Chain* own_chain(const Driver& driver);  // null, unless all this came before
  uint64_t signature() const;
  cuda::Code send_chain(const Gpu::Use& use, cuda::Stream stream, Chain& chain, size_t first, size_t count);
  cuda::Code build(const Gpu::Use& use, Chain& chain, size_t first, size_t count);
  cuda::KernelNode node_of(const Launch& launch);
  bool has_not_changed(const Chain& chain, size_t place, const Launch& launch, const cuda::KernelNode& node) const;
  void note(Chain& chain, size_t place, const Launch& launch, const cuda::KernelNode& node) const;
  void discard_shared_chains(const Driver& driver);  // of all lengths
  void discard(const Driver& driver, Chain& chain);

  const std::shared_ptr<Gpu> gpu_;
  std::vector<Launch> launches_;
  std::vector<uint64_t> values_;
  std::vector<void*> parameters_;
  uint32_t generation_ = 0;  // of the context that has the chains
  uint64_t unloaded_ = 0;    // modules, when they were last looked at
  // By length: 1, 2, 4, and so on to 128. Two of each in turn: one is changed while the other still runs.
  std::array<std::array<Chain, 2>, std::bit_width(most)> chains_;
  size_t turn_ = 0;
  std::vector<Sequence> sequences_;
  uint64_t clock_ = 0;  // counts those that were sent
};

}  // namespace metalloid::nvidia
