#include "rnn_program.hpp"

namespace metalloid::mps {
namespace {

// A sequence and a loss of it: the sum of all outputs times `gradients`, and of what the last step leaves times
// `output_gradient` and `cell_gradient`.
struct Problem {
  std::vector<size_t> rows;
  Matrices sources, gradients;
  std::vector<ReferenceState> before;  // for each sequence
  std::vector<ReferenceState> after_gradients;
};

double loss_of(const ReferenceLayer& layer, const Problem& problem) {
  double loss = 0;
  for (size_t row = 0; row < problem.rows[0]; ++row) {
    ReferenceState state = problem.before[row];
    for (size_t step = 0; step < problem.rows.size() && row < problem.rows[step]; ++step) {
      state = layer.step(row_of(problem.sources[step], row, layer.rnn_case.inputs), state);
      for (size_t i = 0; i < state.h.size(); ++i) loss += state.h[i] * problem.gradients[step].at(row, i);
    }
    for (size_t i = 0; i < state.h.size(); ++i)
      loss += state.h[i] * problem.after_gradients[row].h[i] + state.c[i] * problem.after_gradients[row].c[i];
  }
  return loss;
}

// The slope of the loss where `number` is changed: by the difference of neighbours in float64, which is good to 1e-8.
double slope_by(double& number, const std::function<double()>& loss) {
  constexpr double step = 1e-5;
  const double kept = number;
  number = kept + step;
  const double above = loss();
  number = kept - step;
  const double below = loss();
  number = kept;
  return (above - below) / (2 * step);
}

double slope_of_input(const ReferenceLayer& layer, const Problem& problem, size_t step, size_t row, size_t column) {
  // Inputs are in matrices of float, in which a step of 1e-5 would be rounded: the slope is that of what was made.
  Numbers& source = const_cast<Numbers&>(problem.sources[step]);
  const double kept = source.at(row, column);
  source.set(row, column, kept + 0x1p-10);
  const double above = loss_of(layer, problem);
  source.set(row, column, kept - 0x1p-10);
  const double below = loss_of(layer, problem);
  source.set(row, column, kept);
  return (above - below) * 0x1p9;
}

class RnnTrainingTest : public RnnTest {
 protected:
  Vector random_vector(size_t count, double size) {
    std::uniform_real_distribution<float> distribution(float(-size), float(size));
    Vector vector(count);
    for (double& number : vector) number = size == 0 ? 0 : distribution(random);
    return vector;
  }

  Problem random_problem(const RnnCase& c, const std::vector<size_t>& rows, double state_size,
                         MPS::DataType type = MPS::DataTypeFloat32) {
    Problem problem{rows, random_sequence(rows, c.inputs, type, 1), random_sequence(rows, c.outputs, type, 1), {}, {}};
    for (size_t row = 0; row < rows[0]; ++row) {
      problem.before.push_back({random_vector(c.outputs, state_size), random_vector(c.outputs, state_size)});
      problem.after_gradients.push_back({random_vector(c.outputs, state_size), random_vector(c.outputs, state_size)});
      if (c.kind != Kind::lstm) problem.after_gradients.back().c.assign(c.outputs, 0);
    }
    return problem;
  }

  // A state with these numbers: one of the layer's own, written over.
  NS::SharedPtr<MPS::RNNRecurrentMatrixState> state_of(const RnnCase& c, MPS::RNNMatrixTrainingLayer* layer,
                                                       const NS::Array* weights,
                                                       const std::vector<ReferenceState>& numbers) {
    NS::SharedPtr<MPS::RNNRecurrentMatrixState> state;
    const Matrices source = random_sequence({numbers.size()}, c.inputs, MPS::DataTypeFloat32, 1);
    const Matrices result = random_sequence({numbers.size()}, c.outputs, MPS::DataTypeFloat32, 1);
    EXPECT_EQ(run([&](MTL::CommandBuffer* commands) {
                NS::Array *states = nullptr, *kept = nullptr;
                layer->encodeForwardSequence(commands, array_of(source), nullptr, array_of(result), nullptr, &kept,
                                             nullptr, &states, weights);
                state = NS::RetainPtr(states->object<MPS::RNNRecurrentMatrixState>(0));
              }),
              "");
    const auto write = [&](const MPS::Matrix* matrix, bool is_cell) {
      for (size_t row = 0; matrix && row < numbers.size(); ++row)
        for (size_t i = 0; i < c.outputs; ++i)
          set_number(static_cast<std::byte*>(matrix->data()->contents()) + matrix->offset() + row * matrix->rowBytes(),
                     i, MPS::DataTypeFloat32, is_cell ? numbers[row].c[i] : numbers[row].h[i]);
    };
    write(state->getRecurrentOutputMatrix(0), false);
    write(state->getMemoryCellMatrix(0), true);
    return state;
  }

