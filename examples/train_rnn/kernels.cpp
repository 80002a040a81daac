#include "kernels.hpp"

#include <fmt/format.h>

#include "training/failure.hpp"

namespace metalloid::train_rnn {

extern const char* const kernels_source;

namespace {

const MTL::Size one_simdgroup(32, 1, 1);

struct Dropout {  // as in train_rnn.metal
  uint32_t seed;
  float keep;
};
struct Strips {  // as in train_rnn.metal
  uint32_t count, length;
  float limit;
};

void set(MTL::ComputeCommandEncoder* encoder, MTL::Buffer* buffer, NS::UInteger index) {
  encoder->setBuffer(buffer, 0, index);
}
template <class Value>
void set(MTL::ComputeCommandEncoder* encoder, const Value& value, NS::UInteger index) {
  encoder->setBytes(&value, sizeof(value), index);
}

}  // namespace

Kernels::Kernels(MTL::Device* device) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::Error* error = nullptr;
  const auto require = [&](const auto& made, const char* name) {
    if (!made)
      throw training::Failure(training::exit_failed, fmt::format("the kernel {} cannot be used: {}", name,
                                                                 error->localizedDescription()->utf8String()));
  };
  const auto library =
      NS::TransferPtr(device->newLibrary(NS::String::string(kernels_source, NS::UTF8StringEncoding), nullptr, &error));
  require(library, "train_rnn.metal");
  for (const char* name : {"one_hot", "cross_entropy", "squared_error", "dropout", "sum_squares", "clip_to_norm"}) {
    const auto function = NS::TransferPtr(library->newFunction(NS::String::string(name, NS::UTF8StringEncoding)));
    pipelines_[name] = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    require(pipelines_[name], name);
  }
}

template <class... Arguments>
void Kernels::dispatch(MTL::CommandBuffer* commands, const char* name, MTL::Size threads,
                       MTL::Size threads_per_threadgroup, const Arguments&... arguments) const {
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipelines_.at(name).get());
  NS::UInteger index = 0;
  (set(encoder, arguments, index++), ...);
  encoder->dispatchThreads(threads, threads_per_threadgroup);
  encoder->endEncoding();
}

void Kernels::one_hot(MTL::CommandBuffer* commands, MTL::Buffer* rows, MTL::Buffer* symbols, size_t count,
                      size_t columns) const {
  dispatch(commands, "one_hot", MTL::Size(columns, count, 1), one_simdgroup, rows, symbols, uint32_t(columns));
}

void Kernels::cross_entropy(MTL::CommandBuffer* commands, MTL::Buffer* rows, MTL::Buffer* targets, MTL::Buffer* losses,
                            size_t count, size_t columns, float weight) const {
  dispatch(commands, "cross_entropy", MTL::Size(32 * count, 1, 1), one_simdgroup, rows, targets, losses,
           uint32_t(columns), weight);
}

void Kernels::squared_error(MTL::CommandBuffer* commands, MTL::Buffer* numbers, MTL::Buffer* targets,
                            MTL::Buffer* losses, size_t count, float weight) const {
  dispatch(commands, "squared_error", MTL::Size(count, 1, 1), one_simdgroup, numbers, targets, losses, weight);
}

void Kernels::dropout(MTL::CommandBuffer* commands, MTL::Buffer* numbers, size_t count, uint32_t seed,
                      float keep) const {
  dispatch(commands, "dropout", MTL::Size(count, 1, 1), MTL::Size(256, 1, 1), numbers, Dropout{seed, keep});
}

void Kernels::clip_to_norm(MTL::CommandBuffer* commands, MTL::Buffer* numbers, size_t count, float limit,
                           MTL::Buffer* sums) const {
  const Strips all{uint32_t(count), uint32_t((count + strips - 1) / strips), limit};
  dispatch(commands, "sum_squares", MTL::Size(32 * strips, 1, 1), one_simdgroup, numbers, sums, all);
  dispatch(commands, "clip_to_norm", MTL::Size(32 * strips, 1, 1), one_simdgroup, numbers, sums, all);
}

}  // namespace metalloid::train_rnn
