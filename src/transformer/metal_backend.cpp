// Transformers on a Metal device: what is dispatched for each operation.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "device/host_maker.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/matrix/rows.hpp"
#include "transformer/buffer_pool.hpp"
#include "transformer/metal_commands.hpp"
#include "transformer/metal_memory.hpp"
#include "transformer/metal_products.hpp"
#include "transformer/operations.hpp"

namespace metalloid::transformer {
namespace {

// As the kernels have them.
struct KernelVectorProducts {
  uint32_t columns, rows[3] = {}, first_group[3] = {0, UINT32_MAX, UINT32_MAX};
  float epsilon;
};
struct KernelTable {
  uint32_t rows, columns;
};
struct KernelPlaces {
  uint64_t first[3] = {};
  uint32_t position = 0;
};
struct KernelTurn {
  uint64_t first[2];
  uint32_t pairs, size, position, heads[2];
};
struct KernelAttention {
  uint32_t tokens, heads, kv_heads, size, position;
  float scale;

  explicit KernelAttention(const AttentionShape& shape)
      : tokens(uint32_t(shape.tokens)),
        heads(uint32_t(shape.heads)),
        kv_heads(uint32_t(shape.kv_heads)),
        size(uint32_t(shape.size)),
        position(uint32_t(shape.position)),
        scale(shape.scale) {}
};

// Of a tensor in its memory.
uint64_t first_number(const Tensor& tensor) {
  return tensor.offset() / bytes_of(tensor.type(), 1);
}

uint32_t parts(size_t count, size_t each) {
  return uint32_t((count + each - 1) / each);
}

// How long before it reads weights a CPU asks for them; 0: not at all. AMD's processors look ahead far enough in halves
// that are read in long runs, and less far if they are asked, too (a Zen 4 reads 8 % less, 30 % if that is 4 KiB
// ahead); without being asked, Intel's do not (an Emerald Rapids reads 25 % less).
uint32_t bytes_ahead(TensorType weights) {
  const bool is_converted = weights == TensorType::f16 || weights == TensorType::bf16;
  return is_converted && device::host_maker() == device::Maker::amd ? 0 : 4096;
}

class MetalOperations final : public Operations {
 public:
  MetalOperations(NS::SharedPtr<MTL::Device> device, bool kernels_for_gpu)
      : commands_(std::move(device)),
        is_gpu_(mps::is_gpu(commands_.device())),
        kernels_for_gpu_(kernels_for_gpu),
        pool_([this](size_t bytes) {
          return new_buffer_memory(commands_.device(), bytes,
                                   is_gpu_ ? MTL::ResourceStorageModePrivate : MTL::ResourceStorageModeShared);
        }) {
    for (auto& buffer : unused_)
      buffer = NS::TransferPtr(commands_.device()->newBuffer(256, MTL::ResourceStorageModeShared));
  }
  ~MetalOperations() override { (void)commands_.finish(); }

  std::string name() const override { return "metal"; }
  std::string device_name() const override { return commands_.device()->name()->utf8String(); }
  bool is_available() const override { return !commands_.is_lost(); }

  std::shared_ptr<TensorMemory> wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner) override {
    return new_wrapped_memory(commands_.device(), data, bytes, std::move(owner));
  }
  std::shared_ptr<TensorMemory> take(size_t bytes) override { return pool_.take(bytes); }
  PoolStatistics pool_statistics() const override { return pool_.statistics(); }
  void trim_pool() override { pool_.trim(); }
  bool has_unified_memory() const override { return !is_gpu_; }

  void commit() override { commands_.commit(); }
  Status finish() override { return commands_.finish(); }

  Status read(const Tensor& tensor, void* destination) override {
    if (tensor.memory()->host) {
      if (Status done = commands_.finish(); !done) return done;
      std::memcpy(destination, tensor.memory()->host + tensor.offset(), tensor.bytes());
      return success();
    }
    return through_shared_memory(
        tensor,
        [&](std::byte* shared, size_t first, size_t bytes) {
          std::memcpy(static_cast<std::byte*>(destination) + first, shared, bytes);
        },
        false);
  }

