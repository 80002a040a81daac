// metalloid bench launch: what it costs to get a kernel to run at all, beside OpenCL on the same CPU in the same run.
#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>

#include "bench.hpp"
#include "bench_peer.hpp"

namespace metalloid::tool {

namespace {

struct LaunchArguments {
  unsigned runs = 2000;
  unsigned dispatches = 100000;
  bool as_json = false;
};

constexpr unsigned threads = 32;

// Nothing but a trace that it ran: the first thread counts launches.
constexpr const char* metal_source = R"(
kernel void count(device int* launches [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i == 0) launches[0] += 1;
})";
constexpr const char* opencl_source = R"(
__kernel void count(__global int* launches) { if (get_global_id(0) == 0) launches[0] += 1; })";

class MetalLauncher {
 public:
  MetalLauncher() {
    NS::Error* error = nullptr;
    device_ = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    if (!device_) throw Failure{exit_file_error, "there is no Metal device"};
    auto source = NS::String::string(metal_source, NS::UTF8StringEncoding);
    auto library = NS::TransferPtr(device_->newLibrary(source, nullptr, &error));
    require(library.get() != nullptr, "the kernel does not compile");
    auto function = NS::TransferPtr(library->newFunction(NS::String::string("count", NS::UTF8StringEncoding)));
    pipeline_ = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
    require(pipeline_.get() != nullptr, "the kernel has no pipeline");
    queue_ = NS::TransferPtr(device_->newCommandQueue());
    // The device's own: what is measured is not the way to the host's memory.
    counter_ = NS::TransferPtr(device_->newBuffer(sizeof(int), MTL::ResourceStorageModePrivate));
    result_ = NS::TransferPtr(device_->newBuffer(sizeof(int), MTL::ResourceStorageModeShared));
  }

  std::string name() const { return device_->name()->utf8String(); }

  // Microseconds from committing to being told of the end.
  double launch_and_wait(unsigned dispatches) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* command_buffer = queue_->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = command_buffer->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline_.get());
    encoder->setBuffer(counter_.get(), 0, 0);
    for (unsigned i = 0; i < dispatches; ++i)
      encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(threads, 1, 1));
    encoder->endEncoding();
    const auto start = std::chrono::steady_clock::now();
    command_buffer->commit();
    command_buffer->waitUntilCompleted();
    const double microseconds = milliseconds_since(start) * 1e3;
    launched_ += dispatches;
    require(command_buffer->status() == MTL::CommandBufferStatusCompleted, "a command buffer failed");
    return microseconds;
  }

  void check_all_ran() {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* command_buffer = queue_->commandBuffer();
    MTL::BlitCommandEncoder* encoder = command_buffer->blitCommandEncoder();
    encoder->copyFromBuffer(counter_.get(), 0, result_.get(), 0, sizeof(int));
    encoder->endEncoding();
    command_buffer->commit();
    command_buffer->waitUntilCompleted();
    require(*static_cast<int*>(result_->contents()) == static_cast<int>(launched_),
            "a dispatch did not run exactly once");
  }

 private:
  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<MTL::Buffer> counter_, result_;
  unsigned launched_ = 0;
};

// Medians for a command buffer with one small kernel.
struct LaunchTimes {
  double whole = 0;               // it is made, encoded, carried out and forgotten
  double commit_to_complete = 0;  // of that
};
LaunchTimes launch_metal(MetalLauncher& metal, unsigned runs) {
  for (unsigned i = 0; i < 50; ++i) metal.launch_and_wait(1);
  std::vector<double> whole, commit_to_complete;
  for (unsigned i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    commit_to_complete.push_back(metal.launch_and_wait(1));
    whole.push_back(milliseconds_since(start) * 1e3);
  }
  return {median(whole), median(commit_to_complete)};
}

double resident_mebibytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096 / (1 << 20);
}

// The median time of a launch there; 0 without a peer.
double launch_peer(Peer& peer, unsigned runs) {
  if (peer.name().empty()) return 0;
  const int zero = 0;
  peer.load(opencl_source);
  peer.add_buffer(std::as_bytes(std::span(&zero, 1)), false);
  peer.add_launch({"count", {threads, 1, 1}, {threads, 1, 1}, {peer::buffer(0)}});
  const double microseconds = median(peer.run(runs));
  int launched = 0;
  std::memcpy(&launched, peer.read_buffer(0).data(), sizeof launched);
  require(launched == static_cast<int>(runs), "the peer did not launch as often as asked");
  return microseconds;
}

void bench_launch(const LaunchArguments& arguments) {
  MetalLauncher metal;
  Peer peer("metalloid-opencl-peer");
  const double peer_microseconds = launch_peer(peer, arguments.runs);
  std::vector<Figure> figures;
  const LaunchTimes one = launch_metal(metal, arguments.runs);
  figures.push_back({"one small kernel: encode, commit, wait", one.whole, "us", peer_microseconds});
  figures.push_back({"of that from commit to completed", one.commit_to_complete, "us", 0});

  metal.launch_and_wait(arguments.dispatches);
  const double before = resident_mebibytes();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) metal.launch_and_wait(arguments.dispatches);
  figures.push_back({fmt::format("each of {} dispatches in a command buffer", arguments.dispatches),
                     milliseconds_since(start) * 1e3 / arguments.dispatches / 5, "us", 0});
  figures.push_back({"memory that five of those leave behind", resident_mebibytes() - before, "MiB", 0});

  metal.check_all_ran();
  show_figures(figures, arguments.as_json);
  if (arguments.as_json) return;
  fmt::print("on {}; ", metal.name());
  if (!peer.name().empty())
    fmt::print("the first row's \"at most\" is {} in this run\n", peer.name());
  else
    fmt::print("without a peer: {}\n", peer.why_not());
}

}  // namespace

void add_bench_launch(CLI::App& bench) {
  auto arguments = std::make_shared<LaunchArguments>();
  CLI::App* command = bench.add_subcommand("launch", "What a launch costs, beside OpenCL's on the same CPU");
  command->add_option("--runs", arguments->runs, "Launches for each median")->check(CLI::Range(1, 1000000));
  command->add_option("--dispatches", arguments->dispatches, "In the long command buffer")
      ->check(CLI::Range(1, 10000000));
  command->add_flag("--json", arguments->as_json, "As JSON");
  command->callback([arguments] { bench_launch(*arguments); });
}

}  // namespace metalloid::tool
