// The string behind NS::String: UTF-8 text, and beside it the UTF-16 units when it is not plain ASCII. Text that came
// as UTF-16 with unpaired surrogates keeps them (three bytes each, which is not valid UTF-8: utf8String() says null).
#pragma once

#include <Foundation/NSString.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace metalloid::foundation {

class StringObject final : public NS::String {
 public:
  StringObject() = default;
  explicit StringObject(std::string_view utf8) { assign(utf8); }

  // A string that lives in the program's data; `text` is an ASCII literal.
  constexpr explicit StringObject(const char* text, std::size_t size)
      : NS::String(Lifetime::Immortal), text_(text), size_(size) {}

  // An immortal one made at run time.
  static StringObject* make_immortal(std::string_view utf8);

  // The text must be UTF-8, or what utf8_from_units makes.
  void assign(std::string_view utf8);

  std::string_view text() const { return {text_, size_}; }
  const char* c_str() const { return text_; }
  bool is_ascii() const { return !units_; }
  bool is_well_formed() const { return well_formed_; }

  std::size_t length() const { return units_ ? units_->size() : size_; }
  char16_t unit(std::size_t index) const {
    return units_ ? (*units_)[index] : static_cast<unsigned char>(text_[index]);
  }
  std::u16string units() const;

  const char* className() const override { return "NSString"; }
  NS::UInteger contentHash() const override;
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;

 private:
  explicit StringObject(Lifetime lifetime) : NS::String(lifetime) {}

  const char* text_ = "";
  std::size_t size_ = 0;
  std::unique_ptr<std::string> storage_;
  std::unique_ptr<std::u16string> units_;
  bool well_formed_ = true;
};

// A string constant of the program, ready before any code runs and never destroyed.
struct ConstantString {
  union {
    StringObject object;
  };
  template <std::size_t size>
  constexpr ConstantString(const char (&text)[size]) : object(text, size - 1) {}
  constexpr ~ConstantString() {}
};

// Defines a constant that a header declares, such as an error domain.
#define STRING_CONSTANT(name, text)                                        \
  static constinit metalloid::foundation::ConstantString name##Text{text}; \
  NS::String* const name = &name##Text.object;

inline const StringObject* body(const NS::String* string) {
  return static_cast<const StringObject*>(string);
}
inline StringObject* body(NS::String* string) {
  return static_cast<StringObject*>(string);
}

// The text of a string; nothing for null.
inline std::string_view text_of(const NS::String* string) {
  return string ? body(string)->text() : std::string_view();
}

NS::String* new_string(std::string_view utf8);
NS::String* autoreleased_string(std::string_view utf8);

}  // namespace metalloid::foundation