  // The matrix of an id, out of an array of weights or of their gradients.
  Vector copied(MPS::RNNMatrixTrainingLayer* layer, const NS::Array* weights, MPS::RNNMatrixId id, size_t rows,
                size_t columns) {
    const Numbers matrix = random_matrix({.rows = rows + 1, .columns = columns + 2}, 0, 0);
    EXPECT_EQ(run([&](MTL::CommandBuffer* commands) {
                layer->encodeCopyWeights(commands, weights, id, matrix.matrix(), true, MTL::Origin(1, 2, 0));
              }),
              "");
    Vector result;
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < columns; ++i) result.push_back(matrix.at(row + 1, i + 2));
    return result;
  }

  // The sum of their squares.
  double expect_weight_gradients(ReferenceLayer& reference, const Problem& problem, MPS::RNNMatrixTrainingLayer* layer,
                                 const NS::Array* gradients, double tolerance) {
    double sum = 0;
    for (auto& [id, weights] : reference.weights) {
      SCOPED_TRACE("matrix " + std::to_string(id));
      const RnnCase& c = reference.rnn_case;
      const size_t rows = weights.size() == c.outputs && c.inputs != 1 && c.outputs != 1 ? 1 : c.outputs;
      const Vector given = copied(layer, gradients, id, rows, weights.size() / rows);
      for (size_t i = 0; i < weights.size(); ++i) {
        const double expected = slope_by(weights[i], [&] { return loss_of(reference, problem); });
        EXPECT_NEAR(given[i], expected, tolerance) << "number " << i;
        sum += expected * expected;
      }
    }
    return sum;
  }
};
INSTANTIATE_MPS_TEST(RnnTrainingTest);

TEST_P(RnnTrainingTest, GivesAllGradientsThroughTime) {
  for (const RnnCase& c : rnn_cases(3, 5))
    for (const std::vector<size_t>& rows : {std::vector<size_t>{2, 2}, std::vector<size_t>{3, 2, 1}}) {
      SCOPED_TRACE(c.name + (rows.size() == 2 ? "" : ", with sequences that end"));
      ReferenceLayer reference(c, random);
      NS::Array* weights = nullptr;
      const auto layer =
          NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
      ASSERT_TRUE(layer);
      const Problem problem = random_problem(c, rows, 0.5);
      const auto before = state_of(c, layer.get(), weights, problem.before);
      const auto after = state_of(c, layer.get(), weights, problem.after_gradients);
      const Matrices results = random_sequence(rows, c.outputs, MPS::DataTypeFloat32, 0);
      const Matrices input_gradients = random_sequence(rows, c.inputs, MPS::DataTypeFloat32, 0);
      NS::Array* weight_gradients = nullptr;
      layer->createWeightGradientMatrices(&weight_gradients, MPS::DataTypeFloat32);
      NS::SharedPtr<NS::Array> states;
      layer->setTrainingStateIsTemporary(true);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  NS::Array *kept = nullptr, *made = nullptr;
                  layer->encodeForwardSequence(commands, array_of(problem.sources), nullptr, array_of(results), nullptr,
                                               &kept, before.get(), nullptr, weights);
                  layer->encodeGradientSequence(commands, array_of(problem.sources), nullptr,
                                                array_of(problem.gradients), nullptr, array_of(input_gradients),
                                                nullptr, weight_gradients, kept, after.get(), &made, weights);
                  states = NS::RetainPtr(made);
                }),
                "");
      // Floats through a few steps; sums of some tens of terms of about 1.
      constexpr double tolerance = 2e-5;
      for (size_t row = 0; row < rows[0]; ++row) {
        ReferenceState state = problem.before[row];
        for (size_t step = 0; step < rows.size() && row < rows[step]; ++step) {
          state = reference.step(row_of(problem.sources[step], row, c.inputs), state);
          for (size_t i = 0; i < c.outputs; ++i) ASSERT_NEAR(results[step].at(row, i), state.h[i], 4e-6);
          // The third derivative makes 1e-6 or so of the difference of neighbours, whose distance is larger here.
          for (size_t i = 0; i < c.inputs; ++i)
            ASSERT_NEAR(input_gradients[step].at(row, i), slope_of_input(reference, problem, step, row, i), 4e-5);
        }
        Problem changed{rows, problem.sources, problem.gradients, problem.before, problem.after_gradients};
        const auto* state_gradient = states->object<MPS::RNNRecurrentMatrixState>(0);
        for (size_t i = 0; i < c.outputs; ++i) {
          const auto loss = [&] { return loss_of(reference, changed); };
          ASSERT_NEAR(number_in(state_gradient->getRecurrentOutputMatrix(0), row, i),
                      slope_by(changed.before[row].h[i], loss), tolerance);
          if (c.kind == Kind::lstm) {
            ASSERT_NEAR(number_in(state_gradient->getMemoryCellMatrix(0), row, i),
                        slope_by(changed.before[row].c[i], loss), tolerance);
          }
        }
      }
      const double trained = expect_weight_gradients(reference, problem, layer.get(), weight_gradients, tolerance);
      for (const MPS::RNNMatrixId id : c.absent)
        EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
                    layer->encodeCopyWeights(commands, weights, id, results[0].matrix(), true, MTL::Origin(0, 0, 0));
                  }).find("matrixId"),
                  std::string::npos);
      double sum = 0;  // of squares: what no data source was given for has no gradient
      for (NS::UInteger i = 0; i < weight_gradients->count(); ++i) {
        const auto* matrix = weight_gradients->object<MPS::Matrix>(i);
        for (size_t row = 0; row < matrix->rows(); ++row)
          for (size_t k = 0; k < matrix->columns(); ++k) sum += std::pow(number_in(matrix, row, k), 2);
      }
      ASSERT_NEAR(sum, trained, 1e-3 * trained);
    }
}

