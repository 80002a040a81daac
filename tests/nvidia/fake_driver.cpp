#include "fake_driver.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "nvidia/driver.hpp"

using namespace metalloid::nvidia;
using cuda::Code;

namespace {

struct Event {
  uint64_t asked = 0, recorded = 0;  // how often
  double milliseconds = 0;
};

struct Stream {
  std::deque<std::function<bool()>> work;  // false: not yet
};

struct Allocation {
  size_t bytes = 0;
  bool managed = false;
};

struct Context {
  std::map<uint64_t, Allocation> memory;
  std::set<void*> registered;
  Stream default_stream;
  std::set<Stream*> streams;
  std::map<void*, std::shared_ptr<void>> objects;  // what nobody has given back: it goes with it
  Code broken = Code::success;
};

struct Module {
  std::string image;
};

struct State {
  std::recursive_mutex mutex;
  fake::Controls controls;
  std::set<Context*> contexts;
  uint64_t used = 0;
  double clock = 0;  // milliseconds; each thing that is done takes one microsecond
};

State& state() {
  static auto& all = *new State;
  return all;
}

thread_local std::vector<Context*> current;

Code enter(Context*& context) {
  if (current.empty() || !state().contexts.contains(current.back())) return static_cast<Code>(201);
  context = current.back();
  return context->broken;
}

Stream& stream_of(Context& context, cuda::Stream handle) {
  return handle ? *reinterpret_cast<Stream*>(handle) : context.default_stream;
}

void go_on(Context& context) {
  bool progress = true;
  const auto step = [&](Stream& stream) {
    while (!stream.work.empty() && context.broken == Code::success && stream.work.front()()) {
      stream.work.pop_front();
      state().clock += 0.001;
      progress = true;
    }
  };
  while (progress) {
    progress = false;
    step(context.default_stream);
    for (Stream* stream : context.streams) step(*stream);
  }
}

Code put(cuda::Stream handle, std::function<bool()> work) {
  std::lock_guard lock(state().mutex);
  Context* context = nullptr;
  if (const Code code = enter(context); code != Code::success) return code;
  stream_of(*context, handle).work.push_back(std::move(work));
  go_on(*context);
  return Code::success;
}

template <class Work>
Code in_context(Work work) {
  std::lock_guard lock(state().mutex);
  Context* context = nullptr;
  if (const Code code = enter(context); code != Code::success) return code;
  return work(*context);
}

template <class Object, class Handle>
void keep(Context& context, Object object, Handle* handle) {
  auto kept = std::make_shared<Object>(std::move(object));
  *handle = reinterpret_cast<Handle>(kept.get());
  context.objects[kept.get()] = std::move(kept);
}

Code give_back(void* object) {
  return in_context(
      [&](Context& context) { return context.objects.erase(object) == 1 ? Code::success : Code::invalid_value; });
}

Code allocate(cuda::Address* address, size_t bytes, bool managed) {
  return in_context([&](Context& context) {
    if (bytes > fake::total_memory - state().used) return Code::out_of_memory;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 0xee, bytes);
    *address = reinterpret_cast<cuda::Address>(memory);
    context.memory[*address] = {bytes, managed};
    state().used += bytes;
    return Code::success;
  });
}

// A launch whose parameters have been read, as the driver does when it is made.
struct KeptKernel {
  cuda::KernelNode kernel;
  std::vector<uint64_t> parameters;
  std::weak_ptr<void> module = {};  // of a node
};
struct Graph {
  std::vector<KeptKernel> kernels;
  size_t edges = 0;
};

KeptKernel kept(const cuda::KernelNode& kernel) {
  KeptKernel copy{kernel, {}};
  if (!current.empty())
    if (const auto found = current.back()->objects.find(kernel.function); found != current.back()->objects.end())
      copy.module = found->second;
  for (size_t i = 0; i < state().controls.parameters; ++i)
    copy.parameters.push_back(*static_cast<uint64_t*>(kernel.parameters[i]));
  return copy;
}

