#include "msl/reflect_type.hpp"

#include <map>

#include "msl/attributes.hpp"

namespace metalloid::msl {

namespace {

// The data type of a scalar; its vectors follow it in the enumeration.
DataType scalar_type(const clang::ASTContext& context, clang::QualType type) {
  const auto* builtin = type->getAs<clang::BuiltinType>();
  if (!builtin) return DataType::none;
  const uint64_t bits = context.getTypeSize(type);
  if (builtin->getKind() == clang::BuiltinType::Bool) return DataType::bool1;
  if (builtin->getKind() == clang::BuiltinType::BFloat16) return DataType::bfloat1;
  if (builtin->isFloatingPoint()) return bits == 32 ? DataType::float1 : bits == 16 ? DataType::half1 : DataType::none;
  const bool is_unsigned = builtin->isUnsignedInteger();
  switch (bits) {
    case 8:
      return is_unsigned ? DataType::uchar1 : DataType::char1;
    case 16:
      return is_unsigned ? DataType::ushort1 : DataType::short1;
    case 32:
      return is_unsigned ? DataType::uint1 : DataType::int1;
    case 64:
      return is_unsigned ? DataType::ulong1 : DataType::long1;
  }
  return DataType::none;
}

DataType vector_type(DataType scalar, uint64_t elements) {
  if (scalar == DataType::none || elements < 1 || elements > 4) return DataType::none;
  return static_cast<DataType>(static_cast<uint16_t>(scalar) + elements - 1);
}

DataType matrix_type(DataType scalar, uint64_t columns, uint64_t rows) {
  const DataType first = scalar == DataType::half1 ? DataType::half2x2 : DataType::float2x2;
  return static_cast<DataType>(static_cast<uint16_t>(first) + (columns - 2) * 3 + (rows - 2));
}

const std::map<llvm::StringRef, TextureType>& texture_types() {
  static const std::map<llvm::StringRef, TextureType> types = {
      {"texture1d", TextureType::texture_1d},
      {"texture1d_array", TextureType::texture_1d_array},
      {"texture2d", TextureType::texture_2d},
      {"texture2d_array", TextureType::texture_2d_array},
      {"texture2d_ms", TextureType::texture_2d_multisample},
      {"texture2d_ms_array", TextureType::texture_2d_multisample_array},
      {"texture3d", TextureType::texture_3d},
      {"texturecube", TextureType::texture_cube},
      {"texturecube_array", TextureType::texture_cube_array},
      {"texture_buffer", TextureType::texture_buffer},
      {"depth2d", TextureType::texture_2d},
      {"depth2d_array", TextureType::texture_2d_array},
      {"depth2d_ms", TextureType::texture_2d_multisample},
      {"depth2d_ms_array", TextureType::texture_2d_multisample_array},
      {"depthcube", TextureType::texture_cube},
      {"depthcube_array", TextureType::texture_cube_array},
  };
  return types;
}

// access::sample and access::read are reads; the enumerators are named by the standard library's header.
Access texture_access(const clang::TemplateArgument& argument) {
  if (argument.getKind() != clang::TemplateArgument::Integral) return Access::read;
  const auto* enumeration = argument.getIntegralType()->getAs<clang::EnumType>();
  if (!enumeration) return Access::read;
  for (const auto* enumerator : enumeration->getDecl()->enumerators()) {
    if (!llvm::APSInt::isSameValue(enumerator->getInitVal(), argument.getAsIntegral())) continue;
    if (enumerator->getName() == "write") return Access::write;
    if (enumerator->getName() == "read_write") return Access::read_write;
  }
  return Access::read;
}

class TypeReflector {
 public:
  explicit TypeReflector(clang::Sema& sema) : sema_(sema), context_(sema.Context) {}

  Type reflect(clang::QualType qualified) {
    const clang::QualType type = qualified.getCanonicalType().getUnqualifiedType();
    Type result;
    if (type->isVoidType() || type->isFunctionType() || !sema_.isCompleteType({}, type)) return result;
    result.size = context_.getTypeSizeInChars(type).getQuantity();
    result.alignment = context_.getTypeAlignInChars(type).getQuantity();
    if (const auto* array = context_.getAsConstantArrayType(type)) return reflect_array(result, array);
    if (type->isPointerType() || type->isReferenceType()) return reflect_pointer(result, type->getPointeeType());
    if (const auto* enumeration = type->getAs<clang::EnumType>()) {
      result.data_type = scalar_type(context_, enumeration->getDecl()->getIntegerType());
      result.name = enumeration->getDecl()->getName();
      return result;
    }
    if (stdlib_type(type).name.empty()) {
      if (const auto* record = type->getAsRecordDecl()) return reflect_struct(result, record);
      result.data_type = scalar_type(context_, type);
      return result;
    }
    return reflect_stdlib(result, type);
  }

 private:
  Type reflect_array(Type result, const clang::ConstantArrayType* array) {
    result.data_type = DataType::array;
    result.array_length = array->getSize().getZExtValue();
    result.element.push_back(reflect(array->getElementType()));
    return result;
  }

