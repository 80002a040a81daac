// Reflection as objects: what a library says about a function's arguments (metalloid/reflection.hpp), for programs that
// ask. Types and arguments are views on the library's own data and keep the library alive.
#pragma once

#include <Metal/MTLArgument.hpp>
#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLLibrary.hpp>
#include <memory>
#include <metalloid/library.hpp>

#include "device/pipeline.hpp"

namespace metalloid::metal {

class FunctionObject;

using LibraryReference = std::shared_ptr<const metalloid::Library>;

// Of all arguments, those that function constants may switch off included.
MTL::FunctionReflection* new_function_reflection(const metalloid::Function& function, LibraryReference library);

// Of the arguments that the function has with the values of its constants; the pipeline knows which of them it uses.
MTL::ComputePipelineReflection* new_pipeline_reflection(const FunctionObject& function,
                                                        const device::Pipeline& pipeline);

MTL::Argument* new_argument(const Parameter& parameter, LibraryReference library, bool used = true);
MTL::Type* new_type(const Type& type, LibraryReference library);
MTL::PointerType* new_pointer_type(const Type& element, Access access, LibraryReference library);

// What a binding or an argument is about; null for null.
const Parameter* parameter_of(const NS::Object* binding);

// Whether a struct holds pointers, textures or the like, which programs fill in through an argument encoder.
bool is_argument_buffer(const Type& type);

// How many argument buffer indices a value of this type takes.
NS::UInteger argument_indices(const Type& type);

}  // namespace metalloid::metal
