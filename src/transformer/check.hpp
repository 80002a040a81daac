// Whether the arguments of one call fit. The first that does not is remembered in a sentence that names the call and
// the argument; until the caller has asked for it, no more work is done.
#pragma once

#include <fmt/ranges.h>

#include <initializer_list>
#include <metalloid/backend.hpp>
#include <string>

namespace metalloid::transformer {

class Check {
 public:
  Check(std::string& error, const char* call) : error_(error), call_(call) {}

  // Whether the work can be done.
  explicit operator bool() const { return error_.empty(); }

  template <class... Arguments>
  void require(bool holds, fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
    if (!holds && error_.empty())
      error_ = fmt::format("{}: {}", call_, fmt::format(sentence, std::forward<Arguments>(arguments)...));
  }

  // A tensor of one of these types, at an address that its type allows.
  void is_tensor(const Tensor& tensor, const char* name, std::initializer_list<TensorType> types);
  void is_activation(const Tensor& tensor, const char* name);
  void is_weights(const Tensor& tensor, const char* name);
  void has_type_of(const Tensor& tensor, const char* name, const Tensor& other, const char* other_name);
  void has_shape(const Tensor& tensor, const char* name, const std::vector<size_t>& shape);
  void has_shape_of(const Tensor& tensor, const char* name, const Tensor& other, const char* other_name);
  void has_columns(const Tensor& tensor, const char* name, size_t columns, const char* why);
  void is_apart_from(const Tensor& result, const Tensor& tensor, const char* name);

 private:
  std::string& error_;
  const char* const call_;
};

// A shape in a sentence: [2, 3, 4]. It becomes text only if the sentence is needed.
struct ShapeText {
  const std::vector<size_t>& shape;
};
inline ShapeText text_of(const std::vector<size_t>& shape) {
  return {shape};
}

// Whether it lies where its type allows.
bool is_aligned(const Tensor& tensor);

}  // namespace metalloid::transformer

template <>
struct fmt::formatter<metalloid::transformer::ShapeText> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  auto format(const metalloid::transformer::ShapeText& text, format_context& context) const {
    return fmt::format_to(context.out(), "[{}]", fmt::join(text.shape, ", "));
  }
};
