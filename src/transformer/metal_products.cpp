#include "transformer/metal_products.hpp"

#include <fmt/format.h>

#include <bit>
#include <chrono>

#include "cache/disk_cache.hpp"
#include "transformer/metal_memory.hpp"

namespace metalloid::transformer {

namespace {

const char* metal_name_of(TensorType type) {
  switch (type) {
    case TensorType::f16:
      return "half";
    case TensorType::bf16:
      return "bfloat";
    case TensorType::q8_0:
      return "q8_0";
    default:
      return "float";
  }
}

MPS::DataType mps_type_of(TensorType type) {
  return type == TensorType::f16    ? MPS::DataTypeFloat16
         : type == TensorType::bf16 ? MPS::DataTypeBFloat16
                                    : MPS::DataTypeFloat32;
}

NS::SharedPtr<MPS::Matrix> matrix_of(MetalCommands& commands, const Tensor& tensor) {
  const size_t row_bytes = bytes_of(tensor.type(), tensor.columns());
  return NS::TransferPtr(MPS::Matrix::alloc()->init(
      commands.buffer_of(tensor), tensor.offset(),
      MPS::MatrixDescriptor::matrixDescriptor(tensor.rows(), tensor.columns(), row_bytes, mps_type_of(tensor.type()))));
}

// As kernels/matmul.metal has it.
struct KernelProduct {
  uint32_t rows, columns, interior;
  float scale;
};

size_t parts(size_t count, size_t each) {
  return (count + each - 1) / each;
}

}  // namespace

std::string kernel_name(const char* kernel, TensorType weights, TensorType activations) {
  if (weights == activations) return fmt::format("{}_{}", kernel, metal_name_of(weights));
  return fmt::format("{}_{}_{}", kernel, metal_name_of(weights), metal_name_of(activations));
}

void MetalProducts::encode(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options) {
  const Work work{x.type(), weights.type(), result.rows(), result.columns(), x.count() / result.rows(), options};
  encode(way_of(work, x, weights), work, x, weights, result);
}

MetalProducts::Way MetalProducts::way_of(const Work& work, const Tensor& x, const Tensor& weights) {
  constexpr size_t most_rows = 64, most_products = size_t{1} << 28;
  if (work.rows > most_rows || work.rows * work.columns * work.interior > most_products) return Way::Mps;
  const std::string kind =
      fmt::format("{} {} {} {} {} {} {}", name_of(work.type), name_of(work.weights_type), std::bit_width(work.rows),
                  std::bit_width(work.columns), std::bit_width(work.interior), work.options.transpose_left,
                  work.options.transpose_right);
  const auto known = ways_.find(kind);
  if (known != ways_.end()) return known->second;

  cache::CacheKey key("transformer products 1");
  key.add(commands_.device()->name()->utf8String()).add(kind);
  Way way;
  if (const std::optional<std::string> stored = cache::DiskCache::shared().load(key)) {
    way = *stored == "kernel" ? Way::Kernel : Way::Mps;
  } else {
    way = measure(work, x, weights);
    cache::DiskCache::shared().store(key, way == Way::Kernel ? "kernel" : "mps");
  }
  ways_[kind] = way;
  return way;
}

// On the same numbers, in a queue of its own: what is under way in the other may be what makes x, which does not matter
// here, and may use any memory of the pool, so that this has one of its own, too.
MetalProducts::Way MetalProducts::measure(const Work& work, const Tensor& x, const Tensor& weights) {
  using Clock = std::chrono::steady_clock;
  MetalCommands commands(NS::RetainPtr(commands_.device()));
  BufferPool pool = pool_.another();
  MetalProducts trial(commands, pool);
  const Tensor result = trial.scratch(work.type, {work.rows, work.columns});
  if (!result) return Way::Mps;
  const auto time = [&](Way way) {
    auto best = Clock::duration::max();
    for (int i = 0; i < 4; ++i) {
      const auto start = Clock::now();
      trial.encode(way, work, x, weights, result);
      if (!commands.finish()) return Clock::duration::max();
      best = std::min(best, Clock::now() - start);
    }
    return best;
  };
  return time(Way::Kernel) < time(Way::Mps) ? Way::Kernel : Way::Mps;
}

void MetalProducts::encode(Way way, const Work& work, const Tensor& x, const Tensor& weights, const Tensor& result) {
  if (way == Way::Mps) return encode_mps(work, x, weights, result);
  const MatmulOptions& options = work.options;
  const size_t down = options.transpose_right ? 4 : 8, across = options.transpose_right ? 4 : 32;
  commands_.dispatch(
      {kernel_name("matmul_kernel", work.weights_type, work.type),
       {options.transpose_left, options.transpose_right, options.add}},
      MTL::Size(parts(work.columns, across), parts(work.rows, down), 1), 32, x, weights, result,
      KernelProduct{uint32_t(work.rows), uint32_t(work.columns), uint32_t(work.interior), options.scale});
}

void MetalProducts::encode_mps(const Work& work, const Tensor& x, const Tensor& weights, const Tensor& result) {
  Tensor right = weights;
  if (work.weights_type == TensorType::q8_0) {
    right = scratch(work.type, weights.shape());
    if (!right) return;
    commands_.dispatch_threads({kernel_name("copy_kernel", weights.type(), work.type)}, MTL::Size(right.count(), 1, 1),
                               weights, right);
  }
  const MatmulOptions& options = work.options;
  const std::string kind =
      fmt::format("{} {} {} {} {} {} {} {} {}", name_of(work.type), name_of(right.type()), work.rows, work.columns,
                  work.interior, options.transpose_left, options.transpose_right, options.add, options.scale);
  NS::SharedPtr<MPS::MatrixMultiplication>& multiplication = multiplications_[kind];
  if (!multiplication)
    multiplication = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(
        commands_.device(), options.transpose_left, options.transpose_right, work.rows, work.columns, work.interior,
        options.scale, options.add ? 1 : 0));
  commands_.encode([&](MTL::CommandBuffer* command_buffer) {
    const auto left = matrix_of(commands_, x), middle = matrix_of(commands_, right),
               product = matrix_of(commands_, result);
    if (left && middle && product) multiplication->encode(command_buffer, left.get(), middle.get(), product.get());
  });
}

Tensor MetalProducts::scratch(TensorType type, std::vector<size_t> shape) {
  size_t count = 1;
  for (const size_t length : shape) count *= length;
  std::shared_ptr<TensorMemory> memory = pool_.take(bytes_of(type, count));
  if (!memory) return {};
  return Tensor(std::move(memory), 0, type, std::move(shape));
}

}  // namespace metalloid::transformer
