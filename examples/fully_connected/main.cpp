// One layer of a neural network, trained with Metal Performance Shaders: points of the plane that belong to three
// classes, y = neuron(x W + b), the logarithm of its softmax, the cross-entropy, and a step against its gradient. All
// of a step is one command buffer, and everything lies in shared buffers that the program reads and writes in place.
// usage: fully_connected [steps]   (200 if not given)
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

constexpr NS::UInteger points = 300, inputs = 2, classes = 3;
constexpr float rate = 0.5f;

// A matrix of floats over a shared buffer, and its numbers.
struct Floats {
  NS::SharedPtr<MPS::Matrix> matrix;
  NS::UInteger columns;

  Floats(MTL::Device* device, NS::UInteger rows, NS::UInteger columns) : columns(columns) {
    const NS::UInteger row_bytes = columns * sizeof(float);
    auto buffer = NS::TransferPtr(device->newBuffer(rows * row_bytes, MTL::ResourceStorageModeShared));
    matrix = NS::TransferPtr(MPS::Matrix::alloc()->init(
        buffer.get(), MPS::MatrixDescriptor::matrixDescriptor(rows, columns, row_bytes, MPS::DataTypeFloat32)));
  }
  float* operator[](NS::UInteger row) { return static_cast<float*>(matrix->data()->contents()) + row * columns; }
  operator MPS::Matrix*() const { return matrix.get(); }
  // The matrix of one row as a vector over the same memory.
  NS::SharedPtr<MPS::Vector> vector() const {
    return NS::TransferPtr(MPS::Vector::alloc()->init(
        matrix->data(), MPS::VectorDescriptor::vectorDescriptor(columns, MPS::DataTypeFloat32)));
  }
};

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 200;
  if (steps < 1) {
    std::fprintf(stderr, "usage: fully_connected [steps]   with at least one step\n");
    return 2;
  }
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) {
    std::fprintf(stderr, "fully_connected: no Metal device\n");
    return 1;
  }
  auto queue = NS::TransferPtr(device->newCommandQueue());

  // The gradient of the cross-entropy by the logarithm of the softmax does not change: -1/points at the right class.
  Floats x(device.get(), points, inputs), entropy_gradient(device.get(), points, classes);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (NS::UInteger i = 0; i < points; ++i) {
    const NS::UInteger label = i % classes;
    const float angle = 2.0944f * static_cast<float>(label);
    x[i][0] = 2 * std::cos(angle) + 0.7f * normal(random);
    x[i][1] = 2 * std::sin(angle) + 0.7f * normal(random);
    for (NS::UInteger c = 0; c < classes; ++c) entropy_gradient[i][c] = c == label ? -1.0f / points : 0;
  }

  Floats weights(device.get(), inputs, classes), bias(device.get(), 1, classes);
  Floats weights_gradient(device.get(), inputs, classes), bias_gradient(device.get(), 1, classes);
  Floats z(device.get(), points, classes), y(device.get(), points, classes), logarithms(device.get(), points, classes);
  Floats y_gradient(device.get(), points, classes), z_gradient(device.get(), points, classes);
  Floats step(device.get(), 1, 2);
  step[0][0] = 1;
  step[0][1] = -rate;
  const auto bias_vector = bias.vector(), bias_gradient_vector = bias_gradient.vector(), step_vector = step.vector();

  auto layer = NS::TransferPtr(MPS::MatrixFullyConnected::alloc()->init(device.get()));
  auto neuron = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
  auto soft_max = NS::TransferPtr(MPS::MatrixLogSoftMax::alloc()->init(device.get()));
  auto soft_max_gradient = NS::TransferPtr(MPS::MatrixLogSoftMaxGradient::alloc()->init(device.get()));
  auto neuron_gradient = NS::TransferPtr(MPS::MatrixNeuronGradient::alloc()->init(device.get()));
  auto layer_gradient = NS::TransferPtr(MPS::MatrixFullyConnectedGradient::alloc()->init(device.get()));
  auto weights_step = NS::TransferPtr(MPS::MatrixSum::alloc()->init(device.get(), 2, inputs, classes, false));
  auto bias_step = NS::TransferPtr(MPS::MatrixSum::alloc()->init(device.get(), 2, 1, classes, false));
  neuron->setNeuronType(MPS::CNNNeuronTypeTanH, 4, 0.5f, 0);
  neuron_gradient->setNeuronType(MPS::CNNNeuronTypeTanH, 4, 0.5f, 0);
  const NS::Object* both_weights[] = {weights.matrix.get(), weights_gradient.matrix.get()};
  const NS::Object* both_biases[] = {bias.matrix.get(), bias_gradient.matrix.get()};
  NS::Array* weights_and_gradient = NS::Array::array(both_weights, 2);
  NS::Array* bias_and_gradient = NS::Array::array(both_biases, 2);

  std::printf("%lu points, %lu classes, on %s\n%6s %14s %10s\n", points, classes, device->name()->utf8String(), "step",
              "cross-entropy", "right");
  double loss = 0, accuracy = 0;
  for (long k = 0; k <= steps; ++k) {
    auto step_pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = queue->commandBuffer();
    layer->encode(commands, x, weights, bias_vector.get(), z);
    neuron->encode(commands, z, nullptr, y);
    soft_max->encode(commands, y, logarithms);
    soft_max_gradient->encode(commands, entropy_gradient, logarithms, y_gradient);
    neuron_gradient->encode(commands, y_gradient, z, nullptr, z_gradient, nullptr);
    layer_gradient->encodeGradientForWeightsAndBias(commands, z_gradient, x, weights_gradient,
                                                    bias_gradient_vector.get());
    weights_step->encode(commands, weights_and_gradient, weights, step_vector.get(), nullptr, nullptr, 0);
    bias_step->encode(commands, bias_and_gradient, bias, step_vector.get(), nullptr, nullptr, 0);
    commands->commit();
    commands->waitUntilCompleted();
    if (NS::Error* error = commands->error()) {
      std::fprintf(stderr, "fully_connected: %s\n", error->localizedDescription()->utf8String());
      return 1;
    }
    loss = 0;
    NS::UInteger right = 0;
    for (NS::UInteger i = 0; i < points; ++i) {
      loss -= logarithms[i][i % classes] / double(points);
      NS::UInteger best = 0;
      for (NS::UInteger c = 1; c < classes; ++c)
        if (logarithms[i][c] > logarithms[i][best]) best = c;
      right += best == i % classes;
    }
    accuracy = double(right) / double(points);
    if (k % 20 == 0 || k == steps) std::printf("%6ld %14.4f %9.1f%%\n", k, loss, 100 * accuracy);
  }
  if (steps >= 200 && accuracy < 0.95) {
    std::fprintf(stderr, "fully_connected: it did not learn: %.1f%% of the points are right\n", 100 * accuracy);
    return 1;
  }
  return 0;
}
