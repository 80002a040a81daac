#include "rnn_program.hpp"

namespace metalloid::mps {
namespace {

using RnnInferenceTest = RnnTest;
INSTANTIATE_MPS_TEST(RnnInferenceTest);

// The states of one sequence (a row of the matrices) after each of its steps, through a stack.
using Trace = std::vector<std::vector<ReferenceState>>;  // [step][layer]

Trace trace_of(const std::vector<const ReferenceLayer*>& stack, const Matrices& sources, size_t row,
               std::vector<ReferenceState> states, bool is_reversed) {
  Trace trace;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Numbers& source = sources[is_reversed ? sources.size() - 1 - i : i];
    if (row < source.shape().rows) {
      Vector x = row_of(source, row, stack[0]->rnn_case.inputs);
      for (size_t layer = 0; layer < stack.size(); ++layer) {
        states[layer] = stack[layer]->step(x, states[layer]);
        x = states[layer].h;
      }
    }
    trace.push_back(states);
  }
  if (is_reversed) std::reverse(trace.begin(), trace.end());
  return trace;
}

std::vector<ReferenceState> zero_states(const std::vector<const ReferenceLayer*>& stack) {
  std::vector<ReferenceState> states;
  for (const ReferenceLayer* layer : stack)
    states.push_back({Vector(layer->rnn_case.outputs), Vector(layer->rnn_case.outputs)});
  return states;
}

// Inputs and results are rounded to the type, all in between is float; gates do not enlarge errors, and some tens of
// roundings come together in sums and steps.
double tolerance_of(MPS::DataType type) {
  return 4e-6 + 2 * rounding_of(type);
}

TEST_P(RnnInferenceTest, FollowsTheFormulasThroughASequenceOfAnySizeAndType) {
  const struct {
    size_t inputs, outputs;
    std::vector<size_t> rows;
    MPS::DataType type;
  } shapes[] = {{3, 5, {3, 3, 2, 1}, MPS::DataTypeFloat32},
                {1, 1, {1}, MPS::DataTypeFloat32},
                {17, 33, {4, 4, 4}, MPS::DataTypeFloat16},
                {40, 31, {2, 2}, MPS::DataTypeBFloat16}};
  for (const auto& [inputs, outputs, rows, type] : shapes)
    for (const RnnCase& c : rnn_cases(inputs, outputs)) {
      SCOPED_TRACE(c.name);
      const ReferenceLayer reference(c, random);
      const auto layer =
          NS::TransferPtr(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), descriptor_of(reference)));
      ASSERT_TRUE(layer);
      EXPECT_EQ(layer->numberOfLayers(), 1u);
      EXPECT_EQ(layer->inputFeatureChannels(), c.inputs);
      EXPECT_EQ(layer->outputFeatureChannels(), c.outputs);
      const Matrices sources = random_sequence(rows, c.inputs, type, 1);
      const Matrices results = random_sequence(rows, c.outputs + 2, type, 0);
      NS::SharedPtr<NS::Array> states;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  NS::Array* made = nullptr;
                  layer->encodeSequence(commands, array_of(sources), array_of(results), nullptr, &made);
                  states = NS::RetainPtr(made);
                }),
                "");
      ASSERT_TRUE(states);
      ASSERT_EQ(states->count(), 1u);
      const auto* state = states->object<MPS::RNNRecurrentMatrixState>(0);
      for (size_t row = 0; row < rows[0]; ++row) {
        const Trace trace = trace_of({&reference}, sources, row, zero_states({&reference}), false);
        for (size_t step = 0; step < rows.size() && row < rows[step]; ++step)
          for (size_t i = 0; i < c.outputs; ++i)
            ASSERT_NEAR(results[step].at(row, i), trace[step][0].h[i], tolerance_of(type)) << "step " << step;
        for (size_t i = 0; i < c.outputs; ++i) {
          ASSERT_NEAR(number_in(state->getRecurrentOutputMatrix(0), row, i), trace.back()[0].h[i], 4e-6);
          if (c.kind == Kind::lstm) {
            ASSERT_NEAR(number_in(state->getMemoryCellMatrix(0), row, i), trace.back()[0].c[i], 8e-6);
          }
        }
      }
      EXPECT_EQ(results[0].at(0, c.outputs), 0) << "outside of the result";
      EXPECT_EQ(state->getMemoryCellMatrix(0) != nullptr, c.kind == Kind::lstm);
      EXPECT_EQ(state->getRecurrentOutputMatrix(1), nullptr);
    }
}