  std::function<Status(void*)> read_later(const Tensor& tensor) override {
    Tensor seen = tensor;  // by the host
    if (!tensor.memory()->host) {
      std::shared_ptr<TensorMemory> shared =
          new_buffer_memory(commands_.device(), tensor.bytes(), MTL::ResourceStorageModeShared);
      if (!shared) commands_.fail(fmt::format("there is no memory for {} bytes", tensor.bytes()));
      seen = Tensor(std::move(shared), 0, tensor.type(), tensor.shape());
      if (seen && is_few_words(tensor))
        commands_.dispatch_threads({"put_kernel"}, MTL::Size(tensor.bytes() / 4, 1, 1), seen, tensor);
      else if (seen)
        blit(commands_.buffer_of(tensor), tensor.offset(), commands_.buffer_of(seen), 0, tensor.bytes());
    }
    return [this, seen, sent = commands_.commit()](void* destination) {
      Status done = commands_.wait(sent);
      if (done && seen) std::memcpy(destination, seen.memory()->host + seen.offset(), seen.bytes());
      return done;
    };
  }
  bool is_asynchronous() const override { return true; }

  Status write(const Tensor& tensor, const void* source) override {
    if (tensor.memory()->host) {
      if (Status done = commands_.finish(); !done) return done;
      std::memcpy(tensor.memory()->host + tensor.offset(), source, tensor.bytes());
      return success();
    }
    if (is_few_words(tensor)) {
      commands_.dispatch_threads({"put_kernel"}, MTL::Size(tensor.bytes() / 4, 1, 1), tensor,
                                 HostBytes{source, tensor.bytes()});
      return success();
    }
    return through_shared_memory(
        tensor,
        [&](std::byte* shared, size_t first, size_t bytes) {
          std::memcpy(shared, static_cast<const std::byte*>(source) + first, bytes);
        },
        true);
  }

  void matmul_vec(const VectorProducts& work) override {
    if (work.norm.weights && !kernels_for_gpu_) return matmul_vec_after_norm(work);
    const Product* product = work.products.data();
    const size_t count = work.gated ? 1 : work.products.size();
    const uint32_t norm = !work.norm.weights ? 0 : work.norm.weights.type() == TensorType::f32 ? 1 : 2;
    // A threadgroup's rows, as matmul_vec.metal and matmul_vec_tiled.metal have them.
    const uint32_t simdgroups = kernels_for_gpu_ ? 8 : 1;
    const uint32_t rows_of_simdgroup = kernels_for_gpu_ ? 1 : 8;
    KernelVectorProducts products{.columns = uint32_t(work.x.columns()), .epsilon = work.norm.epsilon};
    uint32_t groups = 0;
    for (size_t i = 0; i < count; ++i) {
      products.rows[i] = uint32_t(product[i].weights.rows());
      products.first_group[i] = groups;
      groups += parts(product[i].weights.rows(), simdgroups * rows_of_simdgroup);
    }
    if (groups == 0) return;
    const TensorType type = product[0].weights.type();
    mps::KernelFunction function{
        kernel_name(kernels_for_gpu_ ? "matmul_vec_tiled_kernel" : "matmul_vec_kernel", type, work.x.type()),
        {norm, work.gated, work.add, rows_of_simdgroup}};
    const auto weights_of = [&](size_t i) {
      return i < work.products.size() ? Place(product[i].weights) : Place(unused_[0].get());
    };
    const auto result_of = [&](size_t i) {
      if (i >= count) return Place(unused_[i].get());
      return kernels_for_gpu_ ? Place::memory_of(product[i].result) : Place(product[i].result);
    };
    const auto dispatch = [&](const auto&... rest) {
      commands_.dispatch(function, MTL::Size(groups, 1, 1), simdgroups * 32, work.x,
                         norm ? Place(work.norm.weights) : Place(unused_[0].get()), weights_of(0), weights_of(1),
                         weights_of(2), result_of(0), result_of(1), result_of(2), rest...);
    };
    if (!kernels_for_gpu_) {
      function.constants.push_back(bytes_ahead(type));
      return dispatch(products);
    }
    const Rope* rope = work.rope;
    const uint32_t turned = !rope ? 0 : rope->pairs == RopePairs::Neighbours ? 1 : 2;
    function.constants.insert(function.constants.end(),
                              {has_aligned_rows(work.products), products.columns, products.rows[0], products.rows[1],
                               products.rows[2], std::bit_cast<uint32_t>(products.epsilon), turned,
                               uint32_t(rope ? rope->head_size : 1), uint32_t(rope ? rope->frequencies.count() : 0)});
    KernelPlaces places{.position = uint32_t(rope ? rope->position : 0)};
    for (size_t i = 0; i < count; ++i) places.first[i] = first_number(product[i].result);
    dispatch(places, rope ? Place(rope->frequencies) : Place(unused_[0].get()));
  }

