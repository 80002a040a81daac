#include "nvidia/launches.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <shared_mutex>

namespace metalloid::nvidia {

namespace {

constexpr size_t most_sequences = 64;

bool is_same(const LaunchSize& a, const uint64_t* b) {
  return std::memcmp(&a, b, sizeof a) == 0;
}

}  // namespace

Launches::~Launches() {
  const auto use = gpu_->use();
  if (!use || use->generation() != generation_) return;
  discard_shared_chains(use->driver());
  for (Sequence& sequence : sequences_) discard(use->driver(), sequence.chain);
}

void Launches::add(Launch launch, std::span<const uint64_t> values) {
  launch.first_value = values_.size();
  launch.values = values.size();
  values_.insert(values_.end(), values.begin(), values.end());
  launches_.push_back(launch);
}

std::optional<Launches::Refused> Launches::send(const Gpu::Use& use, cuda::Stream stream) {
  if (generation_ != use.generation()) {
    chains_ = {};
    sequences_.clear();
    generation_ = use.generation();
  }
  const std::shared_lock lock(gpu_->modules.mutex);
  if (unloaded_ != gpu_->modules.unloaded) {
    discard_shared_chains(use.driver());
    unloaded_ = gpu_->modules.unloaded;
  }
  if (Chain* own = own_chain(use.driver())) {
    if (send_chain(use, stream, *own, 0, launches_.size()) == cuda::Code::success) {
      clear();
      return std::nullopt;
    }
    discard(use.driver(), *own);
  }
  std::optional<Refused> refused;
  ++turn_;
  for (size_t first = 0; first < launches_.size() && !refused;) {
    const size_t length = std::bit_floor(launches_.size() - first);
    Chain& chain = chains_[static_cast<size_t>(std::countr_zero(length))][turn_ % 2];
    if (send_chain(use, stream, chain, first, length) == cuda::Code::success) {
      first += length;
      continue;
    }
    discard(use.driver(), chain);  // and which of them it is, is found out one by one
    for (const size_t end = first + length; first < end && !refused; ++first) {
      const Launch& launch = launches_[first];
      const cuda::KernelNode node = node_of(launch);
      const cuda::Code code =
          use.driver().launch(node.function, node.grid[0], node.grid[1], node.grid[2], node.block[0], node.block[1],
                              node.block[2], node.shared_memory, stream, node.parameters, nullptr);
      if (code != cuda::Code::success) refused = Refused{code, launch};
    }
  }
  clear();
  return refused;
}

Launches::Chain* Launches::own_chain(const Driver& driver) {
  const uint64_t present = signature();
  const auto known = std::ranges::find(sequences_, present, &Sequence::signature);
  if (known != sequences_.end()) {
    known->last_seen = ++clock_;
    return &known->chain;
  }
  if (sequences_.size() == most_sequences) {
    const auto oldest = std::ranges::min_element(sequences_, {}, &Sequence::last_seen);
    discard(driver, oldest->chain);
    sequences_.erase(oldest);
  }
  sequences_.push_back({present, ++clock_, {}});
  return nullptr;
}

uint64_t Launches::signature() const {
  uint64_t hash = XXH3_64bits(values_.data(), values_.size() * sizeof(uint64_t));
  for (const Launch& launch : launches_) {
    hash = XXH3_64bits_withSeed(&launch.size, sizeof launch.size, hash);
    hash = XXH3_64bits_withSeed(&launch.code.serial, sizeof launch.code.serial, hash);
  }
  return hash;
}

void Launches::clear() {
  launches_.clear();
  values_.clear();
}

cuda::Code Launches::send_chain(const Gpu::Use& use, cuda::Stream stream, Chain& chain, size_t first, size_t count) {
  if (!chain.executable)
    if (const cuda::Code code = build(use, chain, first, count); code != cuda::Code::success) return code;
  for (size_t i = 0; i < count; ++i) {
    const Launch& launch = launches_[first + i];
    cuda::KernelNode node = node_of(launch);
    if (has_not_changed(chain, i, launch, node)) continue;
    const cuda::Code code = use.driver().set_kernel_node(chain.executable, chain.nodes[i], &node);
    if (code != cuda::Code::success) return code;
    note(chain, i, launch, node);
  }
  return use.driver().launch_graph(chain.executable, stream);
}

cuda::Code Launches::build(const Gpu::Use& use, Chain& chain, size_t first, size_t count) {
  const Driver& driver = use.driver();
  const bool overlap = driver.add_edges && overlaps_launches(gpu_->properties.architecture);
  cuda::Code code = driver.create_graph(&chain.graph, 0);
  chain.nodes.resize(count);
  chain.module_serials.resize(count);
  chain.kernels.resize(count);
  chain.arguments.resize(count);
  for (size_t i = 0; i < count && code == cuda::Code::success; ++i) {
    const Launch& launch = launches_[first + i];
    const cuda::KernelNode node = node_of(launch);
    const cuda::GraphNode* before = i == 0 ? nullptr : &chain.nodes[i - 1];
    code = driver.add_kernel_node(&chain.nodes[i], chain.graph, before, before && !overlap ? 1 : 0, &node);
    if (code == cuda::Code::success && before && overlap)
      code = driver.add_edges(chain.graph, before, &chain.nodes[i], &cuda::edge_of_overlap, 1);
    note(chain, i, launch, node);
  }
  if (code == cuda::Code::success) code = driver.instantiate_graph(&chain.executable, chain.graph, 0);
  return code;
}

// Its parameters are the slots' values and the size; they stay where they are until the next call.
cuda::KernelNode Launches::node_of(const Launch& launch) {
  parameters_.clear();
  for (size_t i = 0; i < launch.values; ++i) parameters_.push_back(&values_[launch.first_value + i]);
  parameters_.push_back(const_cast<LaunchSize*>(&launch.size));
  return {.function = launch.code.function,
          .grid = {launch.grid.x, launch.grid.y, launch.grid.z},
          .block = {launch.block.x, launch.block.y, launch.block.z},
          .shared_memory = launch.threadgroup_memory,
          .parameters = parameters_.data(),
          .extra = nullptr};
}

bool Launches::has_not_changed(const Chain& chain, size_t place, const Launch& launch,
                               const cuda::KernelNode& node) const {
  const cuda::KernelNode& last = chain.kernels[place];
  const std::vector<uint64_t>& arguments = chain.arguments[place];
  return chain.module_serials[place] == launch.code.serial && last.grid == node.grid && last.block == node.block &&
         last.shared_memory == node.shared_memory &&
         std::equal(arguments.begin() + sizeof(LaunchSize) / 8, arguments.end(), values_.data() + launch.first_value,
                    values_.data() + launch.first_value + launch.values) &&
         is_same(launch.size, arguments.data());
}

void Launches::note(Chain& chain, size_t place, const Launch& launch, const cuda::KernelNode& node) const {
  chain.module_serials[place] = launch.code.serial;
  chain.kernels[place] = node;
  std::vector<uint64_t>& arguments = chain.arguments[place];
  arguments.resize(sizeof(LaunchSize) / 8 + launch.values);
  std::memcpy(arguments.data(), &launch.size, sizeof launch.size);
  std::copy_n(values_.begin() + static_cast<ptrdiff_t>(launch.first_value), launch.values,
              arguments.begin() + sizeof(LaunchSize) / 8);
}

void Launches::discard_shared_chains(const Driver& driver) {
  for (auto& chains : chains_)
    for (Chain& chain : chains) discard(driver, chain);
}

void Launches::discard(const Driver& driver, Chain& chain) {
  if (chain.executable) driver.destroy_executable_graph(chain.executable);
  if (chain.graph) driver.destroy_graph(chain.graph);
  chain = {};
}

}  // namespace metalloid::nvidia
