// NVIDIA's driver, opened at run time: what is used of its API, declared here, so that neither building nor starting
// needs anything of CUDA. Names on the left are ours, symbols on the right are those of the driver's library, with the
// version whose signature is meant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <metalloid/result.hpp>
#include <string>
#include <string_view>

namespace metalloid::nvidia {

namespace cuda {

// What calls return. The driver knows more of them; these are treated in ways of their own.
enum class Code : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  ecc_uncorrectable = 214,
  nvlink_uncorrectable = 220,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,
  assert = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_program_counter = 718,
  launch_failed = 719,
  unknown = 999,
};

using Device = int;
using Address = uint64_t;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphNode = struct GraphNodeHandle*;
using ExecutableGraph = struct ExecutableGraphHandle*;

enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  max_block_z = 4,
  max_grid_x = 5,
  max_grid_y = 6,
  max_grid_z = 7,
  multiprocessors = 16,
  pci_bus = 33,
  unified_addressing = 41,
  capability_major = 75,
  capability_minor = 76,
  concurrent_managed_access = 89,
  host_pointers_of_registered_memory = 91,
  max_shared_memory_per_block = 97,  // for those who ask for it
  read_only_host_registration = 113,
  stream_writes_of_64_bits = 122,
};

enum class FunctionAttribute : int {
  max_threads_per_block = 0,
  static_shared_memory = 1,
  max_dynamic_shared_memory = 8
};

enum class JitOption : int { threads_per_block = 1, error_log = 5, error_log_bytes = 6 };

constexpr unsigned map_host_memory = 0x08;  // of a context
constexpr unsigned register_for_all_contexts = 0x01, register_mapped = 0x02, register_read_only = 0x08;
constexpr unsigned attach_to_all_streams = 0x01;   // of managed memory
constexpr unsigned stream_without_default = 0x01;  // not synchronised with the default stream
constexpr unsigned event_without_time = 0x02;

enum class MemoryType : int { unified = 4 };

struct Copy2D {
  size_t source_x = 0, source_y = 0;
  MemoryType source_type = MemoryType::unified;
  const void* source_host = nullptr;
  Address source = 0;
  void* source_array = nullptr;
  size_t source_pitch = 0;
  size_t destination_x = 0, destination_y = 0;
  MemoryType destination_type = MemoryType::unified;
  void* destination_host = nullptr;
  Address destination = 0;
  void* destination_array = nullptr;
  size_t destination_pitch = 0;
  size_t row_bytes = 0, rows = 0;
};

// When a kernel may begin that follows another in a graph: when that has ended, or as soon as all its threads have said
// that the next one may.
struct Edge {
  uint8_t from_port = 0, to_port = 0, type = 0;
  uint8_t reserved[5] = {};
};
constexpr Edge edge_of_overlap{.from_port = 1, .type = 1};

struct KernelNode {
  Function function = nullptr;
  std::array<unsigned, 3> grid = {}, block = {};
  unsigned shared_memory = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};

}  // namespace cuda