TEST_P(RnnInferenceTest, RunsStacksAndGivesEachStateAndGoesOnFromOne) {
  std::vector<RnnCase> cases = {rnn_cases(4, 6)[0], rnn_cases(6, 5)[2], rnn_cases(5, 7)[8]};
  std::vector<ReferenceLayer> references;
  for (const RnnCase& c : cases) references.emplace_back(c, random);
  std::vector<const ReferenceLayer*> stack;
  std::vector<const NS::Object*> descriptors;
  for (const ReferenceLayer& reference : references) {
    stack.push_back(&reference);
    descriptors.push_back(descriptor_of(reference));
  }
  const auto layer = NS::TransferPtr(
      MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), NS::Array::array(descriptors.data(), 3)));
  ASSERT_TRUE(layer);
  ASSERT_EQ(layer->numberOfLayers(), 3u);
  const auto copy = NS::TransferPtr(layer->copy());
  for (const bool is_temporary : {false, true}) {
    layer->setStoreAllIntermediateStates(true);
    layer->setRecurrentOutputIsTemporary(is_temporary);
    const Matrices sources = random_sequence({3, 3, 2, 2}, 4, MPS::DataTypeFloat32, 1);
    const Matrices results = random_sequence({3, 3, 2, 2}, 7, MPS::DataTypeFloat32, 0);
    const Matrices more_sources = random_sequence({2, 1}, 4, MPS::DataTypeFloat32, 1);
    const Matrices more_results = random_sequence({2, 1}, 7, MPS::DataTypeFloat32, 0);
    NS::SharedPtr<NS::Array> states;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                NS::Array* made = nullptr;
                layer->encodeSequence(commands, array_of(sources), array_of(results), nullptr, &made);
                states = NS::RetainPtr(made);
                // From the state after the second step on; the third sequence has no more steps.
                auto* state = made->object<MPS::RNNRecurrentMatrixState>(1);
                EXPECT_EQ(state->isTemporary(), is_temporary);
                copy->encodeSequence(commands, array_of(more_sources), array_of(more_results), state, nullptr);
              }),
              "");
    ASSERT_EQ(states->count(), 4u);
    for (size_t row = 0; row < 3; ++row) {
      const Trace trace = trace_of(stack, sources, row, zero_states(stack), false);
      const Trace more = trace_of(stack, more_sources, row, trace[1], false);
      for (size_t step = 0; step < 4; ++step) {
        for (size_t i = 0; i < 7 && row < sources[step].shape().rows; ++i)
          ASSERT_NEAR(results[step].at(row, i), trace[step][2].h[i], 8e-6);
        const auto* state = states->object<MPS::RNNRecurrentMatrixState>(step);
        for (size_t index = 0; index < 3 && !is_temporary; ++index)
          for (size_t i = 0; i < cases[index].outputs; ++i)
            ASSERT_NEAR(number_in(state->getRecurrentOutputMatrix(index), row, i), trace[step][index].h[i], 8e-6);
      }
      for (size_t step = 0; step < 2 && row < more_sources[step].shape().rows; ++step)
        for (size_t i = 0; i < 7; ++i) ASSERT_NEAR(more_results[step].at(row, i), more[step][2].h[i], 8e-6);
    }
  }
}

TEST_P(RnnInferenceTest, RunsBothDirectionsAndCombinesThem) {
  const std::vector<RnnCase> cases = {rnn_cases(4, 6)[7], rnn_cases(4, 5)[2], rnn_cases(6, 7)[0], rnn_cases(5, 7)[4]};
  std::vector<ReferenceLayer> references;
  for (const RnnCase& c : cases) references.emplace_back(c, random);
  std::vector<const NS::Object*> descriptors;
  std::vector<const ReferenceLayer*> stacks[2];
  for (size_t i = 0; i < 4; ++i) {
    auto* descriptor = descriptor_of(references[i]);
    descriptor->setLayerSequenceDirection(i % 2 ? MPS::RNNSequenceDirectionBackward : MPS::RNNSequenceDirectionForward);
    descriptors.push_back(descriptor);
    stacks[i % 2].push_back(&references[i]);
  }
  const auto layer = NS::TransferPtr(
      MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), NS::Array::array(descriptors.data(), 4)));
  ASSERT_TRUE(layer);
  const std::vector<size_t> rows = {3, 3, 2, 1};
  for (const MPS::RNNBidirectionalCombineMode mode :
       {MPS::RNNBidirectionalCombineModeNone, MPS::RNNBidirectionalCombineModeAdd,
        MPS::RNNBidirectionalCombineModeConcatenate})
    for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16}) {
      layer->setBidirectionalCombineMode(mode);
      const Matrices sources = random_sequence(rows, 4, type, 1);
      const Matrices forward = random_sequence(rows, 14, type, 0), backward = random_sequence(rows, 7, type, 0);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  layer->encodeBidirectionalSequence(
                      commands, array_of(sources), array_of(forward),
                      mode == MPS::RNNBidirectionalCombineModeNone ? array_of(backward) : nullptr);
                }),
                "");
      for (size_t row = 0; row < 3; ++row) {
        const Trace there = trace_of(stacks[0], sources, row, zero_states(stacks[0]), false);
        const Trace back = trace_of(stacks[1], sources, row, zero_states(stacks[1]), true);
        for (size_t step = 0; step < 4 && row < rows[step]; ++step)
          for (size_t i = 0; i < 7; ++i) {
            const double f = there[step][1].h[i], b = back[step][1].h[i], tolerance = 2 * tolerance_of(type);
            if (mode == MPS::RNNBidirectionalCombineModeAdd) {
              ASSERT_NEAR(forward[step].at(row, i), f + b, tolerance);
            } else {
              ASSERT_NEAR(forward[step].at(row, i), f, tolerance);
              ASSERT_NEAR(mode == MPS::RNNBidirectionalCombineModeNone ? backward[step].at(row, i)
                                                                       : forward[step].at(row, i + 7),
                          b, tolerance);
            }
          }
      }
    }
}

