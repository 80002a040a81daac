// metalloid bench train: steps of training the network of examples/train_cnn, in images per second, beside PyTorch and
// beside the time that oneDNN takes for the convolutions and products alone (on the CPU). They take turns, each in a
// process of its own, so that what else the machine does meets all of them.
#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench.hpp"
#include "bench_report.hpp"
#include "bench_train_peers.hpp"
#include "bench_workload.hpp"
#include "files.hpp"
#include "plot/bar_chart.hpp"
#include "train_cnn/batches.hpp"
#include "training/failure.hpp"
#include "training/progress.hpp"

namespace metalloid::tool {

namespace {

constexpr size_t default_batches[] = {64, 1024};
constexpr size_t images_of_turn = 2048, turns = 5;
constexpr double seconds_of_turn = 0.25;  // at least: what begins and ends a turn must not count
constexpr double asked_of_pytorch = 1, asked_of_floor = 1.5;
constexpr const char* names[] = {"Metalloid", "PyTorch", "raw libraries"};

// Steps of our network on random images.
class OurTraining {
 public:
  OurTraining(MTL::Device* device, size_t batch)
      : queue_(NS::TransferPtr(device->newCommandQueue())),
        network_(device, batch, 0.001, 1),
        batches_(network_, queue_.get(), [](const train_cnn::BatchResult& result) {
          require(std::isfinite(result.loss), "the loss is no number");
        }) {
    Numbers numbers(batch);
    digits_.pixels.resize(batch * train_cnn::pixels_of_image);
    for (uint8_t& pixel : digits_.pixels) pixel = uint8_t(numbers.integer());
    for (size_t i = 0; i < batch; ++i) digits_.labels.push_back(uint8_t(numbers.integer() % train_cnn::classes));
    order_.resize(batch);
    std::iota(order_.begin(), order_.end(), 0u);
  }

  // Seconds of one.
  double step_time(size_t steps) {
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < steps; ++i) batches_.train(digits_, order_, step_++);
    batches_.finish();
    return milliseconds_since(start) / 1000 / double(steps);
  }

 private:
  NS::SharedPtr<MTL::CommandQueue> queue_;
  train_cnn::Network network_;
  train_cnn::Digits digits_;
  std::vector<uint32_t> order_;
  size_t step_ = 0;
  train_cnn::Batches batches_;
};

struct Row {
  size_t batch;
  std::array<double, 3> rates;  // images per second, of `names`; 0: there is none
};

Row measure(MTL::Device* device, PyTorch& pytorch, RawLibrary& raw, size_t batch) {
  OurTraining ours(device, batch);
  const size_t least = std::max<size_t>(2, images_of_turn / batch);
  ours.step_time(least);  // for warming up
  const size_t steps = std::max(least, size_t(seconds_of_turn / ours.step_time(least)));
  std::array<std::vector<double>, 3> times;
  for (size_t turn = 0; turn <= turns; ++turn) {  // the first is for warming up the others
    const double of_raw = device->hasUnifiedMemory() ? raw.step_time(batch, steps) : -1;
    const double of_turn[] = {ours.step_time(steps), pytorch.step_time(batch, steps), of_raw};
    for (size_t i = 0; turn > 0 && i < times.size(); ++i) times[i].push_back(of_turn[i]);
  }
  Row row{batch, {}};
  for (size_t i = 0; i < times.size(); ++i)
    if (const double time = median(times[i]); time > 0) row.rates[i] = double(batch) / time;
  return row;
}

plot::BarChart to_chart(const std::vector<Row>& rows, const std::string& device) {
  plot::BarChart chart;
  chart.title = "Training a convolutional network";
  chart.subtitle = "MNIST's shapes, float32, on " + device;
  chart.axis = "images per second";
  chart.series.assign(std::begin(names), std::end(names));
  chart.baseline = 100;
  for (const Row& row : rows) {
    plot::BarChart::Group group{fmt::format("batches of {}", training::with_commas(row.batch)), "", {}};
    for (const double rate : row.rates) group.values.push_back(rate > 0 ? std::optional(rate) : std::nullopt);
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

struct TrainArguments {
  std::string json_file;
  std::vector<std::string> chart_files;
  std::vector<size_t> batches;
};

void bench_train(const TrainArguments& arguments) {
  RawLibrary raw;  // before there are threads
  for (const std::string& file : arguments.chart_files) image_format(file);
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  PyTorch pytorch(!device->hasUnifiedMemory());

  fmt::print(
      "on {}: training the network of examples/train_cnn, images per second\nPyTorch     {}\n\n{:<12}",
      device->name()->utf8String(),
      pytorch.version().empty() ? "- not found; METALLOID_PYTHON may name a python3 that has it" : pytorch.version(),
      "batch");
  for (const char* name : names) fmt::print("{:>15}", name);
  fmt::print("{:>16}{:>16}\n{:<57}{:>16}{:>16}\n", "over PyTorch", "raw : ours", "asked",
             fmt::format("{:.2f}x", asked_of_pytorch), fmt::format("≤ {:.2f}x", asked_of_floor));
  std::vector<Row> rows;
  nlohmann::json as_json = nlohmann::json::array();
  for (const size_t batch : arguments.batches) {
    const Row row = measure(device.get(), pytorch, raw, batch);
    fmt::print("{:<12}", batch);
    nlohmann::json json = {{"batch", batch}};
    for (size_t i = 0; i < row.rates.size(); ++i) {
      fmt::print("{:>15}", row.rates[i] > 0 ? fmt::format("{:.0f}", row.rates[i]) : "-");
      if (row.rates[i] > 0) json[names[i]] = row.rates[i];
    }
    const auto ratio = [&](size_t over, size_t under) {
      return row.rates[over] > 0 && row.rates[under] > 0 ? fmt::format("{:.2f}x", row.rates[over] / row.rates[under])
                                                         : "-";
    };
    fmt::print("{:>16}{:>16}\n", ratio(0, 1), ratio(2, 0));
    rows.push_back(row);
    as_json.push_back(std::move(json));
  }
  if (!arguments.json_file.empty()) write_output(arguments.json_file, as_json.dump(2) + "\n");
  for (const std::string& file : arguments.chart_files)
    write_output(file, plot::draw(to_chart(rows, device->name()->utf8String()), image_format(file)));
}

}  // namespace

void add_bench_train(CLI::App& bench) {
  auto arguments = std::make_shared<TrainArguments>();
  arguments->batches.assign(std::begin(default_batches), std::end(default_batches));
  CLI::App* command = bench.add_subcommand("train", "Training a convolutional network, beside PyTorch");
  command->add_option("--batch", arguments->batches, "How many images a step takes; may be given several times")
      ->allow_extra_args(false)
      ->check(CLI::Range(size_t{1}, size_t{65536}))
      ->capture_default_str();
  command->add_option("--json", arguments->json_file, "Write the results to this file");
  command->add_option("--chart", arguments->chart_files, "Draw the results into this .svg or .png file")
      ->allow_extra_args(false);
  command->callback([arguments] {
    try {
      bench_train(*arguments);
    } catch (const training::Failure& failure) {
      throw Failure{failure.exit_code, failure.what()};
    }
  });
}

}  // namespace metalloid::tool