// Sequences in one block of memory, as trainers have them, steps that were encoded one by one, and gradients that are
// added to.
TEST_P(RnnTrainingTest, GivesTheSameForStepsOneByOneAndAddsToGradients) {
  for (const size_t index : {0, 4, 9}) {
    const RnnCase c = rnn_cases(4, 19)[index];
    SCOPED_TRACE(c.name);
    ReferenceLayer reference(c, random);
    NS::Array* weights = nullptr;
    const auto layer =
        NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
    const Problem problem = random_problem(c, {2, 2, 2}, 0);
    const Numbers block = random_matrix({.rows = 6, .columns = c.inputs, .padding = 2}, 0, 0),
                  back = random_matrix({.rows = 6, .columns = c.inputs, .padding = 2}, 0, 0);
    std::vector<NS::SharedPtr<MPS::Matrix>> parts;
    const auto steps_of = [&](const Numbers& numbers) {
      std::vector<const NS::Object*> objects;
      for (size_t step = 0; step < 3; ++step) {
        parts.push_back(NS::TransferPtr(MPS::Matrix::alloc()->init(
            numbers.matrix()->data(), numbers.matrix()->offset() + 2 * step * numbers.matrix()->rowBytes(),
            MPS::MatrixDescriptor::matrixDescriptor(2, c.inputs, numbers.matrix()->rowBytes(), MPS::DataTypeFloat32))));
        objects.push_back(parts.back().get());
      }
      return NS::Array::array(objects.data(), 3);
    };
    for (size_t step = 0; step < 3; ++step)
      for (size_t row = 0; row < 2; ++row)
        for (size_t i = 0; i < c.inputs; ++i)
          const_cast<Numbers&>(block).set(2 * step + row, i, problem.sources[step].at(row, i));
    const Matrices results = random_sequence({2, 2, 2}, c.outputs, MPS::DataTypeFloat32, 0);
    const Matrices input_gradients = random_sequence({2, 2, 2}, c.inputs, MPS::DataTypeFloat32, 0);
    NS::Array* gradients = nullptr;
    layer->createWeightGradientMatrices(&gradients, MPS::DataTypeFloat32);
    layer->setAccumulateWeightGradients(true);
    layer->setStoreAllIntermediateStates(true);
    NS::SharedPtr<NS::Array> back_states;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                NS::Array *kept = nullptr, *states = nullptr;
                layer->encodeForwardSequence(commands, steps_of(block), array_of(results), &kept, weights);
                layer->encodeGradientSequence(commands, steps_of(block), nullptr, array_of(problem.gradients), nullptr,
                                              steps_of(back), nullptr, gradients, kept, nullptr, &states, weights);
                back_states = NS::RetainPtr(states);
                std::vector<const NS::Object*> all_kept;
                const MPS::RNNRecurrentMatrixState* state = nullptr;
                for (size_t step = 0; step < 3; ++step) {
                  layer->encodeForwardSequence(commands, array_of({problem.sources[step]}), nullptr,
                                               array_of({results[step]}), nullptr, &kept, state, &states, weights);
                  all_kept.push_back(kept->object(0));
                  state = states->object<MPS::RNNRecurrentMatrixState>(0);
                }
                layer->encodeGradientSequence(commands, array_of(problem.sources), array_of(problem.gradients),
                                              array_of(input_gradients), gradients,
                                              NS::Array::array(all_kept.data(), 3), weights);
              }),
              "");
    for (size_t step = 0; step < 3; ++step)
      for (size_t row = 0; row < 2; ++row)
        for (size_t i = 0; i < c.inputs; ++i) {
          ASSERT_NEAR(back.at(2 * step + row, i), input_gradients[step].at(row, i), 1e-5);
          if (step == 1 && row == 1) {
            ASSERT_NEAR(back.at(2 * step + row, i), slope_of_input(reference, problem, step, row, i), 5e-5);
          }
        }
    EXPECT_EQ(back_states->count(), 3u);
    // Some weights will do.
    for (auto& [id, numbers] : reference.weights) {
      const size_t columns = numbers.size() == c.outputs ? c.outputs : numbers.size() / c.outputs;
      const Vector given = copied(layer.get(), gradients, id, numbers.size() / columns, columns);
      for (size_t i = 0; i < numbers.size(); i += 1 + numbers.size() / 7)
        ASSERT_NEAR(given[i], 2 * slope_by(numbers[i], [&] { return loss_of(reference, problem); }), 1e-4);
    }
  }
}

