// Reflection: what a function takes. A binding is one argument of a pipeline, with its index, its kind and how it is
// accessed; the types say how the bytes of a buffer are laid out. Argument is the older form of a binding.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDataType.hpp"
#include "MTLDefines.hpp"
#include "MTLTensor.hpp"
#include "MTLTexture.hpp"

namespace MTL {

class ArrayType;
class PointerType;
class StructType;
class TensorReferenceType;
class TextureReferenceType;

_MTL_ENUM(NS::UInteger, IndexType){
    IndexTypeUInt16 = 0,
    IndexTypeUInt32 = 1,
};

_MTL_ENUM(NS::Integer, BindingType){
    BindingTypeBuffer = 0,
    BindingTypeThreadgroupMemory = 1,
    BindingTypeTexture = 2,
    BindingTypeSampler = 3,
    BindingTypeImageblockData = 16,
    BindingTypeImageblock = 17,
    BindingTypeVisibleFunctionTable = 24,
    BindingTypePrimitiveAccelerationStructure = 25,
    BindingTypeInstanceAccelerationStructure = 26,
    BindingTypeIntersectionFunctionTable = 27,
    BindingTypeObjectPayload = 34,
    BindingTypeTensor = 37,
};

_MTL_ENUM(NS::UInteger, ArgumentType){
    ArgumentTypeBuffer = 0,
    ArgumentTypeThreadgroupMemory = 1,
    ArgumentTypeTexture = 2,
    ArgumentTypeSampler = 3,
    ArgumentTypeImageblockData = 16,
    ArgumentTypeImageblock = 17,
    ArgumentTypeVisibleFunctionTable = 24,
    ArgumentTypePrimitiveAccelerationStructure = 25,
    ArgumentTypeInstanceAccelerationStructure = 26,
    ArgumentTypeIntersectionFunctionTable = 27,
};

_MTL_ENUM(NS::UInteger, BindingAccess){
    BindingAccessReadOnly = 0,  BindingAccessReadWrite = 1,  BindingAccessWriteOnly = 2,
    ArgumentAccessReadOnly = 0, ArgumentAccessReadWrite = 1, ArgumentAccessWriteOnly = 2,
};

class _MTL_EXPORT Type : public NS::Referencing<Type> {
 public:
  static Type* alloc();
  Type* init();

  DataType dataType() const;
};

class _MTL_EXPORT StructMember : public NS::Referencing<StructMember> {
 public:
  static StructMember* alloc();
  StructMember* init();

  NS::String* name() const;
  NS::UInteger argumentIndex() const;
  DataType dataType() const;
  NS::UInteger offset() const;

  ArrayType* arrayType();
  PointerType* pointerType();
  StructType* structType();
  TensorReferenceType* tensorReferenceType();
  TextureReferenceType* textureReferenceType();
};

class _MTL_EXPORT StructType : public NS::Referencing<StructType, Type> {
 public:
  static StructType* alloc();
  StructType* init();

  NS::Array* members() const;
  StructMember* memberByName(const NS::String* name);
};

class _MTL_EXPORT ArrayType : public NS::Referencing<ArrayType, Type> {
 public:
  static ArrayType* alloc();
  ArrayType* init();

  NS::UInteger argumentIndexStride() const;
  NS::UInteger arrayLength() const;
  DataType elementType() const;
  NS::UInteger stride() const;

  ArrayType* elementArrayType();
  PointerType* elementPointerType();
  StructType* elementStructType();
  TensorReferenceType* elementTensorReferenceType();
  TextureReferenceType* elementTextureReferenceType();
};

class _MTL_EXPORT PointerType : public NS::Referencing<PointerType, Type> {
 public:
  static PointerType* alloc();
  PointerType* init();

  BindingAccess access() const;
  NS::UInteger alignment() const;
  NS::UInteger dataSize() const;
  bool elementIsArgumentBuffer() const;
  DataType elementType() const;

  ArrayType* elementArrayType();
  StructType* elementStructType();
};

class _MTL_EXPORT TextureReferenceType : public NS::Referencing<TextureReferenceType, Type> {
 public:
  static TextureReferenceType* alloc();
  TextureReferenceType* init();

  BindingAccess access() const;
  bool isDepthTexture() const;
  DataType textureDataType() const;
  TextureType textureType() const;
};

class _MTL_EXPORT TensorReferenceType : public NS::Referencing<TensorReferenceType, Type> {
 public:
  static TensorReferenceType* alloc();
  TensorReferenceType* init();

  BindingAccess access() const;
  TensorExtents* dimensions() const;
  DataType indexType() const;
  TensorDataType tensorDataType() const;
};

class _MTL_EXPORT Argument : public NS::Referencing<Argument> {
 public:
  static Argument* alloc();
  Argument* init();

  NS::String* name() const;

  BindingAccess access() const;
  NS::UInteger arrayLength() const;
  NS::UInteger bufferAlignment() const;
  NS::UInteger bufferDataSize() const;
  DataType bufferDataType() const;
  PointerType* bufferPointerType() const;
  StructType* bufferStructType() const;
  NS::UInteger index() const;
  bool isActive() const;
  bool isDepthTexture() const;
  DataType textureDataType() const;
  TextureType textureType() const;
  NS::UInteger threadgroupMemoryAlignment() const;
  NS::UInteger threadgroupMemoryDataSize() const;
  ArgumentType type() const;

  [[deprecated("use isActive()")]] bool active() const { return isActive(); }
};

class _MTL_EXPORT Binding : public NS::Referencing<Binding> {
 public:
  NS::String* name() const;
  BindingAccess access() const;
  NS::UInteger index() const;
  bool isArgument() const;
  bool isUsed() const;
  BindingType type() const;

  [[deprecated("use isArgument()")]] bool argument() const { return isArgument(); }
  [[deprecated("use isUsed()")]] bool used() const { return isUsed(); }
};

class _MTL_EXPORT BufferBinding : public NS::Referencing<BufferBinding, Binding> {
 public:
  NS::UInteger bufferAlignment() const;
  NS::UInteger bufferDataSize() const;
  DataType bufferDataType() const;
  PointerType* bufferPointerType() const;
  StructType* bufferStructType() const;
};

class _MTL_EXPORT ThreadgroupBinding : public NS::Referencing<ThreadgroupBinding, Binding> {
 public:
  NS::UInteger threadgroupMemoryAlignment() const;
  NS::UInteger threadgroupMemoryDataSize() const;
};

class _MTL_EXPORT TextureBinding : public NS::Referencing<TextureBinding, Binding> {
 public:
  NS::UInteger arrayLength() const;
  bool isDepthTexture() const;
  DataType textureDataType() const;
  TextureType textureType() const;

  [[deprecated("use isDepthTexture()")]] bool depthTexture() const { return isDepthTexture(); }
};

class _MTL_EXPORT ObjectPayloadBinding : public NS::Referencing<ObjectPayloadBinding, Binding> {
 public:
  NS::UInteger objectPayloadAlignment() const;
  NS::UInteger objectPayloadDataSize() const;
};

class _MTL_EXPORT TensorBinding : public NS::Referencing<TensorBinding, Binding> {
 public:
  TensorExtents* dimensions() const;
  DataType indexType() const;
  TensorDataType tensorDataType() const;
};

}  // namespace MTL