Code launch(const KeptKernel& given, cuda::Stream stream) {
  Context* context = nullptr;
  {
    std::lock_guard lock(state().mutex);
    if (const Code code = enter(context); code != Code::success) return code;
  }
  return put(stream, [context, kept = given]() mutable {
    if (state().controls.holds_launches) return false;
    ++state().controls.launches;
    std::vector<void*> pointers;
    for (uint64_t& value : kept.parameters) pointers.push_back(&value);
    const auto& [grid, block] = std::pair(kept.kernel.grid, kept.kernel.block);
    const fake::Launch launch{
        {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, kept.kernel.shared_memory, pointers.data()};
    if (const fake::Kernel kernel = state().controls.kernel) context->broken = static_cast<Code>(kernel(launch));
    return context->broken == Code::success;
  });
}

}  // namespace

extern "C" {

fake::Controls* metalloid_fake_controls() {
  return &state().controls;
}

void metalloid_fake_go_on() {
  std::lock_guard lock(state().mutex);
  for (Context* context : state().contexts) go_on(*context);
}

Code cuInit(unsigned) {
  return Code::success;
}

Code cuDriverGetVersion(int* version) {
  *version = 12000;
  return Code::success;
}

Code cuGetErrorName(Code code, const char** name) {
  *name = code == Code::illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
  return Code::success;
}

Code cuGetErrorString(Code code, const char** sentence) {
  *sentence = code == Code::illegal_address ? "an illegal memory access was encountered" : "something is wrong";
  return Code::success;
}

Code cuDeviceGetCount(int* count) {
  *count = 1;
  return Code::success;
}

Code cuDeviceGet(cuda::Device* device, int ordinal) {
  *device = ordinal;
  return Code::success;
}

Code cuDeviceGetName(char* name, int bytes, cuda::Device) {
  std::strncpy(name, "Pretended GPU", static_cast<size_t>(bytes));
  return Code::success;
}

Code cuDeviceGetAttribute(int* value, cuda::DeviceAttribute attribute, cuda::Device) {
  using enum cuda::DeviceAttribute;
  static const std::map<cuda::DeviceAttribute, int> values = {
      {max_threads_per_block, 1024}, {max_block_z, 64},
      {max_grid_x, 0x7fffffff},      {max_grid_y, 65535},
      {max_grid_z, 65535},           {capability_major, 9},
      {capability_minor, 0},         {max_shared_memory_per_block, 232448},
      {unified_addressing, 1},       {host_pointers_of_registered_memory, 1},
      {stream_writes_of_64_bits, 1}, {concurrent_managed_access, 1},
  };
  const auto known = values.find(attribute);
  *value = known == values.end() ? 0 : known->second;
  return Code::success;
}

Code cuDeviceTotalMem_v2(size_t* bytes, cuda::Device) {
  *bytes = fake::total_memory;
  return Code::success;
}

Code cuCtxCreate_v2(cuda::Context* context, unsigned, cuda::Device) {
  std::lock_guard lock(state().mutex);
  if (!state().controls.makes_contexts) return Code::illegal_address;
  auto* made = new Context;
  state().contexts.insert(made);
  ++state().controls.contexts;
  current.push_back(made);
  *context = reinterpret_cast<cuda::Context>(made);
  return Code::success;
}

Code cuCtxDestroy_v2(cuda::Context handle) {
  std::lock_guard lock(state().mutex);
  auto* context = reinterpret_cast<Context*>(handle);
  for (const auto& [address, allocation] : context->memory) {
    munmap(reinterpret_cast<void*>(address), allocation.bytes);
    state().used -= allocation.bytes;
  }
  state().controls.pinned_regions -= context->registered.size();
  for (Stream* stream : context->streams) delete stream;
  state().contexts.erase(context);
  delete context;
  return Code::success;
}

Code cuCtxPushCurrent_v2(cuda::Context context) {
  current.push_back(reinterpret_cast<Context*>(context));
  return Code::success;
}

Code cuCtxPopCurrent_v2(cuda::Context* context) {
  *context = reinterpret_cast<cuda::Context>(current.back());
  current.pop_back();
  return Code::success;
}

Code cuMemGetInfo_v2(size_t* free, size_t* total) {
  return in_context([&](Context&) {
    *total = fake::total_memory;
    *free = fake::total_memory - state().used;
    return Code::success;
  });
}

Code cuMemAlloc_v2(cuda::Address* address, size_t bytes) {
  return allocate(address, bytes, false);
}

Code cuMemAllocManaged(cuda::Address* address, size_t bytes, unsigned) {
  return allocate(address, bytes, true);
}

Code cuMemFree_v2(cuda::Address address) {
  return in_context([&](Context& context) {
    const auto entry = context.memory.find(address);
    if (entry == context.memory.end()) return Code::invalid_value;
    munmap(reinterpret_cast<void*>(address), entry->second.bytes);
    state().used -= entry->second.bytes;
    context.memory.erase(entry);
    return Code::success;
  });
}

Code cuMemHostRegister_v2(void* host, size_t, unsigned) {
  return in_context([&](Context& context) {
    if (!context.registered.insert(host).second) return static_cast<Code>(712);
    ++state().controls.pinned_regions;
    return Code::success;
  });
}

Code cuMemHostUnregister(void* host) {
  return in_context([&](Context& context) {
    if (context.registered.erase(host) == 0) return static_cast<Code>(713);
    --state().controls.pinned_regions;
    return Code::success;
  });
}

Code cuMemPrefetchAsync(cuda::Address, size_t, cuda::Device, cuda::Stream) {
  ++state().controls.prefetches;
  return Code::success;
}

Code cuMemcpyAsync(cuda::Address destination, cuda::Address source, size_t bytes, cuda::Stream stream) {
  ++state().controls.copies;
  return put(stream, [=] {
    std::memcpy(reinterpret_cast<void*>(destination), reinterpret_cast<const void*>(source), bytes);
    return true;
  });
}

Code cuMemcpy2DAsync_v2(const cuda::Copy2D* box, cuda::Stream stream) {
  ++state().controls.copies;
  return put(stream, [box = *box] {
    for (size_t row = 0; row < box.rows; ++row)
      std::memcpy(reinterpret_cast<void*>(box.destination + row * box.destination_pitch),
                  reinterpret_cast<const void*>(box.source + row * box.source_pitch), box.row_bytes);
    return true;
  });
}

Code cuMemsetD8Async(cuda::Address address, unsigned char value, size_t bytes, cuda::Stream stream) {
  return put(stream, [=] {
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    return true;
  });
}

Code cuModuleLoadDataEx(cuda::Module* module, const void* image, unsigned, cuda::JitOption*, void**) {
  return in_context([&](Context& context) {
    ++state().controls.modules;
    if (!std::string_view(static_cast<const char*>(image)).starts_with("//")) ++state().controls.machine_code;
    keep(context, Module{static_cast<const char*>(image)}, module);
    return Code::success;
  });
}

Code cuModuleUnload(cuda::Module module) {
  return give_back(module);
}

Code cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  const auto& image = reinterpret_cast<Module*>(module)->image;
  *function = reinterpret_cast<cuda::Function>(module);
  return image.find(std::string(".entry ") + name) == std::string::npos ? static_cast<Code>(500) : Code::success;
}