TEST_P(RnnTrainingTest, TakesHalfMatricesAndGivesHalfAndTemporaryGradients) {
  const RnnCase c = rnn_cases(6, 9)[8];
  ReferenceLayer reference(c, random);
  NS::Array* weights = nullptr;
  const auto layer =
      NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
  const Problem problem = random_problem(c, {3, 3}, 0, MPS::DataTypeFloat16);
  const Matrices results = random_sequence({3, 3}, c.outputs, MPS::DataTypeFloat16, 0);
  const Matrices input_gradients = random_sequence({3, 3}, c.inputs, MPS::DataTypeFloat16, 0);
  const Numbers diagonal = random_matrix({.rows = 1, .columns = c.outputs}, 0, 0);
  NS::Array* halves = nullptr;
  layer->createWeightGradientMatrices(&halves, MPS::DataTypeFloat16);
  ASSERT_EQ(halves->object<MPS::Matrix>(0)->dataType(), MPS::DataTypeFloat16);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              NS::Array *kept = nullptr, *temporary = nullptr;
              layer->encodeForwardSequence(commands, array_of(problem.sources), array_of(results), &kept, weights);
              layer->encodeGradientSequence(commands, array_of(problem.sources), array_of(problem.gradients),
                                            array_of(input_gradients), halves, kept, weights);
              layer->createTemporaryWeightGradientMatrices(&temporary, MPS::DataTypeFloat32, commands);
              layer->encodeGradientSequence(commands, array_of(problem.sources), array_of(problem.gradients), nullptr,
                                            temporary, kept, weights);
              layer->encodeCopyWeights(commands, temporary, MPS::RNNMatrixIdLSTMOutputGateMemoryWeights,
                                       diagonal.matrix(), true, MTL::Origin(0, 0, 0));
            }),
            "");
  // Numbers of up to 8 or so, rounded to half.
  expect_weight_gradients(reference, problem, layer.get(), halves, 8 * rounding_of(MPS::DataTypeFloat16));
  Vector& peepholes = reference.weights.at(MPS::RNNMatrixIdLSTMOutputGateMemoryWeights);
  for (size_t i = 0; i < c.outputs; ++i)
    EXPECT_NEAR(diagonal.at(0, i), slope_by(peepholes[i], [&] { return loss_of(reference, problem); }), 2e-5);
  for (size_t i = 0; i < c.inputs; ++i)
    EXPECT_NEAR(input_gradients[0].at(1, i), slope_of_input(reference, problem, 0, 1, i), 4e-3);
}