// More sums of gates than are held at once: the sequence is done in pieces, as if it had been given so.
TEST_P(RnnInferenceTest, DoesLongSequencesInPieces) {
  const size_t rows = 4096, steps = 20, inputs = 2, outputs = 16;
  const ReferenceLayer reference(rnn_cases(inputs, outputs)[7], random);
  const auto layer =
      NS::TransferPtr(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), descriptor_of(reference)));
  const MatrixShape shape{.rows = steps * rows, .columns = inputs, .padding = 0, .offset = 0};
  const Numbers source = random_matrix(shape, -1, 1);
  Matrices sources, whole, parts;
  const auto part_of = [&](const Numbers& numbers, size_t step, size_t columns) {
    return NS::TransferPtr(MPS::Matrix::alloc()->init(
        numbers.matrix()->data(), step * rows * columns * sizeof(float),
        MPS::MatrixDescriptor::matrixDescriptor(rows, columns, columns * sizeof(float), MPS::DataTypeFloat32)));
  };
  const Numbers results[2] = {
      random_matrix({.rows = steps * rows, .columns = outputs, .padding = 0, .offset = 0}, 0, 0),
      random_matrix({.rows = steps * rows, .columns = outputs, .padding = 0, .offset = 0}, 0, 0)};
  const auto array = [&](const Numbers& numbers, size_t columns, size_t first, size_t count) {
    std::vector<NS::SharedPtr<MPS::Matrix>> matrices;
    std::vector<const NS::Object*> objects;
    for (size_t i = 0; i < count; ++i) {
      matrices.push_back(part_of(numbers, first + i, columns));
      objects.push_back(matrices.back().get());
    }
    return NS::Array::array(objects.data(), count);
  };
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              layer->encodeSequence(commands, array(source, inputs, 0, steps), array(results[0], outputs, 0, steps),
                                    nullptr, nullptr);
              const MPS::RNNRecurrentMatrixState* state = nullptr;
              for (size_t first = 0; first < steps; first += steps / 2) {
                NS::Array* states = nullptr;
                layer->encodeSequence(commands, array(source, inputs, first, steps / 2),
                                      array(results[1], outputs, first, steps / 2), state, &states);
                state = states->object<MPS::RNNRecurrentMatrixState>(0);
              }
            }),
            "");
  for (size_t row = 0; row < steps * rows; row += 37)
    for (size_t i = 0; i < outputs; ++i) ASSERT_NEAR(results[0].at(row, i), results[1].at(row, i), 1e-6);
}

TEST_P(RnnInferenceTest, TakesOffsetsInBytes) {
  const ReferenceLayer reference(rnn_cases(3, 5)[7], random);
  const auto layer =
      NS::TransferPtr(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), descriptor_of(reference)));
  const Matrices sources = random_sequence({5, 5}, 6, MPS::DataTypeFloat32, 1);
  const Matrices results = random_sequence({4, 4}, 7, MPS::DataTypeFloat32, 0);
  // Row 2, column 3 of sources; row 1, column 2 of results.
  const NS::UInteger source_offset = 2 * sources[0].matrix()->rowBytes() + 3 * sizeof(float);
  const NS::UInteger result_offset = 1 * results[0].matrix()->rowBytes() + 2 * sizeof(float);
  const NS::UInteger source_offsets[] = {source_offset, source_offset},
                     result_offsets[] = {result_offset, result_offset};
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              layer->encodeSequence(commands, array_of(sources), source_offsets, array_of(results), result_offsets,
                                    nullptr, nullptr);
            }),
            "");
  for (size_t row = 0; row < 3; ++row) {
    ReferenceState state = zero_states({&reference})[0];
    for (size_t step = 0; step < 2; ++step) {
      Vector x;
      for (size_t i = 0; i < 3; ++i) x.push_back(sources[step].at(row + 2, i + 3));
      state = reference.step(x, state);
      for (size_t i = 0; i < 5; ++i) ASSERT_NEAR(results[step].at(row + 1, i + 2), state.h[i], 4e-6);
    }
  }
  EXPECT_EQ(results[0].at(0, 2), 0);
  EXPECT_EQ(results[0].at(1, 1), 0);
}

