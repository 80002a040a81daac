// Products of matrices by cuBLASLt. Its matrices lie column by column: one of ours, row by row, is the transpose of one
// of its, so it is asked for the transpose of the result, which is the product of the transposes in reverse.
//
// Which algorithm is best is asked when a product is first run; nothing of the answer belongs to a stream or a context.
#include "mps/libraries/matrix_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "mps/libraries/nvidia/primitives.hpp"
#include "mps/libraries/nvidia/stream_libraries.hpp"

namespace metalloid::mps::nvidia {
namespace {

constexpr uint64_t most_workspace = 32 << 20;

lt::Type type_of(MPS::DataType type) {
  switch (type) {
    case MPS::DataTypeFloat16:
      return lt::Type::float16;
    case MPS::DataTypeBFloat16:
      return lt::Type::bfloat16;
    case MPS::DataTypeInt8:
      return lt::Type::int8;
    case MPS::DataTypeInt32:
      return lt::Type::int32;
    default:
      return lt::Type::float32;
  }
}

bool is_of_integers(const MatrixProduct& p) {
  return p.result_type == MPS::DataTypeInt32;
}

using Epilogue = ProductOptions::Epilogue;

class Product final : public Primitive {
 public:
  Product(const MatrixProduct& p, const ProductOptions& options)
      : library_(*CublasLt::shared()),
        epilogue_(options.epilogue),
        is_of_integers_(is_of_integers(p)),
        compute_(is_of_integers_               ? lt::Compute::int32
                 : options.inputs_may_be_short ? lt::Compute::float32_from_short
                                               : lt::Compute::float32),
        alignment_(uint32_t(p.alignment)),
        alpha_(float(p.alpha)),
        beta_(float(p.beta)),
        whole_alpha_(int32_t(p.alpha)),
        whole_beta_(int32_t(p.beta)),
        transposes_{p.transpose_right, p.transpose_left} {
    left_ = layout(p.left_type, p.transpose_left ? p.interior : p.rows, p.transpose_left ? p.rows : p.interior,
                   p.left_row_stride, p.batch, p.left_batch_stride);
    right_ = layout(p.right_type, p.transpose_right ? p.columns : p.interior,
                    p.transpose_right ? p.interior : p.columns, p.right_row_stride, p.batch, p.right_batch_stride);
    result_ = layout(p.result_type, p.rows, p.columns, p.result_row_stride, p.batch, p.result_batch_stride);
  }
  ~Product() override {
    for (const lt::Layout layout : {left_, right_, result_}) library_.destroy_layout(layout);
  }

  Status run(device::LibraryStream* stream, std::span<void* const> places) override {
    StreamLibraries& own = StreamLibraries::of(*stream);
    const auto handle = own.cublas_lt();
    if (!handle) return Error{handle.error()};
    const Operation operation(*this, epilogue_ == Epilogue::none ? nullptr : places[3]);
    const auto chosen = choice(*handle, operation.get());
    if (!chosen) return Error{chosen.error()};
    const auto workspace = own.workspace(chosen->workspace);
    if (!workspace) return Error{workspace.error()};
    const void* alpha = is_of_integers_ ? static_cast<const void*>(&whole_alpha_) : &alpha_;
    const void* beta = is_of_integers_ ? static_cast<const void*>(&whole_beta_) : &beta_;
    const lt::Code code =
        library_.multiply(*handle, operation.get(), alpha, places[1], right_, places[0], left_, beta, places[2],
                          result_, places[2], result_, &chosen->algorithm, *workspace, chosen->workspace, own.stream());
    return code == lt::Code::success ? success() : failed("multiply", code);
  }

 private:
  // What is done besides reading and writing, described for one run, since biases belong to it.
  class Operation {
   public:
    Operation(const Product& product, void* biases) : library_(product.library_) {
      library_.create_product(&product_, product.compute_,
                              product.is_of_integers_ ? lt::Type::int32 : lt::Type::float32);
      set(lt::ProductAttribute::transpose_a, product.transposes_[0]);
      set(lt::ProductAttribute::transpose_b, product.transposes_[1]);
      if (product.epilogue_ == Epilogue::none) return;
      set(lt::ProductAttribute::epilogue,
          product.epilogue_ == Epilogue::biases ? lt::Epilogue::biases : lt::Epilogue::biases_and_relu);
      set(lt::ProductAttribute::biases, biases);
    }
    ~Operation() { library_.destroy_product(product_); }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    lt::Product get() const { return product_; }

