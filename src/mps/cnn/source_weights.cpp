#include "mps/cnn/source_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/small_float.hpp"
#include "mps/core/data_type.hpp"

namespace metalloid::mps {
namespace {

// load() and purge() around what is done in between.
class Loaded {
 public:
  explicit Loaded(MPS::CNNConvolutionDataSource* source) : source_(source), is_loaded_(source->load()) {}
  ~Loaded() {
    if (is_loaded_) source_->purge();
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  explicit operator bool() const { return is_loaded_; }

 private:
  MPS::CNNConvolutionDataSource* const source_;
  const bool is_loaded_;
};

// Whatever the data source's type is, as floats.
Result<std::vector<float>> numbers_of(MPS::CNNConvolutionDataSource* source, const ConvolutionShape& shape,
                                      size_t most) {
  const void* weights = source->weights();
  if (!weights && most > 0) return Error{"the data source's weights are null"};
  std::vector<float> numbers(std::min(shape.weights(), most));
  switch (const MPS::DataType type = source->dataType()) {
    case MPS::DataTypeFloat32:
      std::copy_n(static_cast<const float*>(weights), numbers.size(), numbers.begin());
      return numbers;
    case MPS::DataTypeFloat16:
      std::transform(static_cast<const uint16_t*>(weights), static_cast<const uint16_t*>(weights) + numbers.size(),
                     numbers.begin(), [](uint16_t half) { return device::from_half(half); });
      return numbers;
    case MPS::DataTypeUInt8: {
      const auto* bytes = static_cast<const uint8_t*>(weights);
      const size_t of_output = shape.weights() / shape.outputs;
      const float* ranges = source->rangesForUInt8Kernel();
      const float* table = source->lookupTableForUInt8Kernel();
      const bool uses_table = source->weightsQuantizationType() == MPS::CNNWeightsQuantizationTypeLookupTable;
      if (uses_table ? !table : !ranges)
        return Error{"the data source has UInt8 weights, and neither ranges nor a lookup table for them"};
      for (size_t i = 0; i < numbers.size(); ++i) {
        const float* range = uses_table ? nullptr : ranges + 2 * (i / of_output);
        numbers[i] = uses_table ? table[bytes[i]] : range[0] + bytes[i] / 255.0f * (range[1] - range[0]);
      }
      return numbers;
    }
    default:
      return Error{
          fmt::format("the data source's dataType is {}; it must be Float32, Float16 or UInt8", name_of(type))};
  }
}

}  // namespace

Result<SourceWeights> load_weights(MPS::CNNConvolutionDataSource* source, size_t most) {
  if (!source) return Error{"weights is null"};
  const Loaded loaded(source);
  if (!loaded) return Error{"the data source cannot load its weights"};
  const ConvolutionDescriptorPart* descriptor = body(source->descriptor());
  if (!descriptor) return Error{"the data source's descriptor is null"};
  if (const Status status = check(descriptor->shape); !status) return Error{status.error()};

  SourceWeights made;
  const ConvolutionShape& shape = made.shape = descriptor->shape;
  Result<std::vector<float>> numbers = numbers_of(source, shape, most);
  if (!numbers) return Error{numbers.error()};
  made.numbers = std::move(*numbers);
  made.biases.resize(shape.outputs);
  if (const float* terms = source->biasTerms()) {
    std::copy_n(terms, shape.outputs, made.biases.begin());
    made.has_biases = true;
  }
  if (!descriptor->factors.empty()) {
    if (descriptor->factors.size() != shape.outputs)
      return Error{"the descriptor's batch normalisation was set for another number of outputFeatureChannels"};
    const size_t of_output = shape.weights() / shape.outputs;
    for (size_t i = 0; i < made.numbers.size(); ++i) made.numbers[i] *= descriptor->factors[i / of_output];
    for (size_t i = 0; i < shape.outputs; ++i)
      made.biases[i] = made.biases[i] * descriptor->factors[i] + descriptor->addends[i];
    made.has_biases = true;
  }
  if (const NeuronDescriptorPart* neuron = body(descriptor->neuron.get())) {
    made.neuron_descriptor = descriptor->neuron;
    made.neuron = neuron->neuron;
    if (!is_neuron_type(made.neuron.type)) return Error{"the descriptor's fusedNeuronDescriptor has an unknown type"};
    if (made.neuron.type == MPS::CNNNeuronTypePReLU) {
      made.slopes = neuron->slopes();
      if (made.slopes.size() != shape.outputs)
        return Error{fmt::format("the fused PReLU has {} parameters, and there are {} outputFeatureChannels",
                                 made.slopes.size(), shape.outputs)};
    }
  }
  return made;
}

}  // namespace metalloid::mps