// A sigmoid of 40 is 1, where the slope of (1 - z^p)^(1/p) is infinite; one of -120 is 0.
TEST_P(RnnTrainingTest, HasNoGradientThroughGatesThatAreFullyOpenOrShut) {
  for (const double bias : {40.0, -120.0})
    for (const float p : {0.5f, 2.5f}) {
      RnnCase c = rnn_cases(3, 5)[4];
      c.p = p;
      ReferenceLayer reference(c, random);
      for (double& number : reference.weights.at(MPS::RNNMatrixIdGRUInputGateBiasTerms)) number = bias;
      NS::Array *weights = nullptr, *gradients = nullptr;
      const auto layer =
          NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
      layer->createWeightGradientMatrices(&gradients, MPS::DataTypeFloat32);
      const Problem problem = random_problem(c, {2, 2}, 0);
      const Matrices results = random_sequence({2, 2}, c.outputs, MPS::DataTypeFloat32, 0);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  NS::Array* kept = nullptr;
                  layer->encodeForwardSequence(commands, array_of(problem.sources), array_of(results), &kept, weights);
                  layer->encodeGradientSequence(commands, array_of(problem.sources), array_of(problem.gradients),
                                                nullptr, gradients, kept, weights);
                }),
                "");
      expect_weight_gradients(reference, problem, layer.get(), gradients, 2e-5);
    }
}

// Temporary memory of a sequence serves the next one of the command buffer.
TEST_P(RnnTrainingTest, GivesTheSameForEachOfManySequencesInACommandBuffer) {
  const RnnCase c = rnn_cases(3, 5)[5];
  const ReferenceLayer reference(c, random);
  NS::Array *weights = nullptr, *gradients = nullptr;
  const auto layer =
      NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
  layer->setTrainingStateIsTemporary(true);
  layer->setRecurrentOutputIsTemporary(true);
  layer->setAccumulateWeightGradients(true);
  layer->createWeightGradientMatrices(&gradients, MPS::DataTypeFloat32);
  const Problem problem = random_problem(c, {3, 3}, 0);
  const Matrices results = random_sequence({3, 3}, c.outputs, MPS::DataTypeFloat32, 0);
  const auto gradient_after = [&](size_t sequences) {
    EXPECT_EQ(run([&](MTL::CommandBuffer* commands) {
                for (size_t i = 0; i < sequences; ++i) {
                  NS::Array *kept = nullptr, *states = nullptr;
                  layer->encodeForwardSequence(commands, array_of(problem.sources), nullptr, array_of(results), nullptr,
                                               &kept, nullptr, &states, weights);
                  layer->encodeGradientSequence(commands, array_of(problem.sources), array_of(problem.gradients),
                                                nullptr, gradients, kept, weights);
                }
              }),
              "");
    return copied(layer.get(), gradients, MPS::RNNMatrixIdGRUOutputGateRecurrentWeights, 5, 5);
  };
  const Vector one = gradient_after(1), eight = gradient_after(7);
  for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(eight[i], 8 * one[i], 1e-4);
}

TEST_P(RnnTrainingTest, CopiesWeightsInAndOut) {
  for (const RnnCase& c : rnn_cases(3, 5)) {
    const ReferenceLayer reference(c, random);
    NS::Array *weights = nullptr, *others = nullptr;
    const auto layer =
        NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
    layer->createWeightMatrices(&others);
    ASSERT_EQ(others->count(), weights->count());
    for (const auto& [id, numbers] : reference.weights) {
      const size_t rows = numbers.size() == c.outputs ? 1 : c.outputs, columns = numbers.size() / rows;
      EXPECT_EQ(copied(layer.get(), weights, id, rows, columns), numbers) << c.name << ", matrix " << id;
      Numbers half = random_matrix({.rows = rows, .columns = columns, .type = MPS::DataTypeFloat16}, -1, 1);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  layer->encodeCopyWeights(commands, others, id, half.matrix(), false, MTL::Origin(0, 0, 0));
                }),
                "");
      const Vector back = copied(layer.get(), others, id, rows, columns);
      for (size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], half.at(i / columns, i % columns));
    }
  }
}

