// metalloid bench conv2d: the 2-D convolution of examples/conv2d as a naive kernel, as a tiled one and through Metal
// Performance Shaders, beside oneDNN called directly.
//
// oneDNN is opened at run time, in a process of its own, so that its threads do not wait for ours; it may choose the
// order of images and weights itself, and what it takes to bring them there does not count.
#include <dlfcn.h>
#include <dnnl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench.hpp"
#include "bench_report.hpp"
#include "bench_workload.hpp"
#include "files.hpp"
#include "plot/bar_chart.hpp"

namespace metalloid::tool {

namespace {

struct Shape {  // as in conv2d.metal
  unsigned images, width, height, inputs, outputs, kernel_size;

  double operations() const {
    return 2.0 * images * width * height * double(inputs) * outputs * kernel_size * kernel_size;
  }
  std::string name() const {
    return fmt::format("{} x {} x {}², {} x {} to {}", images, inputs, width, kernel_size, kernel_size, outputs);
  }
};

constexpr Shape shapes[] = {
    {1, 224, 224, 3, 64, 3},  {8, 56, 56, 64, 64, 3},  {8, 28, 28, 128, 256, 3},
    {1, 112, 112, 64, 64, 7}, {64, 14, 14, 32, 64, 5},
};
constexpr size_t turns = 11;
constexpr double asked_of_mps = 0.95, asked_of_tiled = 2;
constexpr const char* names[] = {"naive", "tiled", "MPS", "oneDNN"};

// Milliseconds of one convolution.
using Convolve = std::function<double()>;

// What Metal's ways work on: planar numbers, and the same as images.
class MetalConvolution {
 public:
  MetalConvolution(MTL::Device* device, MTL::Library* library, const Shape& shape)
      : device_(device), shape_(shape), queue_(NS::TransferPtr(device->newCommandQueue())) {
    Numbers numbers(shape.width);
    const size_t plane = size_t{shape.width} * shape.height;
    source_ = numbers.floats(shape.images * shape.inputs * plane);
    weights_ = numbers.floats(size_t{shape.outputs} * shape.inputs * shape.kernel_size * shape.kernel_size);
    result_bytes_ = shape.images * shape.outputs * plane * sizeof(float);
    source_buffer_ = NS::TransferPtr(device->newBuffer(source_.data(), source_.size() * sizeof(float), 0));
    weights_buffer_ = NS::TransferPtr(device->newBuffer(weights_.data(), weights_.size() * sizeof(float), 0));
    result_buffer_ = NS::TransferPtr(device->newBuffer(result_bytes_, MTL::ResourceStorageModeShared));
    for (size_t i = 0; i < pipelines_.size(); ++i) {
      const auto function = NS::TransferPtr(
          library->newFunction(NS::String::string(i == 0 ? "conv2d_naive" : "conv2d_tiled", NS::UTF8StringEncoding)));
      NS::Error* error = nullptr;
      pipelines_[i] = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
      require(bool(pipelines_[i]), "a kernel of conv2d.metal has no pipeline");
    }
    data_source_ = NS::TransferPtr(new Weights(*this));
    convolution_ = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device, data_source_.get()));
    require(bool(convolution_), "there is no convolution");
    sources_ = new_batch(shape.inputs);
    results_ = new_batch(shape.outputs);
    for (unsigned i = 0; i < shape.images; ++i)
      sources_->object<MPS::Image>(i)->writeBytes(source_.data() + i * shape.inputs * plane,
                                                  MPS::DataLayoutFeatureChannelsxHeightxWidth, 0);
  }

  double naive() {
    return run([this](MTL::CommandBuffer* commands) {
      MTL::ComputeCommandEncoder* encoder = encoder_for(commands, 0);
      encoder->dispatchThreads(MTL::Size(shape_.width, shape_.height, shape_.images * shape_.outputs),
                               MTL::Size(32, 1, 1));
      encoder->endEncoding();
    });
  }

  double tiled() {
    return run([this](MTL::CommandBuffer* commands) {
      const NS::UInteger size = shape_.kernel_size;
      const uint32_t inputs = std::min(shape_.inputs, 4u);  // at a time
      const NS::UInteger bytes = inputs * ((32 + size - 1) * (8 + size - 1) + 8 * size * size) * sizeof(float);
      MTL::ComputeCommandEncoder* encoder = encoder_for(commands, 1);
      encoder->setBytes(&inputs, sizeof inputs, 4);
      encoder->setThreadgroupMemoryLength((bytes + 15) / 16 * 16, 0);
      encoder->dispatchThreadgroups(
          MTL::Size((shape_.width + 31) / 32, (shape_.height + 7) / 8, shape_.images * ((shape_.outputs + 7) / 8)),
          MTL::Size(32, 8, 1));
      encoder->endEncoding();
    });
  }