Code cuFuncGetAttribute(int* value, cuda::FunctionAttribute attribute, cuda::Function) {
  *value = attribute == cuda::FunctionAttribute::max_threads_per_block ? 1024 : 0;
  return Code::success;
}

Code cuFuncSetAttribute(cuda::Function, cuda::FunctionAttribute, int) {
  return Code::success;
}

Code cuLaunchKernel(cuda::Function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared_memory, cuda::Stream stream, void** parameters, void**) {
  if (bx > 1024) return Code::invalid_value;
  return launch(kept({nullptr, {gx, gy, gz}, {bx, by, bz}, shared_memory, parameters, nullptr}), stream);
}

Code cuGraphCreate(cuda::Graph* graph, unsigned) {
  return in_context([&](Context& context) {
    keep(context, Graph{}, graph);
    return Code::success;
  });
}

Code cuGraphDestroy(cuda::Graph graph) {
  return give_back(graph);
}

Code cuGraphAddKernelNode(cuda::GraphNode* node, cuda::Graph handle, const cuda::GraphNode*, size_t count,
                          const cuda::KernelNode* kernel) {
  auto& kernels = reinterpret_cast<Graph*>(handle)->kernels;
  if (count != 0 || kernel->block[0] > 1024) return Code::invalid_value;
  kernels.push_back(kept(*kernel));
  *node = reinterpret_cast<cuda::GraphNode>(kernels.size());
  return Code::success;
}

