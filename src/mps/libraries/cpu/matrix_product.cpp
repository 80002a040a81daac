// Products of matrices: of float by whichever of OpenBLAS and oneDNN is the faster, of bfloat and int8, and of many
// matrices at once, by oneDNN.
//
// The rule was measured on a Zen 4 and an Emerald Rapids, squares and thin shapes. OpenBLAS's sgemm is the faster where
// it stays on one thread; two such, with some of the rows or columns each, meet once, where a product of oneDNN's on
// two threads meets several times, which takes as long as the product where processors are far apart. oneDNN's sgemm is
// the faster from there on, by up to five times where a side is short; oneDNN's matmul, by a few hundredths, where none
// is, until all sides are long: on the Emerald Rapids, sgemm is ahead by 6 of 100 at 1024 and by 12 at 2048.
//
// All that is so if OpenBLAS has kernels for the processor. It has none for processors that are newer than it is, and
// takes old ones then, which are slower by three times and more; oneDNN asks for instructions, not for names, and does
// all products there: small ones in two parts as well.
#include <cblas.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <dnnl.hpp>
#include <mutex>
#include <string_view>

#include "device/host_maker.hpp"
#include "mps/libraries/cpu/instructions.hpp"
#include "mps/libraries/cpu/primitives.hpp"
#include "mps/libraries/cpu/scratch.hpp"
#include "mps/libraries/cpu/threads.hpp"

namespace metalloid::mps::cpu {
namespace {

constexpr size_t most_for_one_thread = 56 * 56 * 56;       // more are faster on two
constexpr size_t most_for_openblas_thread = 64 * 64 * 64;  // with more, it would wake threads of its own
constexpr size_t most_for_onednn_thread = 64 * 128 * 128;  // with more, two parts are no faster than its own threads
constexpr size_t least_side_for_matmul = 256;
size_t least_side_for_sgemm_again() {
  return device::host_maker() == device::Maker::intel ? 512 : 1536;
}

struct PartOfProduct {
  size_t rows = 0, columns = 0;
  const float *left = nullptr, *right = nullptr;
  float* result = nullptr;
};
using MultiplyPart = bool (*)(const MatrixProduct& whole, const PartOfProduct& part);

bool multiply_by_openblas(const MatrixProduct& p, const PartOfProduct& part) {
  cblas_sgemm(CblasRowMajor, p.transpose_left ? CblasTrans : CblasNoTrans,
              p.transpose_right ? CblasTrans : CblasNoTrans, blasint(part.rows), blasint(part.columns),
              blasint(p.interior), float(p.alpha), part.left, blasint(p.left_row_stride), part.right,
              blasint(p.right_row_stride), float(p.beta), part.result, blasint(p.result_row_stride));
  return true;
}

// On all threads, or on one if it is called by one of a team.
bool multiply_by_onednn(const MatrixProduct& p, const PartOfProduct& part) {
  return dnnl_sgemm(p.transpose_left ? 'T' : 'N', p.transpose_right ? 'T' : 'N', dnnl_dim_t(part.rows),
                    dnnl_dim_t(part.columns), dnnl_dim_t(p.interior), float(p.alpha), part.left,
                    dnnl_dim_t(p.left_row_stride), part.right, dnnl_dim_t(p.right_row_stride), float(p.beta),
                    part.result, dnnl_dim_t(p.result_row_stride)) == dnnl_success;
}

class Sgemm final : public Primitive {
 public:
  explicit Sgemm(const MatrixProduct& product) : product_(product) {}

  Status run(device::LibraryStream*, std::span<void* const> places) override {
    const MatrixProduct& p = product_;
    const PartOfProduct whole{p.rows, p.columns, static_cast<const float*>(places[0]),
                              static_cast<const float*>(places[1]), static_cast<float*>(places[2])};
    const MultiplyPart multiply_small = openblas_knows_processor() ? multiply_by_openblas : multiply_by_onednn;
    std::atomic<bool> succeeded = true;
    if (p.rows * p.columns * p.interior <= most_for_one_thread) {
      succeeded = multiply_small(p, whole);
    } else if (is_for_two_threads()) {
      run_parts_on_team(2, [&](unsigned i) {
        if (!multiply_small(p, half_of(whole, i))) succeeded = false;
      });
    } else {
      succeeded = multiply_by_onednn(p, whole);
    }
    if (!succeeded) return Error{"oneDNN's sgemm failed"};
    return success();
  }

 private:
  // Halves are some rows of the result, or columns where there are more: multiples of what libraries compute at once.
  size_t length_of_half() const {
    constexpr size_t at_once = 16;
    return (std::max(product_.rows, product_.columns) + 2 * at_once - 1) / (2 * at_once) * at_once;
  }
  bool is_for_two_threads() const {
    constexpr size_t short_side = 32;
    const MatrixProduct& p = product_;
    const size_t most = openblas_knows_processor() ? most_for_openblas_thread : most_for_onednn_thread;
    return most_threads() > 1 && std::min({p.rows, p.columns, p.interior}) >= short_side &&
           length_of_half() * std::min(p.rows, p.columns) * p.interior <= most;
  }
  PartOfProduct half_of(PartOfProduct part, size_t index) const {
    const MatrixProduct& p = product_;
    const bool by_rows = p.rows >= p.columns;
    const size_t first = index * length_of_half();
    size_t& length = by_rows ? part.rows : part.columns;
    length = std::min(length_of_half(), length - first);
    if (by_rows) {
      part.left += first * (p.transpose_left ? 1 : p.left_row_stride);
      part.result += first * p.result_row_stride;
    } else {
      part.right += first * (p.transpose_right ? p.right_row_stride : 1);
      part.result += first;
    }
    return part;
  }