  double mps() {
    return run(
        [this](MTL::CommandBuffer* commands) { convolution_->encodeBatch(commands, sources_.get(), results_.get()); });
  }

  // All ways give the same.
  void check() {
    const size_t of_image = result_bytes_ / sizeof(float) / shape_.images;
    const auto* numbers = static_cast<const float*>(result_buffer_->contents());
    naive();
    const std::vector<float> expected(numbers, numbers + result_bytes_ / sizeof(float));
    std::fill_n(static_cast<float*>(result_buffer_->contents()), expected.size(), NAN);
    tiled();
    const double tolerance = 1e-6 * shape_.inputs * shape_.kernel_size * shape_.kernel_size;
    for (size_t i = 0; i < expected.size(); ++i)
      require(std::abs(numbers[i] - expected[i]) <= tolerance, "the tiled convolution");
    mps();
    std::vector<float> image(of_image);
    for (unsigned i = 0; i < shape_.images; ++i) {
      results_->object<MPS::Image>(i)->readBytes(image.data(), MPS::DataLayoutFeatureChannelsxHeightxWidth, 0);
      for (size_t j = 0; j < of_image; ++j)
        require(std::abs(image[j] - expected[i * of_image + j]) <= tolerance, "the convolution of MPS");
    }
  }

 private:
  // [output][y][x][input], as MPS wants them.
  class Weights : public MPS::CNNConvolutionDataSource {
   public:
    explicit Weights(const MetalConvolution& owner) : numbers_(owner.weights_.size()) {
      const Shape& shape = owner.shape_;
      const unsigned taps = shape.kernel_size * shape.kernel_size;
      for (unsigned o = 0; o < shape.outputs; ++o)
        for (unsigned i = 0; i < shape.inputs; ++i)
          for (unsigned tap = 0; tap < taps; ++tap)
            numbers_[(o * taps + tap) * shape.inputs + i] = owner.weights_[(o * shape.inputs + i) * taps + tap];
      descriptor_ = NS::RetainPtr(MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(
          shape.kernel_size, shape.kernel_size, shape.inputs, shape.outputs));
    }
    MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
    MPS::CNNConvolutionDescriptor* descriptor() override { return descriptor_.get(); }
    void* weights() override { return numbers_.data(); }
    float* biasTerms() override { return nullptr; }
    bool load() override { return true; }
    void purge() override {}

   private:
    std::vector<float> numbers_;
    NS::SharedPtr<MPS::CNNConvolutionDescriptor> descriptor_;
  };

  NS::SharedPtr<NS::Array> new_batch(unsigned channels) {
    std::vector<NS::SharedPtr<MPS::Image>> images;
    std::vector<const NS::Object*> objects;
    for (unsigned i = 0; i < shape_.images; ++i) {
      images.push_back(NS::TransferPtr(MPS::Image::alloc()->init(
          device_, MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, shape_.width,
                                                         shape_.height, channels))));
      objects.push_back(images.back().get());
    }
    return NS::RetainPtr(NS::Array::array(objects.data(), objects.size()));
  }

  MTL::ComputeCommandEncoder* encoder_for(MTL::CommandBuffer* commands, size_t pipeline) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipelines_[pipeline].get());
    encoder->setBuffer(source_buffer_.get(), 0, 0);
    encoder->setBuffer(weights_buffer_.get(), 0, 1);
    encoder->setBuffer(result_buffer_.get(), 0, 2);
    encoder->setBytes(&shape_, sizeof shape_, 3);
    return encoder;
  }

  double run(const std::function<void(MTL::CommandBuffer*)>& encode) {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = queue_->commandBuffer();
    encode(commands);
    const auto start = std::chrono::steady_clock::now();
    commands->commit();
    commands->waitUntilCompleted();
    const double time = milliseconds_since(start);
    require(commands->status() == MTL::CommandBufferStatusCompleted, "the command buffer failed");
    return time;
  }

  MTL::Device* const device_;
  const Shape shape_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  std::vector<float> source_, weights_;
  size_t result_bytes_ = 0;
  NS::SharedPtr<MTL::Buffer> source_buffer_, weights_buffer_, result_buffer_;
  std::array<NS::SharedPtr<MTL::ComputePipelineState>, 2> pipelines_;
  NS::SharedPtr<Weights> data_source_;
  NS::SharedPtr<MPS::CNNConvolution> convolution_;
  NS::SharedPtr<NS::Array> sources_, results_;
};