// Only chains: each node after the one before it, as that ends.
Code cuGraphAddDependencies_v2(cuda::Graph handle, const cuda::GraphNode* from, const cuda::GraphNode* to,
                               const cuda::Edge* edge, size_t count) {
  auto& graph = *reinterpret_cast<Graph*>(handle);
  const auto place = [](cuda::GraphNode node) { return reinterpret_cast<size_t>(node); };
  if (count != 1 || place(*to) != graph.kernels.size() || place(*from) + 1 != place(*to) || edge->from_port != 1 ||
      edge->type != 1)
    return Code::invalid_value;
  ++graph.edges;
  return Code::success;
}

Code cuGraphInstantiateWithFlags(cuda::ExecutableGraph* executable, cuda::Graph graph, unsigned long long) {
  const auto& chain = *reinterpret_cast<Graph*>(graph);
  if (chain.edges + 1 != chain.kernels.size()) return Code::invalid_value;
  return in_context([&](Context& context) {
    ++state().controls.graphs;
    keep(context, Graph(chain), executable);
    return Code::success;
  });
}

Code cuGraphExecDestroy(cuda::ExecutableGraph executable) {
  return give_back(executable);
}

Code cuGraphExecKernelNodeSetParams(cuda::ExecutableGraph executable, cuda::GraphNode node,
                                    const cuda::KernelNode* kernel) {
  if (kernel->block[0] > 1024) return Code::invalid_value;
  ++state().controls.node_changes;
  KeptKernel& present = reinterpret_cast<Graph*>(executable)->kernels[reinterpret_cast<size_t>(node) - 1];
  return in_context([&](Context&) {
    if (present.module.expired()) ++state().controls.stale_node_changes;
    present = kept(*kernel);
    return Code::success;
  });
}

Code cuGraphLaunch(cuda::ExecutableGraph executable, cuda::Stream stream) {
  for (const KeptKernel& kernel : reinterpret_cast<Graph*>(executable)->kernels)
    if (const Code code = launch(kernel, stream); code != Code::success) return code;
  return Code::success;
}

Code cuStreamCreate(cuda::Stream* stream, unsigned) {
  return in_context([&](Context& context) {
    auto* made = new Stream;
    context.streams.insert(made);
    *stream = reinterpret_cast<cuda::Stream>(made);
    return Code::success;
  });
}

Code cuStreamDestroy_v2(cuda::Stream stream) {
  return in_context([&](Context& context) {
    auto* made = reinterpret_cast<Stream*>(stream);
    context.streams.erase(made);
    delete made;
    return Code::success;
  });
}

Code cuStreamQuery(cuda::Stream stream) {
  return in_context(
      [&](Context& context) { return stream_of(context, stream).work.empty() ? Code::success : Code::not_ready; });
}

// Work that waits is never waited for here, but for what a test would hang on.
Code cuStreamSynchronize(cuda::Stream stream) {
  return cuStreamQuery(stream);
}

Code cuStreamWaitEvent(cuda::Stream stream, cuda::Event handle, unsigned) {
  std::lock_guard lock(state().mutex);
  auto* event = reinterpret_cast<Event*>(handle);
  const uint64_t wanted = event->asked;
  return put(stream, [=] { return event->recorded >= wanted; });
}

Code cuStreamWriteValue64_v2(cuda::Stream stream, cuda::Address address, uint64_t value, unsigned) {
  return put(stream, [=] {
    __atomic_store_n(reinterpret_cast<uint64_t*>(address), value, __ATOMIC_RELEASE);
    return true;
  });
}

Code cuEventCreate(cuda::Event* event, unsigned) {
  return in_context([&](Context& context) {
    keep(context, Event{}, event);
    return Code::success;
  });
}

Code cuEventDestroy_v2(cuda::Event event) {
  return give_back(event);
}

Code cuEventRecord(cuda::Event handle, cuda::Stream stream) {
  std::lock_guard lock(state().mutex);
  auto* event = reinterpret_cast<Event*>(handle);
  const uint64_t asked = ++event->asked;
  return put(stream, [=] {
    event->recorded = asked;
    event->milliseconds = state().clock;
    return true;
  });
}

Code cuEventElapsedTime(float* milliseconds, cuda::Event from, cuda::Event to) {
  std::lock_guard lock(state().mutex);
  *milliseconds =
      static_cast<float>(reinterpret_cast<Event*>(to)->milliseconds - reinterpret_cast<Event*>(from)->milliseconds);
  return Code::success;
}
}