#define METALLOID_CUDA_FUNCTIONS(FUNCTION)                                                                          \
  FUNCTION(init, "cuInit", unsigned flags)                                                                          \
  FUNCTION(get_version, "cuDriverGetVersion", int* version)                                                         \
  FUNCTION(get_error_name, "cuGetErrorName", cuda::Code, const char** name)                                         \
  FUNCTION(get_error_string, "cuGetErrorString", cuda::Code, const char** sentence)                                 \
  FUNCTION(get_device_count, "cuDeviceGetCount", int* count)                                                        \
  FUNCTION(get_device, "cuDeviceGet", cuda::Device*, int ordinal)                                                   \
  FUNCTION(get_device_name, "cuDeviceGetName", char* name, int bytes, cuda::Device)                                 \
  FUNCTION(get_device_attribute, "cuDeviceGetAttribute", int* value, cuda::DeviceAttribute, cuda::Device)           \
  FUNCTION(get_total_memory, "cuDeviceTotalMem_v2", size_t* bytes, cuda::Device)                                    \
  FUNCTION(create_context, "cuCtxCreate_v2", cuda::Context*, unsigned flags, cuda::Device)                          \
  FUNCTION(destroy_context, "cuCtxDestroy_v2", cuda::Context)                                                       \
  FUNCTION(push_context, "cuCtxPushCurrent_v2", cuda::Context)                                                      \
  FUNCTION(pop_context, "cuCtxPopCurrent_v2", cuda::Context*)                                                       \
  FUNCTION(get_memory_info, "cuMemGetInfo_v2", size_t* free, size_t* total)                                         \
  FUNCTION(allocate, "cuMemAlloc_v2", cuda::Address*, size_t bytes)                                                 \
  FUNCTION(allocate_managed, "cuMemAllocManaged", cuda::Address*, size_t bytes, unsigned flags)                     \
  FUNCTION(free, "cuMemFree_v2", cuda::Address)                                                                     \
  FUNCTION(register_host, "cuMemHostRegister_v2", void* host, size_t bytes, unsigned flags)                         \
  FUNCTION(unregister_host, "cuMemHostUnregister", void* host)                                                      \
  FUNCTION(prefetch, "cuMemPrefetchAsync", cuda::Address, size_t bytes, cuda::Device, cuda::Stream)                 \
  FUNCTION(copy, "cuMemcpyAsync", cuda::Address destination, cuda::Address source, size_t bytes, cuda::Stream)      \
  FUNCTION(copy_2d, "cuMemcpy2DAsync_v2", const cuda::Copy2D*, cuda::Stream)                                        \
  FUNCTION(fill, "cuMemsetD8Async", cuda::Address, unsigned char value, size_t bytes, cuda::Stream)                 \
  FUNCTION(load_module, "cuModuleLoadDataEx", cuda::Module*, const void* image, unsigned options, cuda::JitOption*, \
           void** values)                                                                                           \
  FUNCTION(unload_module, "cuModuleUnload", cuda::Module)                                                           \
  FUNCTION(get_function, "cuModuleGetFunction", cuda::Function*, cuda::Module, const char* name)                    \
  FUNCTION(get_function_attribute, "cuFuncGetAttribute", int* value, cuda::FunctionAttribute, cuda::Function)       \
  FUNCTION(set_function_attribute, "cuFuncSetAttribute", cuda::Function, cuda::FunctionAttribute, int value)        \
  FUNCTION(launch, "cuLaunchKernel", cuda::Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_memory, cuda::Stream,              \
           void** parameters, void** extra)                                                                         \
  FUNCTION(create_graph, "cuGraphCreate", cuda::Graph*, unsigned flags)                                             \
  FUNCTION(destroy_graph, "cuGraphDestroy", cuda::Graph)                                                            \
  FUNCTION(add_kernel_node, "cuGraphAddKernelNode", cuda::GraphNode*, cuda::Graph, const cuda::GraphNode* after,    \
           size_t count, const cuda::KernelNode*)                                                                   \
  FUNCTION(instantiate_graph, "cuGraphInstantiateWithFlags", cuda::ExecutableGraph*, cuda::Graph,                   \
           unsigned long long flags)                                                                                \
  FUNCTION(destroy_executable_graph, "cuGraphExecDestroy", cuda::ExecutableGraph)                                   \
  FUNCTION(set_kernel_node, "cuGraphExecKernelNodeSetParams", cuda::ExecutableGraph, cuda::GraphNode,               \
           const cuda::KernelNode*)                                                                                 \
  FUNCTION(launch_graph, "cuGraphLaunch", cuda::ExecutableGraph, cuda::Stream)                                      \
  FUNCTION(create_stream, "cuStreamCreate", cuda::Stream*, unsigned flags)                                          \
  FUNCTION(destroy_stream, "cuStreamDestroy_v2", cuda::Stream)                                                      \
  FUNCTION(query_stream, "cuStreamQuery", cuda::Stream)                                                             \
  FUNCTION(synchronize_stream, "cuStreamSynchronize", cuda::Stream)                                                 \
  FUNCTION(wait_for_event, "cuStreamWaitEvent", cuda::Stream, cuda::Event, unsigned flags)                          \
  FUNCTION(write_value, "cuStreamWriteValue64_v2", cuda::Stream, cuda::Address, uint64_t value, unsigned flags)     \
  FUNCTION(create_event, "cuEventCreate", cuda::Event*, unsigned flags)                                             \
  FUNCTION(destroy_event, "cuEventDestroy_v2", cuda::Event)                                                         \
  FUNCTION(record_event, "cuEventRecord", cuda::Event, cuda::Stream)                                                \
  FUNCTION(get_elapsed_time, "cuEventElapsedTime", float* milliseconds, cuda::Event from, cuda::Event to)

// Null in drivers that lack them.
#define METALLOID_NEWER_CUDA_FUNCTIONS(FUNCTION)                                             \
  FUNCTION(add_edges, "cuGraphAddDependencies_v2", cuda::Graph, const cuda::GraphNode* from, \
           const cuda::GraphNode* to, const cuda::Edge*, size_t count)

class Driver {
 public:
  // The driver of this machine, or the library that METALLOID_CUDA_DRIVER names; opened once. The error says why there
  // is none.
  static const Result<Driver>& shared();

  static Result<Driver> open(const std::string& library);

#define METALLOID_DECLARE(name, symbol, ...) cuda::Code (*name)(__VA_ARGS__) = nullptr;
  METALLOID_CUDA_FUNCTIONS(METALLOID_DECLARE)
  METALLOID_NEWER_CUDA_FUNCTIONS(METALLOID_DECLARE)
#undef METALLOID_DECLARE

  // "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
  std::string describe(cuda::Code code) const;
};

// Whether a context in which this has happened cannot be used any more.
bool breaks_context(cuda::Code code);

}  // namespace metalloid::nvidia
