// The types of arguments: structs with their members, arrays, pointers, textures. A tree of objects is built whole, so
// that whoever holds its root may hold pointers into it.
#include <algorithm>
#include <utility>

#include "foundation/array.hpp"
#include "foundation/string.hpp"
#include "metal/reflection.hpp"

namespace metalloid::metal {
namespace {

// Every object that is a type has this part. A type that a program made itself describes nothing.
struct TypePart {
  TypePart() = default;
  TypePart(DataType data_type, const Type* type, LibraryReference library)
      : data_type(data_type), type(type), library(std::move(library)) {}
  virtual ~TypePart() = default;

  const DataType data_type = DataType::none;
  const Type* const type = nullptr;
  const LibraryReference library;
};

class TypeObject final : public MTL::Type, public TypePart {
 public:
  using TypePart::TypePart;
  const char* className() const override { return "MTLType"; }
};

class StructMemberObject final : public MTL::StructMember {
 public:
  StructMemberObject() = default;
  StructMemberObject(const metalloid::StructMember& member, const LibraryReference& library)
      : member(&member),
        member_name(NS::TransferPtr(foundation::new_string(member.name))),
        type(NS::TransferPtr(new_type(member.type, library))) {}

  const metalloid::StructMember* const member = nullptr;
  const NS::SharedPtr<NS::String> member_name;
  const NS::SharedPtr<MTL::Type> type;

  const char* className() const override { return "MTLStructMember"; }
};

class StructTypeObject final : public MTL::StructType, public TypePart {
 public:
  StructTypeObject() = default;
  StructTypeObject(const metalloid::Type& type, const LibraryReference& library)
      : TypePart(DataType::structure, &type, library) {
    for (const metalloid::StructMember& member : type.members)
      member_objects.push_back(NS::TransferPtr(new StructMemberObject(member, library)));
  }

  std::vector<NS::SharedPtr<StructMemberObject>> member_objects;

  const char* className() const override { return "MTLStructType"; }
};

class ArrayTypeObject final : public MTL::ArrayType, public TypePart {
 public:
  ArrayTypeObject() = default;
  ArrayTypeObject(const metalloid::Type& type, const LibraryReference& library)
      : TypePart(DataType::array, &type, library), element(NS::TransferPtr(new_type(type.element.at(0), library))) {}

  const NS::SharedPtr<MTL::Type> element;

  const metalloid::Type* element_description() const { return type ? &type->element.at(0) : nullptr; }
  const char* className() const override { return "MTLArrayType"; }
};

class PointerTypeObject final : public MTL::PointerType, public TypePart {
 public:
  PointerTypeObject() = default;
  PointerTypeObject(const metalloid::Type& element, metalloid::Access access, const LibraryReference& library)
      : TypePart(DataType::pointer, &element, library),
        pointer_access(access),
        element(NS::TransferPtr(new_type(element, library))) {}

  const metalloid::Access pointer_access = metalloid::Access::read;
  const NS::SharedPtr<MTL::Type> element;