// The convolution by oneDNN's own interface; null if it is not there.
Convolve by_onednn(const Shape& shape) {
  void* library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  const auto check = [](dnnl_status_t status) { require(status == dnnl_success, "oneDNN has no convolution"); };
#define FIND(function) reinterpret_cast<decltype(&function)>(dlsym(library, #function))
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  check(FIND(dnnl_engine_create)(&engine, dnnl_cpu, 0));
  check(FIND(dnnl_stream_create)(&stream, engine, dnnl_stream_default_flags));
  const auto dim = [](unsigned size) { return dnnl_dim_t(size); };
  const dnnl_dims_t sizes[] = {{dim(shape.images), dim(shape.inputs), dim(shape.height), dim(shape.width)},
                               {dim(shape.outputs), dim(shape.inputs), dim(shape.kernel_size), dim(shape.kernel_size)},
                               {dim(shape.images), dim(shape.outputs), dim(shape.height), dim(shape.width)}};
  std::array<dnnl_memory_desc_t, 3> any;
  for (size_t i = 0; i < any.size(); ++i)
    check(FIND(dnnl_memory_desc_init_by_tag)(&any[i], 4, sizes[i], dnnl_f32, dnnl_format_tag_any));
  const dnnl_dims_t strides = {1, 1}, padding = {dim(shape.kernel_size / 2), dim(shape.kernel_size / 2)};
  dnnl_convolution_desc_t convolution;
  check(FIND(dnnl_convolution_forward_desc_init)(&convolution, dnnl_forward_inference, dnnl_convolution_direct, &any[0],
                                                 &any[1], nullptr, &any[2], strides, padding, padding));
  dnnl_primitive_desc_t description = nullptr;
  check(FIND(dnnl_primitive_desc_create)(&description, &convolution, nullptr, engine, nullptr));
  dnnl_primitive_t primitive = nullptr;
  check(FIND(dnnl_primitive_create)(&primitive, description));
  std::array<dnnl_exec_arg_t, 3> arguments = {
      {{DNNL_ARG_SRC, nullptr}, {DNNL_ARG_WEIGHTS, nullptr}, {DNNL_ARG_DST, nullptr}}};
  const dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const dnnl_memory_desc_t* chosen = FIND(dnnl_primitive_desc_query_md)(description, queries[i], 0);
    check(FIND(dnnl_memory_create)(&arguments[i].memory, chosen, engine, DNNL_MEMORY_ALLOCATE));
    void* numbers = nullptr;
    check(FIND(dnnl_memory_get_data_handle)(arguments[i].memory, &numbers));
    std::fill_n(static_cast<float*>(numbers), FIND(dnnl_memory_desc_get_size)(chosen) / sizeof(float), 0.5f);
  }
  return [=, execute = FIND(dnnl_primitive_execute), wait = FIND(dnnl_stream_wait)] {
    const auto start = std::chrono::steady_clock::now();
    execute(primitive, stream, int(arguments.size()), arguments.data());
    wait(stream);
    return milliseconds_since(start);
  };
#undef FIND
}

// oneDNN in a process of its own, which is told the number of a shape and answers with a time; negative: there is none.
class OneDnnProcess {
 public:
  OneDnnProcess() {
    int asked[2], answered[2];
    if (pipe(asked) != 0 || pipe(answered) != 0) throw Failure{exit_file_error, "there are no pipes left"};
    child_ = fork();
    if (child_ == 0) {
      ::close(asked[1]);
      ::close(answered[0]);
      serve(asked[0], answered[1]);
      _exit(0);
    }
    ::close(asked[0]);
    ::close(answered[1]);
    ask_ = asked[1];
    answer_ = answered[0];
  }
  OneDnnProcess(const OneDnnProcess&) = delete;
  ~OneDnnProcess() {
    ::close(ask_);
    ::close(answer_);
    waitpid(child_, nullptr, 0);
  }

  double time_of(uint64_t shape) {
    double answer = -1;
    if (write(ask_, &shape, sizeof shape) != sizeof shape) return -1;
    return read(answer_, &answer, sizeof answer) == sizeof answer ? answer : -1;
  }

 private:
  static void serve(int asked, int answered) {
    std::array<Convolve, std::size(shapes)> ways;
    for (uint64_t shape = 0; read(asked, &shape, sizeof shape) == sizeof shape;) {
      if (!ways[shape]) ways[shape] = by_onednn(shapes[shape]);
      const double answer = ways[shape] ? ways[shape]() : -1;
      if (write(answered, &answer, sizeof answer) != sizeof answer) return;
    }
  }

  pid_t child_ = -1;
  int ask_ = -1, answer_ = -1;
};

