#include "metal/function.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/array.hpp"
#include "foundation/string.hpp"
#include "metal/background.hpp"
#include "metal/errors.hpp"
#include "metal/function_constant_values.hpp"
#include "metal/function_descriptor.hpp"
#include "metal/reflection.hpp"

namespace metalloid::metal {

using foundation::text_of;

namespace {

class FunctionConstantObject final : public MTL::FunctionConstant {
 public:
  metalloid::FunctionConstant constant;
  NS::SharedPtr<NS::String> constant_name;

  const char* className() const override { return "MTLFunctionConstant"; }
};

const FunctionConstantObject* body(const MTL::FunctionConstant* constant) {
  return static_cast<const FunctionConstantObject*>(constant);
}

FunctionConstantObject* new_constant(const metalloid::FunctionConstant& constant) {
  auto* object = new FunctionConstantObject;
  object->constant = constant;
  object->constant_name = NS::TransferPtr(foundation::new_string(constant.name));
  return object;
}

FunctionProperties named(const NS::String* name, const MTL::FunctionConstantValues* values) {
  FunctionProperties properties;
  Field<Copied<NS::String>>::set(properties.name, name);
  Field<Copied<MTL::FunctionConstantValues>>::set(properties.constantValues, values);
  return properties;
}

void new_function_in_background(const LibraryObject* library, FunctionProperties properties,
                                const MTL::FunctionCompletionHandlerFunction& handler) {
  if (!library || !handler) return;
  in_background([library = foundation::retained(library), properties = std::move(properties), handler] {
    NS::Error* error = nullptr;
    const auto function = NS::TransferPtr(new_function(*library.get(), properties, &error));
    handler(function.get(), error);
  });
}

void report_no_intersection(NS::Error** error) {
  report(error, library_error(MTL::LibraryErrorUnsupported,
                              "intersection functions belong to ray tracing, which is not supported "
                              "(Device::supportsRaytracing() is false)"));
}

}  // namespace

FunctionObject::FunctionObject(const LibraryObject& library, const metalloid::Function& reflection,
                               MTL::FunctionOptions options)
    : device(library.device),
      function{library.library, reflection.name, {}},
      reflection(&reflection),
      limits(library.limits),
      function_options(options),
      function_name(NS::TransferPtr(foundation::new_string(reflection.name))) {}

const Result<std::vector<FunctionConstant>>& FunctionObject::constants() const {
  std::call_once(asked_for_constants_, [this] { constants_ = used_constants(*function.library, *reflection); });
  return *constants_;
}

bool FunctionObject::has(const Parameter& parameter) const {
  const auto slots = device::argument_slots(*reflection, function.constants);
  const auto position = static_cast<uint32_t>(&parameter - reflection->parameters.data());
  return std::ranges::find(slots, position, &device::Slot::parameter) != slots.end();
}

FunctionObject* new_function(const LibraryObject& library, const FunctionProperties& properties, NS::Error** error) {
  const std::string_view name = text_of(properties.name.get());
  const metalloid::Function* reflection = library.library->find(name);
  if (!reflection) {
    report(error, library_error(MTL::LibraryErrorFunctionNotFound,
                                properties.name ? fmt::format("the library has no function named '{}'", name)
                                                : "the name of the function is nil"));
    return nullptr;
  }
  auto function = NS::TransferPtr(new FunctionObject(library, *reflection, properties.options));
  if (const ConstantValues* values = metal::properties(properties.constantValues.get())) {
    const auto& constants = function->constants();
    auto chosen = constants ? values_for(*constants, *values, reflection->name) : Error{constants.error()};
    if (!chosen) {
      report(error, library_error(MTL::LibraryErrorCompileFailure, chosen.error()));
      return nullptr;
    }
    function->function.constants = *std::move(chosen);
  }
  if (properties.specializedName) function->function_name = properties.specializedName.object;
  report(error, nullptr);
  FunctionObject* result = function.get();
  function.detach();  // the caller's now
  return result;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::foundation;
using namespace metalloid::metal;

Function* Library::newFunction(const NS::String* name) {
  const LibraryObject* self = body(this);
  return self ? new_function(*self, named(name, nullptr), nullptr) : nullptr;
}

Function* Library::newFunction(const NS::String* name, const FunctionConstantValues* values, NS::Error** error) {
  const LibraryObject* self = body(this);
  return self ? new_function(*self, named(name, values), error) : nullptr;
}

void Library::newFunction(const NS::String* name, const FunctionConstantValues* values,
                          const FunctionCompletionHandlerFunction& handler) {
  new_function_in_background(body(this), named(name, values), handler);
}

Function* Library::newFunction(const FunctionDescriptor* descriptor, NS::Error** error) {
  const LibraryObject* self = body(this);
  const FunctionProperties* wanted = properties(descriptor);
  return self ? new_function(*self, wanted ? *wanted : FunctionProperties(), error) : nullptr;
}

void Library::newFunction(const FunctionDescriptor* descriptor, const FunctionCompletionHandlerFunction& handler) {
  const FunctionProperties* wanted = properties(descriptor);
  new_function_in_background(body(this), wanted ? *wanted : FunctionProperties(), handler);
}

Function* Library::newIntersectionFunction(const IntersectionFunctionDescriptor*, NS::Error** error) {
  if (body(this)) report_no_intersection(error);
  return nullptr;
}

void Library::newIntersectionFunction(const IntersectionFunctionDescriptor*,
                                      const FunctionCompletionHandlerFunction& handler) {
  if (!body(this) || !handler) return;
  in_background([handler] {
    NS::Error* error = nullptr;
    report_no_intersection(&error);
    handler(nullptr, error);
  });
}

FunctionReflection* Library::reflectionForFunction(const NS::String* name) {
  const LibraryObject* self = body(this);
  const metalloid::Function* function = self ? self->library->find(text_of(name)) : nullptr;
  return function ? autoreleased(new_function_reflection(*function, self->library)) : nullptr;
}

Device* Function::device() const {
  const FunctionObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* Function::label() const {
  const FunctionObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void Function::setLabel(const NS::String* label) {
  if (FunctionObject* self = body(this)) self->label = NS::TransferPtr(label->copy());
}

NS::String* Function::name() const {
  const FunctionObject* self = body(this);
  return self ? self->function_name.get() : nullptr;
}

FunctionType Function::functionType() const {
  const FunctionObject* self = body(this);
  if (!self) return FunctionType{};
  return self->reflection->kind == metalloid::FunctionKind::visible ? FunctionTypeVisible : FunctionTypeKernel;
}

FunctionOptions Function::options() const {
  const FunctionObject* self = body(this);
  return self ? self->function_options : FunctionOptions{FunctionOptionNone};
}

NS::Dictionary* Function::functionConstantsDictionary() const {
  const FunctionObject* self = body(this);
  if (!self) return nullptr;
  std::vector<NS::SharedPtr<FunctionConstantObject>> constants;
  if (const auto& used = self->constants())
    for (const metalloid::FunctionConstant& constant : *used)
      constants.push_back(NS::TransferPtr(new_constant(constant)));
  std::vector<const NS::Object*> names, objects;
  for (const auto& constant : constants) {
    names.push_back(constant->constant_name.get());
    objects.push_back(constant.get());
  }
  return NS::Dictionary::dictionary(objects.data(), names.data(), objects.size());
}

// Attributes and patches are what vertex functions have.
NS::Array* Function::vertexAttributes() const {
  return nullptr;
}

NS::Array* Function::stageInputAttributes() const {
  return nullptr;
}

PatchType Function::patchType() const {
  return PatchTypeNone;
}

NS::Integer Function::patchControlPointCount() const {
  return body(this) ? -1 : 0;
}

FunctionConstant* FunctionConstant::alloc() {
  return new FunctionConstantObject;
}

FunctionConstant* FunctionConstant::init() {
  return this;
}

NS::String* FunctionConstant::name() const {
  const FunctionConstantObject* self = body(this);
  return self ? self->constant_name.get() : nullptr;
}

NS::UInteger FunctionConstant::index() const {
  const FunctionConstantObject* self = body(this);
  return self ? self->constant.index : 0;
}

DataType FunctionConstant::type() const {
  const FunctionConstantObject* self = body(this);
  return self ? static_cast<DataType>(self->constant.data_type) : DataTypeNone;
}

bool FunctionConstant::required() const {
  const FunctionConstantObject* self = body(this);
  return self && self->constant.required;
}

}  // namespace MTL
