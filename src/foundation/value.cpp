#include "foundation/value.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

class ValueObject final : public NS::Value, public Payload {
 public:
  const char* className() const override { return "NSValue"; }

  NS::UInteger contentHash() const override { return std::hash<std::string>()(bytes); }

  bool contentEquals(const NS::Object& other) const override {
    const auto* payload = dynamic_cast<const Payload*>(&other);
    return payload && type == payload->type && bytes == payload->bytes;
  }

  NS::String* contentDescription() const override {
    return autoreleased_string("<NSValue of type " + type + ", " + std::to_string(bytes.size()) + " bytes>");
  }
};

struct Layout {
  std::size_t size;
  std::size_t alignment;
};

// Reads one type off the front of `rest`.
class TypeReader {
 public:
  explicit TypeReader(std::string_view encoding) : rest_(encoding) {}

  bool at_end() const { return rest_.empty(); }

  std::optional<Layout> read() {
    while (!rest_.empty() && std::string_view("rnNoORVA").find(rest_[0]) != std::string_view::npos) take();
    if (rest_.empty() || ++depth_ > 64) return std::nullopt;
    const auto layout = read_unqualified(take());
    --depth_;
    return layout;
  }

 private:
  char take() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

  std::optional<Layout> read_unqualified(char code) {
    switch (code) {
      case 'c':
      case 'C':
      case 'B':
        return scalar(1);
      case 's':
      case 'S':
        return scalar(2);
      case 'i':
      case 'I':
      case 'l':
      case 'L':
      case 'f':
        return scalar(4);
      case 'q':
      case 'Q':
      case 'd':
      case '*':
      case '#':
      case ':':
        return scalar(8);
      case 't':
      case 'T':
      case 'D':
        return scalar(16);
      case 'v':
        return Layout{0, 1};
      case '@':
        return read_object();
      case '^':
        return read_pointer();
      case '[':
        return read_array();
      case '{':
        return read_members('}');
      case '(':
        return read_members(')');
      default:
        return std::nullopt;
    }
  }

  static Layout scalar(std::size_t size) { return {size, size}; }

  // "@?" is a block, @"Name" an object with its class.
  std::optional<Layout> read_object() {
    if (!rest_.empty() && rest_[0] == '?') take();
    if (!rest_.empty() && rest_[0] == '"') {
      const std::size_t end = rest_.find('"', 1);
      if (end == std::string_view::npos) return std::nullopt;
      rest_.remove_prefix(end + 1);
    }
    return scalar(8);
  }

  std::optional<Layout> read_pointer() {
    if (!rest_.empty() && rest_[0] == '?')
      take();
    else if (!read())
      return std::nullopt;
    return scalar(8);
  }

  std::optional<Layout> read_array() {
    std::size_t count = 0;
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0]))) {
      count = count * 10 + (take() - '0');
      if (count > 1u << 30) return std::nullopt;
    }
    const auto element = read();
    if (!element || rest_.empty() || take() != ']' || element->size > 1u << 30) return std::nullopt;
    return Layout{count * element->size, element->alignment};
  }

  // A struct's members follow one another, a union's share their place. A type that names no members is opaque.
  std::optional<Layout> read_members(char end) {
    const std::size_t name = rest_.find_first_of(std::string("=") + end);
    if (name == std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(name);
    Layout whole{0, 1};
    if (take() == end) return whole;
    while (!rest_.empty() && rest_[0] != end) {
      const auto member = read();
      if (!member) return std::nullopt;
      const std::size_t offset = end == '}' ? align(whole.size, member->alignment) : 0;
      whole = {std::max(whole.size, offset + member->size), std::max(whole.alignment, member->alignment)};
    }
    if (rest_.empty()) return std::nullopt;
    take();
    return Layout{align(whole.size, whole.alignment), whole.alignment};
  }

  static std::size_t align(std::size_t size, std::size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
  }

  std::string_view rest_;
  int depth_ = 0;
};

const Payload* payload(const NS::Value* value) {
  return dynamic_cast<const Payload*>(value);
}

}  // namespace

std::optional<std::size_t> size_of_encoded_type(std::string_view encoding) {
  TypeReader reader(encoding);
  const auto layout = reader.read();
  if (!layout || !reader.at_end() || layout->size == 0) return std::nullopt;
  return layout->size;
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Value* Value::value(const void* bytes, const char* type) {
  return autoreleased(alloc()->init(bytes, type));
}

Value* Value::value(const void* pointer) {
  return value(&pointer, "^v");
}

Value* Value::alloc() {
  return new ValueObject;
}

Value* Value::init(const void* bytes, const char* type) {
  const auto size = bytes && type ? size_of_encoded_type(type) : std::nullopt;
  auto* self = dynamic_cast<ValueObject*>(this);
  if (!size || !self) {
    report_misuse("-[NSValue initWithBytes:objCType:]", "no bytes, or a type whose size cannot be told");
    return failed_init(this);
  }
  self->type = type;
  self->bytes.assign(static_cast<const char*>(bytes), *size);
  return this;
}

Value* Value::init(const Coder*) {
  return failed_init(this);
}

void Value::getValue(void* bytes, UInteger size) const {
  const Payload* self = payload(this);
  if (!self || !bytes) return;
  if (size == self->bytes.size())
    std::memcpy(bytes, self->bytes.data(), size);
  else
    report_misuse("-[NSValue getValue:size:]",
                  "the value has " + std::to_string(self->bytes.size()) + " bytes, not " + std::to_string(size));
}

const char* Value::objCType() const {
  const Payload* self = payload(this);
  return self ? self->type.c_str() : nullptr;
}

bool Value::isEqualToValue(Value* value) const {
  return isEqual(value);
}

void* Value::pointerValue() const {
  void* pointer = nullptr;
  if (const Payload* self = payload(this))
    std::memcpy(&pointer, self->bytes.data(), std::min(sizeof pointer, self->bytes.size()));
  return pointer;
}

}  // namespace NS