  bool turns_products() const override { return kernels_for_gpu_; }

  void matmul(const Tensor& x, const Tensor& weights, const Tensor& result, const MatmulOptions& options) override {
    products_.encode(x, weights, result, options);
  }

  void rmsnorm(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& result) override {
    commands_.dispatch({kernel_name("rmsnorm_kernel", x.type(), x.type()), {weights.type() == TensorType::f32}},
                       MTL::Size(x.rows(), 1, 1), threads_for_row(x), x, weights, result, uint32_t(x.columns()),
                       epsilon);
  }

  void softmax(const Tensor& x, const Tensor& result) override {
    commands_.dispatch({kernel_name("softmax_kernel", x.type(), x.type())}, MTL::Size(x.rows(), 1, 1),
                       threads_for_row(x), x, result, uint32_t(x.columns()));
  }

  void silu(const Tensor& x, const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("silu_kernel", x.type(), x.type())}, MTL::Size(x.count(), 1, 1), x, result);
  }

  void fused_silu_mul(const Tensor& gate, const Tensor& up, const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("fused_silu_mul_kernel", gate.type(), gate.type())},
                               MTL::Size(gate.count(), 1, 1), gate, up, result);
  }

  void add(const Tensor& x, const Tensor& y, const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("add_kernel", x.type(), x.type())}, MTL::Size(x.count(), 1, 1), x, y,
                               result);
  }

  void embed(const Tensor& table, const Tensor& tokens, const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("embed_kernel", table.type(), result.type())},
                               MTL::Size(table.columns(), tokens.count(), 1), table, tokens, result,
                               KernelTable{uint32_t(table.rows()), uint32_t(table.columns())});
  }

  void argmax(const Tensor& x, const Tensor& result) override {
    constexpr size_t long_row = 16384, most_threads = 1024;
    commands_.dispatch({kernel_name("argmax_kernel", x.type(), x.type())}, MTL::Size(x.rows(), 1, 1),
                       is_gpu_ && x.columns() > long_row ? most_threads : threads_for_row(x), x, result,
                       uint32_t(x.columns()));
  }

  void copy(const Tensor& x, const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("copy_kernel", x.type(), result.type())}, MTL::Size(x.count(), 1, 1), x,
                               result);
  }

  void rope(const std::vector<Tensor>& each, size_t position, const Tensor& frequencies, RopePairs pairs) override {
    for (size_t i = 0; i < each.size(); i += 2) {
      const Tensor& first = each[i];
      const bool has_second = i + 1 < each.size() && each[i + 1].columns() == first.columns();
      const size_t second_heads = has_second ? each[i + 1].shape()[1] : 0;
      commands_.dispatch_threads(
          {kernel_name("rope_kernel", first.type(), first.type()), {pairs == RopePairs::Neighbours}},
          MTL::Size(frequencies.count(), first.shape()[1] + second_heads, first.shape()[0]), Place::memory_of(first),
          has_second ? Place::memory_of(each[i + 1]) : Place(unused_[0].get()), frequencies,
          KernelTurn{{first_number(first), has_second ? first_number(each[i + 1]) : 0},
                     uint32_t(frequencies.count()),
                     uint32_t(first.columns()),
                     uint32_t(position),
                     {uint32_t(first.shape()[1]), uint32_t(second_heads)}});
      if (!has_second) --i;
    }
  }

  void attention_scores(const Tensor& queries, const Tensor& keys, const AttentionShape& shape,
                        const Tensor& scores) override {
    commands_.dispatch({kernel_name("attention_scores_kernel", queries.type(), queries.type())},
                       MTL::Size(parts(shape.length(), 32), shape.tokens, shape.heads), 32, queries, keys, scores,
                       KernelAttention(shape));
  }

  void weighted_sum(const Tensor& scores, const Tensor& values, const AttentionShape& shape,
                    const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("weighted_sum_kernel", scores.type(), scores.type())},
                               MTL::Size(shape.size, shape.tokens, shape.heads), scores, values, result,
                               KernelAttention(shape));
  }

  void flash_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const AttentionShape& shape,
                       const Tensor& result) override {
    const uint32_t head_parts = parts(shape.size, 32);
    if (shape.tokens == 1) {
      const uint32_t block = kernels_for_gpu_ ? 8 : 32;
      const size_t simdgroups = kernels_for_gpu_ ? std::clamp<size_t>(parts(shape.length(), block), 1, 16) : 1;
      commands_.dispatch(
          {kernel_name("flash_attention_vec_kernel", queries.type(), queries.type()), {head_parts, block}},
          MTL::Size(shape.heads, 1, 1), simdgroups * 32, queries, keys, values, result, KernelAttention(shape));
      return;
    }
    constexpr size_t rows_of_simdgroup = 4;
    commands_.dispatch(
        {kernel_name("flash_attention_kernel", queries.type(), queries.type()), {head_parts}},
        MTL::Size(parts(shape.tokens * shape.heads / shape.kv_heads, rows_of_simdgroup), shape.kv_heads, 1), 32,
        queries, keys, values, result, KernelAttention(shape));
  }

  void rmsnorm_gradient(const Tensor& x, const Tensor& weights, float epsilon, const Tensor& gradient,
                        const Tensor& result, bool add) override {
    commands_.dispatch(
        {kernel_name("rmsnorm_gradient_kernel", x.type(), x.type()), {weights.type() == TensorType::f32, add}},
        MTL::Size(x.rows(), 1, 1), threads_for_row(x), x, weights, gradient, result, uint32_t(x.columns()), epsilon);
  }

  void softmax_gradient(const Tensor& probabilities, const Tensor& gradient, float scale,
                        const Tensor& result) override {
    commands_.dispatch({kernel_name("softmax_gradient_kernel", result.type(), result.type())},
                       MTL::Size(result.rows(), 1, 1), threads_for_row(result), probabilities, gradient, result,
                       uint32_t(result.columns()), scale);
  }

  void fused_silu_mul_gradient(const Tensor& gate, const Tensor& up, const Tensor& gradient,
                               const Tensor& gate_gradient, const Tensor& up_gradient) override {
    commands_.dispatch_threads({kernel_name("fused_silu_mul_gradient_kernel", gate.type(), gate.type())},
                               MTL::Size(gate.count(), 1, 1), gate, up, gradient, gate_gradient, up_gradient);
  }

  void weighted_sum_gradient(const Tensor& scores, const Tensor& gradient, const AttentionShape& shape,
                             const Tensor& result) override {
    commands_.dispatch_threads({kernel_name("weighted_sum_gradient_kernel", scores.type(), scores.type())},
                               MTL::Size(shape.size, shape.length(), shape.kv_heads), scores, gradient, result,
                               KernelAttention(shape));
  }

  void cross_entropy(const Tensor& logits, const Tensor& targets, float scale, const Tensor& losses,
                     const Tensor& gradient) override {
    commands_.dispatch({kernel_name("cross_entropy_kernel", logits.type(), logits.type()), {bool(gradient)}},
                       MTL::Size(logits.rows(), 1, 1), threads_for_row(logits), logits, targets, losses,
                       gradient ? Place(gradient) : Place(unused_[0].get()), uint32_t(logits.columns()), scale);
  }

  void norms(const Tensor& x, const Tensor& result) override {
    commands_.dispatch({kernel_name("norms_kernel", x.type(), x.type())}, MTL::Size(x.rows(), 1, 1), threads_for_row(x),
                       x, result, uint32_t(x.columns()));
  }

  void adam(const Tensor& parameters, const Tensor& gradients, const Tensor& first, const Tensor& second,
            const AdamFactors& factors) override {
    commands_.dispatch_threads({"adam_kernel_float"}, MTL::Size(parameters.count(), 1, 1), parameters, gradients, first,
                               second, factors);
  }

 private:
  void matmul_vec_after_norm(VectorProducts work) {
    std::shared_ptr<TensorMemory> memory = pool_.take(work.x.bytes());
    if (!memory) return commands_.fail("matmul_vec: there is no memory for the norm");
    const Tensor normed(std::move(memory), 0, work.x.type(), work.x.shape());
    rmsnorm(work.x, work.norm.weights, work.norm.epsilon, normed);
    work.x = normed;
    work.norm = {};
    matmul_vec(work);
  }

  size_t threads_for_row(const Tensor& x) const {
    if (kernels_for_gpu_ && !is_gpu_) return 128;
    return mps::threads_for_row(commands_.device(), x.columns()).width;
  }

  // Whether threads may read 16 bytes of a row at once.
  static bool has_aligned_rows(const std::vector<Product>& products) {
    return std::all_of(products.begin(), products.end(), [](const Product& product) {
      const Tensor& weights = product.weights;
      return weights.offset() % 16 == 0 && bytes_of(weights.type(), weights.columns()) % 16 == 0;
    });
  }

  // So few that a kernel moves them sooner than a blit encoder, and that they may be constants.
  static bool is_few_words(const Tensor& tensor) {
    constexpr size_t most_bytes = 4096;
    const size_t bytes = tensor.bytes();
    return bytes != 0 && bytes <= most_bytes && bytes % 4 == 0 && tensor.offset() % 4 == 0;
  }

  void blit(MTL::Buffer* from, size_t first, MTL::Buffer* to, size_t place, size_t bytes) {
    commands_.encode([&](MTL::CommandBuffer* command_buffer) {
      MTL::BlitCommandEncoder* encoder = command_buffer->blitCommandEncoder();
      encoder->copyFromBuffer(from, first, to, place, bytes);
      encoder->endEncoding();
    });
  }

  // Copies between a tensor that the host does not see and memory that it does, in pieces: `touch` is given each,
  // before it is copied to the device or after it came from there.
  template <class Touch>
  Status through_shared_memory(const Tensor& tensor, const Touch& touch, bool to_device) {
    constexpr size_t most = size_t{64} << 20;
    const size_t bytes = tensor.bytes();
    const auto shared =
        bytes <= kept_bytes
            ? kept_memory()
            : NS::TransferPtr(commands_.device()->newBuffer(std::min(bytes, most), MTL::ResourceStorageModeShared));
    if (!shared) return Error{fmt::format("there is no memory for {} bytes", std::min(bytes, most))};
    for (size_t first = 0; first < bytes; first += most) {
      const size_t count = std::min(most, bytes - first);
      if (to_device) touch(static_cast<std::byte*>(shared->contents()), first, count);
      MTL::Buffer* own = commands_.buffer_of(tensor);
      if (to_device)
        blit(shared.get(), 0, own, tensor.offset() + first, count);
      else
        blit(own, tensor.offset() + first, shared.get(), 0, count);
      if (Status done = commands_.finish(); !done) return done;
      if (!to_device) touch(static_cast<std::byte*>(shared->contents()), first, count);
    }
    return success();
  }

  // For little that goes to the device or comes from it: pages of the host, which the device is told of once.
  static constexpr size_t kept_bytes = size_t{1} << 20;
  NS::SharedPtr<MTL::Buffer> kept_memory() {
    if (!kept_)
      if (void* pages = std::aligned_alloc(size_t(sysconf(_SC_PAGESIZE)), kept_bytes))
        kept_ = NS::TransferPtr(commands_.device()->newBuffer(pages, kept_bytes, MTL::ResourceStorageModeShared,
                                                              [](void* pages, NS::UInteger) { std::free(pages); }));
    return kept_;
  }

  MetalCommands commands_;
  const bool is_gpu_, kernels_for_gpu_;
  NS::SharedPtr<MTL::Buffer> kept_;
  BufferPool pool_;
  MetalProducts products_{commands_, pool_};
  // For arguments that a kernel does not use this time, each apart from the others: what a kernel writes may overlap
  // nothing, or the device has to expect the worst.
  NS::SharedPtr<MTL::Buffer> unused_[3];
};

}  // namespace

Result<std::unique_ptr<Operations>> metal_operations(KernelShape shape) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return Error{"there is no Metal device that works; `metalloid devices` says why"};
  const bool for_gpu = shape == KernelShape::OfDevice ? mps::is_gpu(device.get()) : shape == KernelShape::Gpu;
  std::unique_ptr<Operations> operations = std::make_unique<MetalOperations>(std::move(device), for_gpu);
  return operations;
}

}  // namespace metalloid::transformer