TEST_P(RnnInferenceTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  const ReferenceLayer reference(rnn_cases(3, 5)[7], random), other(rnn_cases(3, 5)[2], random);
  EXPECT_FALSE(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), static_cast<MPS::RNNDescriptor*>(nullptr)));
  EXPECT_FALSE(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), NS::Array::array()));
  EXPECT_FALSE(MPS::RNNMatrixInferenceLayer::alloc()->init(nullptr, descriptor_of(reference)));
  auto* wrong = descriptor_of(reference);
  wrong->setInputFeatureChannels(4);
  EXPECT_FALSE(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), wrong));
  wrong = descriptor_of(other);
  static_cast<MPS::GRUDescriptor*>(wrong)->setGatePnormValue(0);
  EXPECT_FALSE(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), wrong));
  wrong = descriptor_of(reference);
  wrong->setUseLayerInputUnitTransformMode(true);
  EXPECT_FALSE(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), wrong)) << "3 inputs and 5 outputs";

  const auto layer =
      NS::TransferPtr(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), descriptor_of(reference)));
  const auto fails_with = [&](const std::string& sentence, const std::function<void(MTL::CommandBuffer*)>& encode) {
    EXPECT_NE(run(encode).find(sentence), std::string::npos) << sentence;
  };
  const Matrices sources = random_sequence({2, 2}, 3, MPS::DataTypeFloat32, 1);
  const Matrices results = random_sequence({2, 2}, 5, MPS::DataTypeFloat32, 1);
  fails_with("sourceMatrices has no matrices", [&](MTL::CommandBuffer* commands) {
    layer->encodeSequence(commands, nullptr, array_of(results), nullptr, nullptr);
  });
  fails_with("destinationMatrices[1] has 1 rows, and 2 are needed", [&](MTL::CommandBuffer* commands) {
    layer->encodeSequence(commands, array_of(sources), array_of(random_sequence({2, 1}, 5, MPS::DataTypeFloat32, 1)),
                          nullptr, nullptr);
  });
  fails_with("destinationMatrices has 1 matrices, and there are 2 steps", [&](MTL::CommandBuffer* commands) {
    layer->encodeSequence(commands, array_of(sources), array_of(random_sequence({2}, 5, MPS::DataTypeFloat32, 1)),
                          nullptr, nullptr);
  });
  fails_with("sourceMatrices[0] has 2 rows and 2 columns", [&](MTL::CommandBuffer* commands) {
    layer->encodeSequence(commands, array_of(random_sequence({2, 2}, 2, MPS::DataTypeFloat32, 1)), array_of(results),
                          nullptr, nullptr);
  });
  fails_with("rows must not become more", [&](MTL::CommandBuffer* commands) {
    layer->encodeSequence(commands, array_of(random_sequence({1, 2}, 3, MPS::DataTypeFloat32, 1)), array_of(results),
                          nullptr, nullptr);
  });
  fails_with("destinationMatrices[0] is also a source", [&](MTL::CommandBuffer* commands) {
    const Matrices wide = random_sequence({2, 2}, 5, MPS::DataTypeFloat32, 1);
    layer->encodeSequence(commands, array_of(wide), array_of(wide), nullptr, nullptr);
  });
  fails_with("layers of both directions", [&](MTL::CommandBuffer* commands) {
    layer->encodeBidirectionalSequence(commands, array_of(sources), array_of(results), array_of(results));
  });
  const auto gru = NS::TransferPtr(MPS::RNNMatrixInferenceLayer::alloc()->init(device.get(), descriptor_of(other)));
  fails_with("recurrentInputState is not of a layer like layer 0", [&](MTL::CommandBuffer* commands) {
    NS::Array* states = nullptr;
    gru->encodeSequence(commands, array_of(sources), array_of(results), nullptr, &states);
    layer->encodeSequence(commands, array_of(sources), array_of(results),
                          states->object<MPS::RNNRecurrentMatrixState>(0), nullptr);
  });
  layer->setRecurrentOutputIsTemporary(true);
  fails_with("recurrentInputState is temporary, and has been read", [&](MTL::CommandBuffer* commands) {
    NS::Array* states = nullptr;
    layer->encodeSequence(commands, array_of(sources), array_of(results), nullptr, &states);
    for (int i = 0; i < 2; ++i)
      layer->encodeSequence(commands, array_of(sources), array_of(results),
                            states->object<MPS::RNNRecurrentMatrixState>(0), nullptr);
  });
}

}  // namespace
}  // namespace metalloid::mps