// Schedulers put threads that have slept, or another's that still look for work, on processors of their own only after
// some time: so the first milliseconds of a turn are not timed.
double time_of_turn(const std::function<double()>& run) {
  constexpr double at_least = 10;  // milliseconds
  for (double spent = 0; spent >= 0 && spent < at_least;) spent += run();
  std::vector<double> times;
  for (double spent = 0; spent >= 0 && spent < at_least; spent += times.back()) times.push_back(run());
  return median(times);
}

struct Row {
  Shape shape;
  std::array<double, 4> rates;  // GFLOP/s, of `names`; 0: there is none
};

plot::BarChart to_chart(const std::vector<Row>& rows, const std::string& device) {
  plot::BarChart chart;
  chart.title = "2-D convolution, float32";
  chart.subtitle = "on " + device;
  chart.axis = "GFLOP/s";
  chart.series.assign(std::begin(names), std::end(names));
  for (const Row& row : rows) {
    plot::BarChart::Group group{row.shape.name(), "", {}};
    for (const double rate : row.rates) group.values.push_back(rate > 0 ? std::optional(rate) : std::nullopt);
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

struct Conv2dArguments {
  std::string json_file;
  std::vector<std::string> chart_files;
};

void bench_conv2d(const Conv2dArguments& arguments) {
  OneDnnProcess onednn;  // before there are threads
  for (const std::string& file : arguments.chart_files) image_format(file);
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(device->newLibrary(
      NS::String::string(std::string(kernel_source("conv2d.metal")).c_str(), NS::UTF8StringEncoding), nullptr, &error));
  require(bool(library), "conv2d.metal does not compile");

  fmt::print("on {}: 2-D convolutions of float, GFLOP/s\n\n{:<26}", device->name()->utf8String(), "");
  for (const char* name : names) fmt::print("{:>9}", name);
  fmt::print("{:>16}{:>16}\n{:<62}{:>16}{:>16}\n", "tiled : naive", "MPS : oneDNN", "asked",
             fmt::format("{:.2f}x", asked_of_tiled), fmt::format("{:.2f}x", asked_of_mps));
  std::vector<Row> rows;
  nlohmann::json as_json = nlohmann::json::array();
  for (size_t i = 0; i < std::size(shapes); ++i) {
    MetalConvolution convolution(device.get(), library.get(), shapes[i]);
    convolution.check();
    onednn.time_of(i);
    std::array<std::vector<double>, 4> times;
    const std::function<double()> ways[] = {[&] { return convolution.naive(); }, [&] { return convolution.tiled(); },
                                            [&] { return convolution.mps(); }, [&] { return onednn.time_of(i); }};
    for (size_t turn = 0; turn < turns; ++turn)
      for (size_t way = 0; way < times.size(); ++way) times[way].push_back(time_of_turn(ways[way]));
    Row row{shapes[i], {}};
    for (size_t way = 0; way < times.size(); ++way) {
      const double time = median(times[way]);
      row.rates[way] = time > 0 ? shapes[i].operations() / time * 1e-6 : 0;
    }
    fmt::print("{:<26}", row.shape.name());
    nlohmann::json json = {{"shape", row.shape.name()}};
    for (size_t way = 0; way < times.size(); ++way) {
      fmt::print("{:>9}", row.rates[way] > 0 ? fmt::format("{:.1f}", row.rates[way]) : "-");
      json[names[way]] = row.rates[way];
    }
    const double tiled_to_naive = median_ratio(times[0], times[1]),
                 mps_to_onednn = std::max(0.0, median_ratio(times[3], times[2]));  // 0: there is no oneDNN
    fmt::print("{:>16}{:>16}\n", fmt::format("{:.2f}x", tiled_to_naive),
               mps_to_onednn > 0 ? fmt::format("{:.2f}x", mps_to_onednn) : "-");
    json["tiled:naive"] = tiled_to_naive;
    json["MPS:oneDNN"] = mps_to_onednn;
    rows.push_back(row);
    as_json.push_back(std::move(json));
  }
  if (!arguments.json_file.empty()) write_output(arguments.json_file, as_json.dump(2) + "\n");
  for (const std::string& file : arguments.chart_files)
    write_output(file, plot::draw(to_chart(rows, device->name()->utf8String()), image_format(file)));
}

}  // namespace

void add_bench_conv2d(CLI::App& bench) {
  auto arguments = std::make_shared<Conv2dArguments>();
  CLI::App* command = bench.add_subcommand("conv2d", "2-D convolution: naive, tiled, MPS, beside oneDNN");
  command->add_option("--json", arguments->json_file, "Write the results to this file");
  command->add_option("--chart", arguments->chart_files, "Draw the results into this .svg or .png file")
      ->allow_extra_args(false);
  command->callback([arguments] { bench_conv2d(*arguments); });
}

}  // namespace metalloid::tool