TEST_P(RnnTrainingTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  const ReferenceLayer reference(rnn_cases(3, 5)[7], random);
  NS::Array *weights = nullptr, *gradients = nullptr, *kept = nullptr;
  EXPECT_FALSE(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), nullptr));
  const auto layer =
      NS::TransferPtr(MPS::RNNMatrixTrainingLayer::alloc()->init(device.get(), descriptor_of(reference), &weights));
  layer->createWeightGradientMatrices(&gradients, MPS::DataTypeInt8);
  EXPECT_EQ(gradients, nullptr);
  layer->createWeightGradientMatrices(&gradients, MPS::DataTypeFloat16);
  const auto fails_with = [&](const std::string& sentence, const std::function<void(MTL::CommandBuffer*)>& encode) {
    EXPECT_NE(run(encode).find(sentence), std::string::npos) << sentence;
  };
  const Matrices sources = random_sequence({2, 2}, 3, MPS::DataTypeFloat32, 1);
  const Matrices results = random_sequence({2, 2}, 5, MPS::DataTypeFloat32, 1);
  fails_with("weights has 0 matrices, and the layer has 3", [&](MTL::CommandBuffer* commands) {
    layer->encodeForwardSequence(commands, array_of(sources), array_of(results), &kept, nullptr);
  });
  fails_with("weights has matrices of type Float16", [&](MTL::CommandBuffer* commands) {
    layer->encodeForwardSequence(commands, array_of(sources), array_of(results), &kept, gradients);
  });
  fails_with("trainingStates is null", [&](MTL::CommandBuffer* commands) {
    layer->encodeForwardSequence(commands, array_of(sources), array_of(results), nullptr, weights);
  });
  fails_with("trainingStates has 0 states, and there are 2 sourceGradients", [&](MTL::CommandBuffer* commands) {
    layer->encodeGradientSequence(commands, array_of(sources), array_of(results), nullptr, gradients, nullptr, weights);
  });
  fails_with("forwardSources has 1 matrices, and there are 2 steps", [&](MTL::CommandBuffer* commands) {
    layer->encodeForwardSequence(commands, array_of(sources), array_of(results), &kept, weights);
    layer->encodeGradientSequence(commands, array_of({sources[0]}), array_of(results), nullptr, gradients, kept,
                                  weights);
  });
  fails_with("matrix has 1 rows and 5 columns from its origin on, and 5 rows and 3 columns",
             [&](MTL::CommandBuffer* commands) {
               layer->encodeCopyWeights(commands, weights, MPS::RNNMatrixIdLSTMInputGateInputWeights,
                                        results[0].matrix(), true, MTL::Origin(1, 0, 0));
             });
  fails_with("matrixId (5) is of no weights", [&](MTL::CommandBuffer* commands) {
    layer->encodeCopyWeights(commands, weights, MPS::RNNMatrixIdLSTMInputGateMemoryWeights, results[0].matrix(), true,
                             MTL::Origin(0, 0, 0));
  });
  layer->setTrainingStateIsTemporary(true);
  fails_with("a training state is temporary, and has been read as often", [&](MTL::CommandBuffer* commands) {
    layer->encodeForwardSequence(commands, array_of(sources), array_of(results), &kept, weights);
    for (int i = 0; i < 2; ++i)
      layer->encodeGradientSequence(commands, array_of(sources), array_of(results), nullptr, gradients, kept, weights);
  });
  NS::SharedPtr<NS::Array> temporary;
  NS::SharedPtr<MTL::CommandBuffer> theirs;
  run([&](MTL::CommandBuffer* commands) {
    NS::Array* made = nullptr;
    layer->encodeForwardSequence(commands, array_of(sources), array_of(results), &made, weights);
    temporary = NS::RetainPtr(made);
    theirs = NS::RetainPtr(commands);
  });
  fails_with("temporary, and of another command buffer", [&](MTL::CommandBuffer* commands) {
    layer->encodeGradientSequence(commands, array_of(sources), array_of(results), nullptr, gradients, temporary.get(),
                                  weights);
  });
}

}  // namespace
}  // namespace metalloid::mps