  const MatrixProduct product_;
};

using Type = dnnl::memory::data_type;

Type type_of(MPS::DataType type) {
  switch (type) {
    case MPS::DataTypeFloat32:
      return Type::f32;
    case MPS::DataTypeBFloat16:
      return Type::bf16;
    case MPS::DataTypeInt8:
      return Type::s8;
    case MPS::DataTypeInt32:
      return Type::s32;
    default:
      return Type::undef;
  }
}

dnnl::engine& engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::desc described(MPS::DataType type, size_t batch, size_t rows, size_t columns, bool transposed,
                             size_t row_stride, size_t batch_stride) {
  const auto down = dnnl_dim_t(transposed ? 1 : row_stride), across = dnnl_dim_t(transposed ? row_stride : 1);
  const auto height = dnnl_dim_t(rows), width = dnnl_dim_t(columns);
  if (batch == 1) return {{height, width}, type_of(type), {down, across}};
  const bool is_shared = batch_stride == 0;
  const size_t whole = (transposed ? columns : rows) * row_stride;
  return {{is_shared ? 1 : dnnl_dim_t(batch), height, width},
          type_of(type),
          {dnnl_dim_t(is_shared ? whole : batch_stride), down, across}};
}

class Matmul final : public Primitive {
 public:
  static std::shared_ptr<Primitive> make(const MatrixProduct& p) {
    const auto left =
        described(p.left_type, p.batch, p.rows, p.interior, p.transpose_left, p.left_row_stride, p.left_batch_stride);
    const auto right = described(p.right_type, p.batch, p.interior, p.columns, p.transpose_right, p.right_row_stride,
                                 p.right_batch_stride);
    const auto result =
        described(p.result_type, p.batch, p.rows, p.columns, false, p.result_row_stride, p.result_batch_stride);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (p.alpha != 1) attributes.set_output_scales(0, {float(p.alpha)});
    if (p.beta != 0) {
      dnnl::post_ops addend;
      addend.append_sum(float(p.beta));
      attributes.set_post_ops(addend);
    }
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(left, right, result), attributes, engine(),
                                                   /*allow_empty=*/true);
    if (!description || std::string_view(description.impl_info_str()).starts_with("ref")) return nullptr;
    return std::make_shared<Matmul>(description);
  }

  explicit Matmul(const dnnl::matmul::primitive_desc& description)
      : matmul_(description),
        stream_(engine()),
        memories_{unplaced(description.src_desc()), unplaced(description.weights_desc()),
                  unplaced(description.dst_desc()), unplaced(description.scratchpad_desc())},
        scratchpad_size_(description.scratchpad_desc().get_size()) {}

  Status run(device::LibraryStream*, std::span<void* const> places) override {
    const std::lock_guard lock(mutex_);
    auto& [left, right, result, scratchpad] = memories_;
    left.set_data_handle(places[0]);
    right.set_data_handle(places[1]);
    result.set_data_handle(places[2]);
    scratchpad.set_data_handle(scratch<Purpose::library>(scratchpad_size_));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, left.get()},
                                         {DNNL_ARG_WEIGHTS, right.get()},
                                         {DNNL_ARG_DST, result.get()},
                                         {DNNL_ARG_SCRATCHPAD, scratchpad.get()}};
    if (dnnl_primitive_execute(matmul_.get(), stream_.get(), int(std::size(arguments)), arguments) != dnnl_success)
      return Error{"oneDNN's matmul failed"};
    stream_.wait();
    return success();
  }

 private:
  static dnnl::memory unplaced(const dnnl::memory::desc& description) {
    return {description, engine(), DNNL_MEMORY_NONE};
  }

  // What describes a run is made once: it would take a small product's time by some hundredths. Two runs at once would
  // have to wait for each other in any case, for there is one team of threads.
  std::mutex mutex_;
  const dnnl::matmul matmul_;
  dnnl::stream stream_;
  std::array<dnnl::memory, 4> memories_;
  const size_t scratchpad_size_;
};

bool matmul_has(const MatrixProduct& p) {
  const auto are = [&](MPS::DataType left, MPS::DataType result) {
    return p.left_type == left && p.right_type == left && p.result_type == result;
  };
  if (are(MPS::DataTypeBFloat16, MPS::DataTypeBFloat16) || are(MPS::DataTypeBFloat16, MPS::DataTypeFloat32))
    return has_bfloat_products();
  if (are(MPS::DataTypeInt8, MPS::DataTypeFloat32)) return has_int8_products();
  if (are(MPS::DataTypeInt8, MPS::DataTypeInt32)) return has_int8_products() && p.alpha == 1 && p.beta == 0;
  return false;
}

}  // namespace

std::shared_ptr<Primitive> make_matrix_product(const MatrixProduct& product) {
  const bool of_float = product.left_type == MPS::DataTypeFloat32 && product.right_type == MPS::DataTypeFloat32 &&
                        product.result_type == MPS::DataTypeFloat32;
  const size_t side = std::min({product.rows, product.columns, product.interior});
  const bool is_for_matmul = (side >= least_side_for_matmul && side < least_side_for_sgemm_again()) || product.batch > 1;
  std::shared_ptr<Primitive> made;
  if (of_float ? is_for_matmul : matmul_has(product)) made = Matmul::make(product);
  if (!made && of_float && product.batch == 1) made = std::make_shared<Sgemm>(product);
  return made;
}

}  // namespace metalloid::mps::cpu
