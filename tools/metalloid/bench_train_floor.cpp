#include "bench_train_floor.hpp"

#include <dlfcn.h>
#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "bench.hpp"

namespace metalloid::tool {

namespace {

void check(dnnl_status_t status) {
  if (status != dnnl_success) throw std::runtime_error("oneDNN does not have it");
}

// oneDNN, opened at run time; its functions as they are needed.
class OneDnn {
 public:
  OneDnn() : library_(dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error("there is no oneDNN");
    check(call(&dnnl_engine_create, "dnnl_engine_create", &engine, dnnl_cpu, size_t{0}));
    check(call(&dnnl_stream_create, "dnnl_stream_create", &stream, engine, unsigned{dnnl_stream_default_flags}));
  }

  template <class Function, class... Arguments>
  std::invoke_result_t<Function, Arguments...> call(Function, const char* name, Arguments... arguments) const {
    return reinterpret_cast<Function>(dlsym(library_, name))(arguments...);
  }

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;

 private:
  void* library_;
};
#define CALL(function, ...) onednn.call(&function, #function __VA_OPT__(, ) __VA_ARGS__)

using Work = std::function<void()>;

// One argument of a primitive: which it is, and the layout that oneDNN chose for it.
struct Argument {
  int index;
  dnnl_query_t query;
};

Work work_of(const OneDnn& onednn, dnnl_primitive_desc_t description, const std::vector<Argument>& arguments) {
  dnnl_primitive_t primitive = nullptr;
  check(CALL(dnnl_primitive_create, &primitive, const_dnnl_primitive_desc_t(description)));
  std::vector<dnnl_exec_arg_t> given;
  for (const Argument& argument : arguments) {
    const dnnl_memory_desc_t* layout =
        CALL(dnnl_primitive_desc_query_md, const_dnnl_primitive_desc_t(description), argument.query, 0);
    dnnl_memory_t memory = nullptr;
    check(CALL(dnnl_memory_create, &memory, layout, onednn.engine, DNNL_MEMORY_ALLOCATE));
    void* numbers = nullptr;
    check(CALL(dnnl_memory_get_data_handle, const_dnnl_memory_t(memory), &numbers));
    std::fill_n(static_cast<float*>(numbers), CALL(dnnl_memory_desc_get_size, layout) / sizeof(float), 0.5f);
    given.push_back({argument.index, memory});
  }
  return [&onednn, primitive, given] {
    CALL(dnnl_primitive_execute, const_dnnl_primitive_t(primitive), onednn.stream, int(given.size()), given.data());
    CALL(dnnl_stream_wait, onednn.stream);
  };
}

// A convolution 5 x 5 that keeps the size, forward and backward.
void add_convolution(const OneDnn& onednn, std::vector<Work>& step, dnnl_dim_t batch, dnnl_dim_t size,
                     dnnl_dim_t inputs, dnnl_dim_t outputs, bool with_data_gradient) {
  const dnnl_dims_t sizes[] = {{batch, inputs, size, size}, {outputs, inputs, 5, 5}, {batch, outputs, size, size}};
  std::array<dnnl_memory_desc_t, 3> any;
  for (size_t i = 0; i < any.size(); ++i)
    check(CALL(dnnl_memory_desc_init_by_tag, &any[i], 4, sizes[i], dnnl_f32, dnnl_format_tag_any));
  const auto& [source, weights, destination] = any;
  dnnl_dims_t strides = {1, 1}, padding = {2, 2};

  dnnl_convolution_desc_t forward, of_data, of_weights;
  check(CALL(dnnl_convolution_forward_desc_init, &forward, dnnl_forward_training, dnnl_convolution_direct, &source,
             &weights, nullptr, &destination, strides, padding, padding));
  check(CALL(dnnl_convolution_backward_data_desc_init, &of_data, dnnl_convolution_direct, &source, &weights,
             &destination, strides, padding, padding));
  check(CALL(dnnl_convolution_backward_weights_desc_init, &of_weights, dnnl_convolution_direct, &source, &weights,
             nullptr, &destination, strides, padding, padding));
  const auto describe = [&](const dnnl_convolution_desc_t& pass, const_dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t description = nullptr;
    check(CALL(dnnl_primitive_desc_create, &description, const_dnnl_op_desc_t(&pass), nullptr, onednn.engine, hint));
    return description;
  };
  const dnnl_primitive_desc_t hint = describe(forward, nullptr);
  step.push_back(work_of(onednn, hint,
                         {{DNNL_ARG_SRC, dnnl_query_src_md},
                          {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                          {DNNL_ARG_DST, dnnl_query_dst_md}}));
  if (with_data_gradient)
    step.push_back(work_of(onednn, describe(of_data, hint),
                           {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md},
                            {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                            {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md}}));
  step.push_back(work_of(onednn, describe(of_weights, hint),
                         {{DNNL_ARG_SRC, dnnl_query_src_md},
                          {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md},
                          {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md}}));
}

// A fully connected layer, forward and backward.
void add_products(const OneDnn& onednn, std::vector<Work>& step, dnnl_dim_t batch, dnnl_dim_t inputs,
                  dnnl_dim_t outputs) {
  const auto numbers = [](dnnl_dim_t count) { return std::make_shared<std::vector<float>>(size_t(count), 0.5f); };
  const auto source = numbers(batch * inputs), weights = numbers(outputs * inputs), result = numbers(batch * outputs);
  const auto product = [&](char left_transpose, char right_transpose, dnnl_dim_t rows, dnnl_dim_t columns,
                           dnnl_dim_t interior, auto left, dnnl_dim_t left_stride, auto right, dnnl_dim_t right_stride,
                           auto made) {
    step.push_back([=, &onednn] {
      CALL(dnnl_sgemm, left_transpose, right_transpose, rows, columns, interior, 1.0f, left->data(), left_stride,
           right->data(), right_stride, 0.0f, made->data(), columns);
    });
  };
  product('N', 'T', batch, outputs, inputs, source, inputs, weights, inputs, result);
  product('N', 'N', batch, inputs, outputs, result, outputs, weights, inputs, source);
  product('T', 'N', outputs, inputs, batch, result, outputs, source, inputs, weights);
}

double step_time(const OneDnn& onednn, dnnl_dim_t batch, size_t steps) {
  static std::vector<Work> step;
  static dnnl_dim_t batch_of_step = 0;
  if (batch != batch_of_step) {
    step.clear();
    add_convolution(onednn, step, batch, 28, 1, 32, false);
    add_convolution(onednn, step, batch, 14, 32, 64, true);
    add_products(onednn, step, batch, 3136, 1024);
    add_products(onednn, step, batch, 1024, 10);
    batch_of_step = batch;
  }
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < steps; ++i)
    for (const Work& work : step) work();
  return milliseconds_since(start) / 1000 / double(steps);
}

}  // namespace

int serve_floor(std::FILE* requests, std::FILE* answers) {
  std::unique_ptr<OneDnn> onednn;
  for (unsigned long batch = 0, steps = 0; std::fscanf(requests, "%lu %lu", &batch, &steps) == 2;) {
    double answer = -1;
    try {
      if (!onednn) onednn = std::make_unique<OneDnn>();
      answer = step_time(*onednn, dnnl_dim_t(batch), steps);
    } catch (const std::exception&) {
    }
    fmt::print(answers, "{}\n", answer);
    std::fflush(answers);
  }
  return 0;
}

}  // namespace metalloid::tool