   private:
    template <class Value>
    void set(lt::ProductAttribute attribute, const Value& value) {
      library_.set_product(product_, attribute, &value, sizeof value);
    }

    const CublasLt& library_;
    lt::Product product_ = nullptr;
  };

  // Of one of our matrices, as it is stored.
  lt::Layout layout(MPS::DataType type, size_t rows, size_t columns, size_t row_stride, size_t batch,
                    size_t batch_stride) const {
    lt::Layout made = nullptr;
    library_.create_layout(&made, type_of(type), columns, rows, int64_t(std::max(row_stride, columns)));
    const auto count = int32_t(batch);
    const auto stride = int64_t(batch_stride);
    library_.set_layout(made, lt::LayoutAttribute::batch_count, &count, sizeof count);
    library_.set_layout(made, lt::LayoutAttribute::batch_stride, &stride, sizeof stride);
    return made;
  }

  Result<lt::Heuristic> choice(lt::Handle handle, lt::Product operation) {
    std::lock_guard lock(mutex_);
    if (choice_) return *choice_;
    lt::Preference preference = nullptr;
    library_.create_preference(&preference);
    library_.set_preference(preference, lt::PreferenceAttribute::most_workspace, &most_workspace,
                            sizeof most_workspace);
    using enum lt::PreferenceAttribute;
    for (const lt::PreferenceAttribute place : {alignment_a, alignment_b, alignment_c, alignment_d})
      library_.set_preference(preference, place, &alignment_, sizeof alignment_);
    lt::Heuristic best;
    int found = 0;
    const lt::Code code =
        library_.find_algorithms(handle, operation, right_, left_, result_, result_, preference, 1, &best, &found);
    library_.destroy_preference(preference);
    if (code != lt::Code::success) return failed("find an algorithm for", code);
    if (found == 0) return failed("find an algorithm for", lt::Code::not_supported);
    choice_ = best;
    return best;
  }

  Error failed(const char* deed, lt::Code code) const {
    return Error{fmt::format("cuBLASLt could not {} these matrices: {}; METALLOID_MPS_LIBRARIES=0 does without it",
                             deed, library_.get_status_string(code))};
  }

  const CublasLt& library_;
  const Epilogue epilogue_;
  const bool is_of_integers_;
  const lt::Compute compute_;
  const uint32_t alignment_;
  const float alpha_, beta_;
  const int32_t whole_alpha_, whole_beta_;
  const std::array<int32_t, 2> transposes_;  // of cuBLASLt's first and second matrix
  lt::Layout left_ = nullptr, right_ = nullptr, result_ = nullptr;
  std::mutex mutex_;
  std::optional<lt::Heuristic> choice_;
};

// Integers are multiplied in pieces of four, and their sums not scaled.
bool has_integers(const MatrixProduct& p) {
  const bool are_scalars_plain = p.alpha == 1 && (p.beta == 0 || p.beta == 1);
  const size_t together = p.rows | p.columns | p.interior | p.left_row_stride | p.right_row_stride |
                          p.result_row_stride | p.left_batch_stride | p.right_batch_stride | p.result_batch_stride;
  return p.left_type == MPS::DataTypeInt8 && p.right_type == MPS::DataTypeInt8 && are_scalars_plain &&
         !p.transpose_left && together % 4 == 0 && p.alignment % 4 == 0;
}

bool has_floats(const MatrixProduct& p) {
  if (p.left_type != p.right_type) return false;
  switch (p.left_type) {
    case MPS::DataTypeFloat32:
      return p.result_type == MPS::DataTypeFloat32;
    case MPS::DataTypeFloat16:
    case MPS::DataTypeBFloat16:
      return p.result_type == p.left_type || p.result_type == MPS::DataTypeFloat32;
    default:
      return false;
  }
}

}  // namespace

std::shared_ptr<Primitive> make_matrix_product(const MatrixProduct& p, const ProductOptions& options) {
  if (!CublasLt::shared() || p.rows == 0 || p.columns == 0 || p.interior == 0 || p.batch == 0) return nullptr;
  if (is_of_integers(p) ? !has_integers(p) : !has_floats(p)) return nullptr;
  return std::make_shared<Product>(p, options);
}

}  // namespace metalloid::mps::nvidia
