#include "foundation/data.hpp"

#include <Foundation/NSURL.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

const DataObject* body(const NS::Data* data) {
  return static_cast<const DataObject*>(data);
}
DataObject* body(NS::Data* data) {
  return static_cast<DataObject*>(data);
}

NS::Data* contents_of_file(const char* path) {
  std::ifstream file(path ? path : "", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return file.is_open() && !file.bad() ? autoreleased_data(std::move(bytes)) : nullptr;
}

}  // namespace

NS::UInteger DataObject::contentHash() const {
  return std::hash<std::string>()(bytes);
}

bool DataObject::contentEquals(const NS::Object& other) const {
  const auto* data = dynamic_cast<const NS::Data*>(&other);
  return data && bytes == body(data)->bytes;
}

NS::String* DataObject::contentDescription() const {
  constexpr std::size_t shown = 24;
  std::string text = "{length = " + std::to_string(bytes.size()) + ", bytes = 0x";
  for (std::size_t i = 0; i < bytes.size() && i < shown; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(bytes[i]));
    text += hex;
  }
  return autoreleased_string(text + (bytes.size() > shown ? " ...}" : "}"));
}

// The bytes may be changed through mutableBytes(), so a copy is another object.
NS::Object* DataObject::contentCopy() const {
  auto* copy = new DataObject;
  copy->bytes = bytes;
  return copy;
}

NS::Data* autoreleased_data(std::string bytes) {
  auto* data = new DataObject;
  data->bytes = std::move(bytes);
  return data->autorelease();
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Data* Data::data(const void* bytes, UInteger length) {
  return autoreleased(alloc()->init(bytes, length));
}

Data* Data::data(const String* path) {
  return path ? contents_of_file(path->fileSystemRepresentation()) : nullptr;
}

Data* Data::data(const URL* url) {
  return url ? contents_of_file(url->fileSystemRepresentation()) : nullptr;
}

Data* Data::alloc() {
  return new DataObject;
}

Data* Data::init() {
  return this;
}

Data* Data::init(const void* bytes, UInteger length) {
  if (!bytes && length != 0) {
    report_misuse("-[NSData initWithBytes:length:]", "NULL bytes");
    return failed_init(this);
  }
  body(this)->bytes.assign(static_cast<const char*>(bytes), length);
  return this;
}

const void* Data::bytes() const {
  return mutableBytes();
}

void* Data::mutableBytes() const {
  const DataObject* self = body(this);
  return self ? const_cast<char*>(self->bytes.data()) : nullptr;
}

UInteger Data::length() const {
  const DataObject* self = body(this);
  return self ? self->bytes.size() : 0;
}

}  // namespace NS
