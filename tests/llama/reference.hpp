// A Llama in float64, written as its formulas are.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tiny_model.hpp"

namespace metalloid {

class Reference {
 public:
  explicit Reference(const TinyModel& model) : model_(model) {}

  // What may follow the last of those tokens, or each of them.
  std::vector<double> logits(const std::vector<int>& tokens) const { return classified(run(tokens).back()); }
  std::vector<std::vector<double>> logits_of_each(const std::vector<int>& tokens) const {
    std::vector<Row> all;
    for (const Row& x : run(tokens)) all.push_back(classified(x));
    return all;
  }

 private:
  using Row = std::vector<double>;

  std::vector<Row> run(const std::vector<int>& tokens) const {
    std::vector<Row> x;
    for (const int token : tokens) x.push_back(row_of("token_embd.weight", static_cast<size_t>(token)));
    for (size_t i = 0; i < model_.layers; ++i) run_layer("blk." + std::to_string(i) + ".", x);
    return x;
  }

  Row classified(const Row& x) const {
    return product(model_.has_classifier ? "output.weight" : "token_embd.weight", normalised(x, "output_norm.weight"));
  }

  void run_layer(const std::string& layer, std::vector<Row>& x) const {
    const size_t size = model_.head_size();
    std::vector<Row> queries, keys, values;
    for (size_t t = 0; t < x.size(); ++t) {
      const Row y = normalised(x[t], layer + "attn_norm.weight");
      queries.push_back(turned(product(layer + "attn_q.weight", y), t));
      keys.push_back(turned(product(layer + "attn_k.weight", y), t));
      values.push_back(product(layer + "attn_v.weight", y));
    }
    for (size_t t = 0; t < x.size(); ++t) {
      Row attended(model_.dimensions);
      for (size_t head = 0; head < model_.heads; ++head) {
        const size_t kv = head / (model_.heads / model_.kv_heads) * size;
        Row scores(t + 1);
        for (size_t s = 0; s <= t; ++s) {
          for (size_t i = 0; i < size; ++i) scores[s] += queries[t][head * size + i] * keys[s][kv + i];
          scores[s] /= std::sqrt(static_cast<double>(size));
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - largest);
        for (size_t s = 0; s <= t; ++s)
          for (size_t i = 0; i < size; ++i) attended[head * size + i] += scores[s] / sum * values[s][kv + i];
      }
      add(x[t], product(layer + "attn_output.weight", attended));
      const Row y = normalised(x[t], layer + "ffn_norm.weight");
      Row gate = product(layer + "ffn_gate.weight", y);
      const Row up = product(layer + "ffn_up.weight", y);
      for (size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
      add(x[t], product(layer + "ffn_down.weight", gate));
    }
  }

  static void add(Row& x, const Row& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Row row_of(const std::string& name, size_t index) const {
    const NamedNumbers& tensor = model_.tensors.at(name);
    const auto begin = tensor.numbers.begin() + static_cast<ptrdiff_t>(index * tensor.shape.back());
    return Row(begin, begin + static_cast<ptrdiff_t>(tensor.shape.back()));
  }

  Row product(const std::string& name, const Row& x) const {
    const NamedNumbers& matrix = model_.tensors.at(name);
    Row result(matrix.shape[0]);
    for (size_t i = 0; i < result.size(); ++i)
      for (size_t j = 0; j < x.size(); ++j) result[i] += double{matrix.numbers[i * x.size() + j]} * x[j];
    return result;
  }

  Row normalised(Row x, const std::string& weights) const {
    double sum = 0;
    for (const double number : x) sum += number * number;
    const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + model_.epsilon);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= scale * model_.tensors.at(weights).numbers[i];
    return x;
  }

  Row turned(Row x, size_t position) const {
    const size_t size = model_.head_size();
    for (size_t i = 0; i < x.size(); i += 2) {
      const double frequency = std::pow(model_.rope_base, -static_cast<double>(i % size) / static_cast<double>(size));
      const double angle = static_cast<double>(position) * frequency;
      const double a = x[i], b = x[i + 1];
      x[i] = a * std::cos(angle) - b * std::sin(angle);
      x[i + 1] = a * std::sin(angle) + b * std::cos(angle);
    }
    return x;
  }

  const TinyModel& model_;
};

}  // namespace metalloid
