// The Metal side of a benchmark of kernels: the public API, on the system's default device.
#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <stdexcept>

#include "bench.hpp"
#include "bench_contest.hpp"

namespace metalloid::tool {

namespace {

NS::String* string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

MTL::Size size(const peer::Size& extents) {
  return {extents[0], extents[1], extents[2]};
}

std::string reason(NS::Error* error) {
  return error ? error->localizedDescription()->utf8String() : "no reason was given";
}

class MetalRunner : public Runner {
 public:
  explicit MetalRunner(NS::SharedPtr<MTL::Device> device)
      : device_(std::move(device)), queue_(NS::TransferPtr(device_->newCommandQueue())) {}

  void prepare(const Workload& workload, const Part& part) override {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    NS::Error* error = nullptr;
    const std::string source(kernel_source(workload.source + ".metal"));
    auto library = NS::TransferPtr(device_->newLibrary(string(source), nullptr, &error));
    if (!library) throw std::runtime_error("the Metal source does not compile: " + reason(error));
    for (const peer::Launch& launch : part.launches) {
      auto& pipeline = pipelines_[launch.kernel];
      if (pipeline) continue;
      auto function = NS::TransferPtr(library->newFunction(string(launch.kernel)));
      if (!function) throw std::runtime_error("there is no kernel " + launch.kernel);
      pipeline = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
      if (!pipeline) throw std::runtime_error(fmt::format("{} has no pipeline: {}", launch.kernel, reason(error)));
    }
    for (const WorkBuffer& buffer : workload.buffers) {
      buffers_.push_back(NS::TransferPtr(
          device_->newBuffer(buffer.contents.data(), buffer.contents.size(), MTL::ResourceStorageModeShared)));
      if (!buffers_.back()) throw std::runtime_error("there is no memory for a buffer");
    }
    workload_ = &workload;
    part_ = &part;
  }

  std::vector<double> run(size_t times) override {
    std::vector<double> milliseconds;
    for (size_t i = 0; i < times; ++i) milliseconds.push_back(run_once());
    return milliseconds;
  }

  std::string read_buffer(uint32_t number) override {
    return {static_cast<const char*>(buffers_.at(number)->contents()), buffers_.at(number)->length()};
  }

  void clear() override {
    pipelines_.clear();
    buffers_.clear();
  }

 private:
  // Encoding is not counted: commit to completed.
  double run_once() {
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (const WorkBuffer& buffer = workload_->buffers[i]; buffer.changes)
        std::memcpy(buffers_[i]->contents(), buffer.contents.data(), buffer.contents.size());
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* command_buffer = queue_->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = command_buffer->computeCommandEncoder();
    for (const peer::Launch& launch : part_->launches) {
      encoder->setComputePipelineState(pipelines_.at(launch.kernel).get());
      for (size_t i = 0; i < launch.arguments.size(); ++i) {
        const peer::Argument& argument = launch.arguments[i];
        if (argument.kind == peer::Argument::Kind::buffer)
          encoder->setBuffer(buffers_.at(argument.bits).get(), 0, i);
        else
          encoder->setBytes(&argument.bits, sizeof argument.bits, i);
      }
      encoder->dispatchThreads(size(launch.grid), size(launch.group));
    }
    encoder->endEncoding();
    const auto start = std::chrono::steady_clock::now();
    command_buffer->commit();
    command_buffer->waitUntilCompleted();
    const double time = milliseconds_since(start);
    if (command_buffer->status() != MTL::CommandBufferStatusCompleted)
      throw std::runtime_error(reason(command_buffer->error()));
    return time;
  }

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  std::map<std::string, NS::SharedPtr<MTL::ComputePipelineState>> pipelines_;
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers_;
  const Workload* workload_ = nullptr;
  const Part* part_ = nullptr;
};

}  // namespace

Entrant find_metal() {
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return {nullptr, "", "there is no Metal device"};
  std::string name = device->name()->utf8String();
  return {std::make_unique<MetalRunner>(std::move(device)), std::move(name), ""};
}

}  // namespace metalloid::tool
