#include "pictures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plot/heat_map.hpp"
#include "plot/image_grid.hpp"
#include "training/progress.hpp"

namespace metalloid::train_cnn {

namespace {

constexpr size_t most_tiles = 60;

std::string right_of_all(const Evaluation& evaluation) {
  return fmt::format("{} of {} test images are right: {:.2f}%", training::with_commas(evaluation.right),
                     training::with_commas(evaluation.predictions.size()), 100 * evaluation.accuracy());
}

}  // namespace

std::string draw_curves(const training::LearningCurve& curve, const std::string& device) {
  const auto series = [&](const char* name, bool marks) {
    plot::LineChart::Series made{name, curve.points(name), marks};
    if (marks && !made.points.empty()) made.last = made.points.back().y;
    return made;
  };
  plot::LineChart chart;
  chart.title = "A convolutional network learns MNIST";
  chart.subtitle = fmt::format(
      "on {}; training numbers are means over what was seen since the point before, with "
      "half of the hidden layer dropped",
      device);
  chart.axis = "epochs";
  chart.panels = {{"loss: softmax cross-entropy", {series(training_loss, false), series(test_loss, true)}, true},
                  {"accuracy, %", {series(training_accuracy, false), series(test_accuracy, true)}, false}};
  return draw(chart, plot::ImageFormat::png);
}

std::string draw_misclassified(const Digits& test, const Evaluation& evaluation) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < test.count(); ++i)
    if (evaluation.predictions[i].digit != test.labels[i]) wrong.push_back(i);
  std::ranges::stable_sort(wrong, [&](size_t a, size_t b) {
    return evaluation.predictions[a].probability > evaluation.predictions[b].probability;
  });
  plot::ImageGrid image_grid;
  image_grid.title = "Digits the network takes for others";
  image_grid.subtitle = right_of_all(evaluation);
  if (wrong.size() > most_tiles) {
    image_grid.subtitle += fmt::format("; of {} wrong ones, the {} it is surest of", wrong.size(), most_tiles);
    wrong.resize(most_tiles);
  } else {
    image_grid.subtitle += "; the wrong ones, beginning with those it is surest of";
  }
  for (const size_t i : wrong) {
    const std::span<const uint8_t> image = test.image(i);
    const Slot::Prediction& prediction = evaluation.predictions[i];
    plot::ImageGrid::Tile tile;
    for (const uint8_t grey : image) tile.pixels.push_back(static_cast<uint8_t>(255 - grey));
    tile.label = fmt::format("{} taken for {}", test.labels[i], prediction.digit);
    tile.detail = fmt::format("{:.1f}% sure", 100 * prediction.probability);
    image_grid.tiles.push_back(std::move(tile));
  }
  return draw(image_grid, plot::ImageFormat::png);
}

std::string draw_confusion(const Digits& test, const Evaluation& evaluation) {
  plot::HeatMap map;
  map.title = "What digits are taken for";
  map.subtitle = right_of_all(evaluation);
  map.row_axis = "the digit";
  map.column_axis = "what the network takes it for";
  map.counts.assign(classes, std::vector<size_t>(classes));
  for (size_t digit = 0; digit < classes; ++digit) map.labels.push_back(fmt::format("{}", digit));
  for (size_t i = 0; i < test.count(); ++i) ++map.counts[test.labels[i]][evaluation.predictions[i].digit];
  return draw(map, plot::ImageFormat::png);
}

}  // namespace metalloid::train_cnn