  Type reflect_pointer(Type result, clang::QualType pointee) {
    result.data_type = DataType::pointer;
    result.access = pointee.isConstQualified() ? Access::read : Access::read_write;
    result.element.push_back(reflect(pointee));
    return result;
  }

  Type reflect_struct(Type result, const clang::RecordDecl* record) {
    result.data_type = DataType::structure;
    result.name = record->getNameAsString();
    if (llvm::is_contained(open_, record)) return result;
    open_.push_back(record);
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
    if (const auto* with_bases = llvm::dyn_cast<clang::CXXRecordDecl>(record)) {
      for (const auto& base : with_bases->bases()) {
        const auto* base_record = base.getType()->getAsCXXRecordDecl();
        if (!base_record || base_record->isEmpty()) continue;
        const uint64_t offset = layout.getBaseClassOffset(base_record).getQuantity();
        for (StructMember& member : reflect(base.getType()).members) {
          member.offset += offset;
          result.members.push_back(std::move(member));
        }
      }
    }
    for (const auto* field : record->fields()) {
      StructMember member;
      member.name = field->getNameAsString();
      member.offset = context_.toCharUnitsFromBits(layout.getFieldOffset(field->getFieldIndex())).getQuantity();
      member.argument_index = find_number(field, "id")
                                  .value_or(result.members.empty() ? 0
                                                                   : result.members.back().argument_index +
                                                                         ids_of(result.members.back().type));
      member.type = reflect(field->getType());
      result.members.push_back(std::move(member));
    }
    open_.pop_back();
    return result;
  }

  // How many [[id]]s a member takes: arrays and nested structs one for each part.
  static uint32_t ids_of(const Type& type) {
    if (type.data_type == DataType::array) return static_cast<uint32_t>(type.array_length) * ids_of(type.element[0]);
    if (type.data_type != DataType::structure) return 1;
    uint32_t ids = 0;
    for (const StructMember& member : type.members) ids += ids_of(member.type);
    return ids;
  }

  Type reflect_stdlib(Type result, clang::QualType type) {
    const auto [name, arguments] = stdlib_type(type);
    const auto number = [&](unsigned index) { return arguments[index].getAsIntegral().getZExtValue(); };
    if (const auto texture = texture_types().find(name); texture != texture_types().end()) {
      result.data_type = DataType::texture;
      result.texture_type = texture->second;
      if (!arguments.empty()) result.texture_data_type = reflect(arguments[0].getAsType()).data_type;
      if (arguments.size() > 1) result.access = texture_access(arguments[1]);
      return result;
    }
    if (name == "__vec" || name == "__packed_vec") {
      const auto* elements = context_.getAsConstantArrayType(arguments[0].getAsType());
      result.data_type =
          vector_type(scalar_type(context_, elements->getElementType()), elements->getSize().getZExtValue());
      if (name == "__packed_vec") result.name = "packed_" + to_string(result.data_type);
    } else if (name == "matrix") {
      result.data_type = matrix_type(scalar_type(context_, arguments[0].getAsType()), number(1), number(2));
    } else if (name == "array" && arguments.size() == 2) {
      result.data_type = DataType::array;
      result.array_length = number(1);
      result.element.push_back(reflect(arguments[0].getAsType()));
    } else if (name == "sampler") {
      result.data_type = DataType::sampler;
    } else if (name == "visible_function_table") {
      result.data_type = DataType::visible_function_table;
    } else if (name == "command_buffer") {
      result.data_type = DataType::indirect_command_buffer;
    } else if (!arguments.empty() && arguments[0].getKind() == clang::TemplateArgument::Type &&
               (name == "atomic" || name == "_atomic" || name == "uniform")) {
      Type value = reflect(arguments[0].getAsType());
      value.name = name.str() + "<" + to_string(value.data_type) + ">";
      return value;
    } else if (const auto* record = type->getAsRecordDecl()) {
      return reflect_struct(result, record);
    }
    return result;
  }

  clang::Sema& sema_;
  const clang::ASTContext& context_;
  std::vector<const clang::RecordDecl*> open_;
};

}  // namespace

Type reflect_type(clang::Sema& sema, clang::QualType type) {
  return TypeReflector(sema).reflect(type);
}

StdlibType stdlib_type(clang::QualType type) {
  const auto* record = type.getCanonicalType()->getAsCXXRecordDecl();
  if (!record || !record->getIdentifier()) return {};
  const auto* scope = record->getDeclContext()->getRedeclContext();
  while (scope && scope->isInlineNamespace()) scope = scope->getParent();
  const auto* space = llvm::dyn_cast_or_null<clang::NamespaceDecl>(scope);
  if (!space || space->getName() != "metal" || !space->getParent()->isTranslationUnit()) return {};
  StdlibType result{record->getName(), {}};
  if (const auto* specialization = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record))
    result.arguments = specialization->getTemplateArgs().asArray();
  return result;
}

Resource resource_of(clang::QualType type) {
  const llvm::StringRef name = stdlib_type(type).name;
  if (name.empty()) return Resource::none;
  if (texture_types().contains(name)) return Resource::texture;
  if (name == "sampler") return Resource::sampler;
  if (name == "visible_function_table") return Resource::visible_function_table;
  return Resource::none;
}

}  // namespace metalloid::msl