  const char* className() const override { return "MTLPointerType"; }
};

class TextureReferenceTypeObject final : public MTL::TextureReferenceType, public TypePart {
 public:
  using TypePart::TypePart;
  const char* className() const override { return "MTLTextureReferenceType"; }
};

class TensorReferenceTypeObject final : public MTL::TensorReferenceType, public TypePart {
 public:
  const char* className() const override { return "MTLTensorReferenceType"; }
};

const StructMemberObject* body(const MTL::StructMember* member) {
  return static_cast<const StructMemberObject*>(member);
}
const StructTypeObject* body(const MTL::StructType* type) {
  return static_cast<const StructTypeObject*>(type);
}
const ArrayTypeObject* body(const MTL::ArrayType* type) {
  return static_cast<const ArrayTypeObject*>(type);
}
const PointerTypeObject* body(const MTL::PointerType* type) {
  return static_cast<const PointerTypeObject*>(type);
}

const Type* reflected(const MTL::Type* type) {
  const auto* part = dynamic_cast<const TypePart*>(type);
  return part ? part->type : nullptr;
}

MTL::DataType metal_type(const Type* type) {
  return type ? static_cast<MTL::DataType>(type->data_type) : MTL::DataTypeNone;
}

// The child of a type, if it is of that class.
template <class Class, class Parent>
Class* child(const Parent* parent, NS::SharedPtr<MTL::Type> const Parent::* member) {
  return parent ? dynamic_cast<Class*>((parent->*member).get()) : nullptr;
}

}  // namespace

MTL::Type* new_type(const Type& type, LibraryReference library) {
  switch (type.data_type) {
    case DataType::structure:
      return new StructTypeObject(type, library);
    case DataType::array:
      return type.element.empty() ? nullptr : new ArrayTypeObject(type, library);
    case DataType::pointer:
      return type.element.empty() ? nullptr : new PointerTypeObject(type.element[0], type.access, library);
    case DataType::texture:
      return new TextureReferenceTypeObject(type.data_type, &type, std::move(library));
    default:
      return new TypeObject(type.data_type, &type, std::move(library));
  }
}

MTL::PointerType* new_pointer_type(const Type& element, Access access, LibraryReference library) {
  return new PointerTypeObject(element, access, library);
}

bool is_argument_buffer(const Type& type) {
  switch (type.data_type) {
    case DataType::structure:
      return std::ranges::any_of(type.members, is_argument_buffer, &metalloid::StructMember::type);
    case DataType::array:
      return std::ranges::any_of(type.element, is_argument_buffer);
    case DataType::texture:
    case DataType::sampler:
    case DataType::pointer:
    case DataType::compute_pipeline:
    case DataType::indirect_command_buffer:
    case DataType::visible_function_table:
      return true;
    default:
      return false;
  }
}

NS::UInteger argument_indices(const Type& type) {
  if (type.data_type == DataType::array && !type.element.empty())
    return type.array_length * argument_indices(type.element[0]);
  if (type.data_type != DataType::structure) return 1;
  NS::UInteger count = 0;
  for (const metalloid::StructMember& member : type.members) count += argument_indices(member.type);
  return count;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::foundation;
using namespace metalloid::metal;

#define MAKE(Class)             \
  Class* Class::alloc() {       \
    return new Class##Object(); \
  }                             \
  Class* Class::init() {        \
    return this;                \
  }

MAKE(Type)
MAKE(StructMember)
MAKE(StructType)
MAKE(ArrayType)
MAKE(PointerType)
MAKE(TextureReferenceType)
MAKE(TensorReferenceType)

DataType Type::dataType() const {
  const auto* part = dynamic_cast<const TypePart*>(this);
  return part ? static_cast<DataType>(part->data_type) : DataTypeNone;
}

NS::String* StructMember::name() const {
  const StructMemberObject* self = body(this);
  return self ? self->member_name.get() : nullptr;
}

NS::UInteger StructMember::offset() const {
  const StructMemberObject* self = body(this);
  return self && self->member ? self->member->offset : 0;
}

NS::UInteger StructMember::argumentIndex() const {
  const StructMemberObject* self = body(this);
  return self && self->member ? self->member->argument_index : 0;
}

DataType StructMember::dataType() const {
  const StructMemberObject* self = body(this);
  return self && self->member ? metal_type(&self->member->type) : DataTypeNone;
}

StructType* StructMember::structType() {
  return child<StructType>(body(this), &StructMemberObject::type);
}

ArrayType* StructMember::arrayType() {
  return child<ArrayType>(body(this), &StructMemberObject::type);
}

PointerType* StructMember::pointerType() {
  return child<PointerType>(body(this), &StructMemberObject::type);
}

TextureReferenceType* StructMember::textureReferenceType() {
  return child<TextureReferenceType>(body(this), &StructMemberObject::type);
}

TensorReferenceType* StructMember::tensorReferenceType() {
  return child<TensorReferenceType>(body(this), &StructMemberObject::type);
}

NS::Array* StructType::members() const {
  const StructTypeObject* self = body(this);
  if (!self) return nullptr;
  return autoreleased_array({self->member_objects.begin(), self->member_objects.end()});
}

StructMember* StructType::memberByName(const NS::String* name) {
  const StructTypeObject* self = body(this);
  if (!self || !name) return nullptr;
  for (const auto& member : self->member_objects)
    if (member->member_name->isEqualToString(name)) return member.get();
  return nullptr;
}

NS::UInteger ArrayType::arrayLength() const {
  const metalloid::Type* type = reflected(this);
  return type ? type->array_length : 0;
}

DataType ArrayType::elementType() const {
  const ArrayTypeObject* self = body(this);
  return self ? metal_type(self->element_description()) : DataTypeNone;
}

NS::UInteger ArrayType::stride() const {
  const ArrayTypeObject* self = body(this);
  const metalloid::Type* element = self ? self->element_description() : nullptr;
  return element ? element->size : 0;
}

NS::UInteger ArrayType::argumentIndexStride() const {
  const ArrayTypeObject* self = body(this);
  const metalloid::Type* element = self ? self->element_description() : nullptr;
  return element ? argument_indices(*element) : 0;
}

StructType* ArrayType::elementStructType() {
  return child<StructType>(body(this), &ArrayTypeObject::element);
}

ArrayType* ArrayType::elementArrayType() {
  return child<ArrayType>(body(this), &ArrayTypeObject::element);
}

PointerType* ArrayType::elementPointerType() {
  return child<PointerType>(body(this), &ArrayTypeObject::element);
}

TextureReferenceType* ArrayType::elementTextureReferenceType() {
  return child<TextureReferenceType>(body(this), &ArrayTypeObject::element);
}

TensorReferenceType* ArrayType::elementTensorReferenceType() {
  return child<TensorReferenceType>(body(this), &ArrayTypeObject::element);
}

BindingAccess PointerType::access() const {
  const PointerTypeObject* self = body(this);
  return self ? static_cast<BindingAccess>(self->pointer_access) : BindingAccessReadOnly;
}

DataType PointerType::elementType() const {
  return metal_type(reflected(this));
}

NS::UInteger PointerType::alignment() const {
  const metalloid::Type* element = reflected(this);
  return element ? element->alignment : 0;
}

NS::UInteger PointerType::dataSize() const {
  const metalloid::Type* element = reflected(this);
  return element ? element->size : 0;
}

bool PointerType::elementIsArgumentBuffer() const {
  const metalloid::Type* element = reflected(this);
  return element && element->data_type == metalloid::DataType::structure && is_argument_buffer(*element);
}

StructType* PointerType::elementStructType() {
  return child<StructType>(body(this), &PointerTypeObject::element);
}

ArrayType* PointerType::elementArrayType() {
  return child<ArrayType>(body(this), &PointerTypeObject::element);
}

TextureType TextureReferenceType::textureType() const {
  const metalloid::Type* type = reflected(this);
  return type ? static_cast<TextureType>(type->texture_type) : TextureType1D;
}

DataType TextureReferenceType::textureDataType() const {
  const metalloid::Type* type = reflected(this);
  return type ? static_cast<DataType>(type->texture_data_type) : DataTypeNone;
}

BindingAccess TextureReferenceType::access() const {
  const metalloid::Type* type = reflected(this);
  return type ? static_cast<BindingAccess>(type->access) : BindingAccessReadOnly;
}

bool TextureReferenceType::isDepthTexture() const {
  return false;
}

// No function has tensor arguments yet.
BindingAccess TensorReferenceType::access() const {
  return BindingAccessReadOnly;
}

TensorExtents* TensorReferenceType::dimensions() const {
  return nullptr;
}

DataType TensorReferenceType::indexType() const {
  return DataTypeNone;
}

TensorDataType TensorReferenceType::tensorDataType() const {
  return TensorDataTypeNone;
}

}  // namespace MTL
