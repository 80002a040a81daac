#include "metal/compute_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "foundation/string.hpp"
#include "metal/background.hpp"
#include "metal/binary_archive.hpp"
#include "metal/errors.hpp"
#include "metal/function_constant_values.hpp"
#include "metal/reflection.hpp"

namespace metalloid::metal {

using Recipe = ComputePipelineStateObject::Recipe;

namespace {

std::string name_of(const FunctionObject& function) {
  return std::string(foundation::text_of(function.function_name.get()));
}

// A function whose constants are all known, of the device in question.
Status check_function(const FunctionObject& function, const DeviceObject& device) {
  if (function.device != &device)
    return Error{fmt::format("function '{}' belongs to another device", name_of(function))};
  const auto& constants = function.constants();
  if (!constants) return Error{constants.error()};
  return check_complete(*constants, function.function.constants, name_of(function));
}

Status link(Recipe& recipe, const std::vector<NS::SharedPtr<FunctionObject>>& functions, const DeviceObject& device) {
  for (const auto& function : functions) {
    if (function->reflection->kind != FunctionKind::visible)
      return Error{
          fmt::format("function '{}' cannot be linked to a pipeline: it is a kernel, not a [[visible]] function",
                      name_of(*function.get()))};
    if (Status status = check_function(*function.get(), device); !status) return status;
    const auto same_name = [&](const auto& other) { return other->function.name == function->function.name; };
    if (const auto other = std::ranges::find_if(recipe.linked, same_name); other != recipe.linked.end()) {
      if ((*other)->function.library == function->function.library &&
          (*other)->function.constants == function->function.constants)
        continue;
      return Error{
          fmt::format("two functions named '{}' are linked to the pipeline, from different libraries or with "
                      "different constants; give each a name of its own in the source",
                      function->function.name)};
    }
    recipe.linked.push_back(function);
    recipe.request.linked.push_back(function->function);
  }
  return success();
}

// The smallest of the limits that the kernel's source, its library's options and the descriptor set.
Result<std::optional<uint32_t>> thread_limit(const Recipe& recipe, const DeviceObject& device) {
  const NS::UInteger most = device.info().max_threads_per_threadgroup;
  const MTL::Size& required = recipe.required_threads;
  const NS::UInteger required_count = required.width * required.height * required.depth;
  const NS::UInteger limits[] = {recipe.properties.maxTotalThreadsPerThreadgroup,
                                 recipe.function->limits.max_total_threads,
                                 recipe.function->reflection->max_total_threads_per_threadgroup.value_or(0)};
  NS::UInteger limit = 0;
  for (NS::UInteger candidate : limits) {
    if (candidate > most)
      return Error{fmt::format("at most {} threads per threadgroup are asked for, but the device's limit is {}",
                               candidate, most)};
    if (candidate != 0 && (limit == 0 || candidate < limit)) limit = candidate;
  }
  if (required_count > (limit == 0 ? most : limit))
    return Error{fmt::format("{}x{}x{} threads per threadgroup are required, which is more than the limit of {}",
                             required.width, required.height, required.depth, limit == 0 ? most : limit)};
  return limit == 0 ? std::nullopt : std::optional(static_cast<uint32_t>(limit));
}

bool validates(MTL::ShaderValidation wish) {
  return wish == MTL::ShaderValidationEnabled || (wish == MTL::ShaderValidationDefault && shader_validation_enabled());
}

ComputePipelineStateObject* new_pipeline(Recipe recipe, NS::Error** error) {
  DeviceObject& device = *recipe.function->device;
  auto pipeline = compile_pipeline(device, recipe.request);
  if (!pipeline) {
    report(error, pipeline_error(pipeline.error()));
    return nullptr;
  }
  report(error, nullptr);
  return new ComputePipelineStateObject(std::move(recipe), *std::move(pipeline));
}

ComputePipelineStateObject* new_pipeline(DeviceObject* device, const ComputePipelineProperties& properties,
                                         MTL::PipelineOption options, MTL::ComputePipelineReflection** reflection,
                                         NS::Error** error) {
  if (reflection) *reflection = nullptr;
  if (!device) return nullptr;
  auto recipe = pipeline_recipe(*device, properties, options);
  if (!recipe) {
    report(error, pipeline_error(recipe.error()));
    return nullptr;
  }
  ComputePipelineStateObject* state = new_pipeline(*std::move(recipe), error);
  constexpr MTL::PipelineOption wants_reflection = MTL::PipelineOptionBindingInfo | MTL::PipelineOptionBufferTypeInfo;
  if (state && reflection && (options & wants_reflection))
    *reflection = foundation::autoreleased(state->reflection_object()->retain());
  return state;
}

using Handler = MTL::NewComputePipelineStateWithReflectionCompletionHandlerFunction;

void new_pipeline_in_background(DeviceObject* device, ComputePipelineProperties properties, MTL::PipelineOption options,
                                const Handler& handler) {
  if (!device || !handler) return;
  in_background([device, properties = std::move(properties), options, handler] {
    NS::Error* error = nullptr;
    MTL::ComputePipelineReflection* reflection = nullptr;
    const auto state = NS::TransferPtr(new_pipeline(device, properties, options, &reflection, &error));
    handler(state.get(), reflection, error);
  });
}

ComputePipelineProperties of_function(const MTL::Function* function) {
  ComputePipelineProperties properties;
  properties.computeFunction = foundation::retained(function);
  return properties;
}

// A copy of what the descriptor says now: the program may change it while the pipeline is made.
ComputePipelineProperties of_descriptor(const MTL::ComputePipelineDescriptor* descriptor) {
  const ComputePipelineProperties* given = properties(descriptor);
  return given ? *given : ComputePipelineProperties();
}

}  // namespace

Result<Recipe> pipeline_recipe(DeviceObject& device, const ComputePipelineProperties& properties,
                               MTL::PipelineOption options) {
  auto function = NS::RetainPtr(body(properties.computeFunction.get()));
  if (!function) return Error{"a compute pipeline needs a function, but it is nil; does the library have it?"};
  if (function->reflection->kind != FunctionKind::kernel)
    return Error{
        fmt::format("function '{}' is a [[visible]] function, not a kernel; link it to the pipeline of a kernel "
                    "that calls it",
                    name_of(*function.get()))};
  if (Status status = check_function(*function.get(), device); !status) return Error{status.error()};

  Recipe recipe{function, {}, properties, properties.requiredThreadsPerThreadgroup, {}};
  if (recipe.required_threads.width == 0) recipe.required_threads = function->limits.required_threads;
  const auto linked = functions_of(*metal::properties(properties.linkedFunctions.get()));
  if (Status status = link(recipe, linked, device); !status) return Error{status.error()};
  const auto limit = thread_limit(recipe, device);
  if (!limit) return Error{limit.error()};

  recipe.request.kernel = function->function;
  recipe.request.max_threads_per_threadgroup = *limit;
  recipe.request.validate = validates(properties.shaderValidation);
  recipe.request.archives = archives_to_search(properties.binaryArchives.get());
  recipe.request.only_from_archives = (options & MTL::PipelineOptionFailOnBinaryArchiveMiss) != 0;
  return recipe;
}

Result<std::shared_ptr<device::Pipeline>> compile_pipeline(DeviceObject& device,
                                                           const device::PipelineRequest& request) {
  auto pipeline = device.device->compile(request);
  if (!pipeline) return pipeline;
  const uint32_t memory = (*pipeline)->static_threadgroup_memory, most = device.info().max_threadgroup_memory;
  if (memory > most)
    return Error{
        fmt::format("kernel '{}': its threadgroup memory ({} bytes) exceeds the maximum threadgroup memory "
                    "allowed ({} bytes)",
                    request.kernel.name, memory, most)};
  return pipeline;
}

ComputePipelineStateObject::ComputePipelineStateObject(Recipe recipe, std::shared_ptr<device::Pipeline> pipeline)
    : device(recipe.function->device),
      recipe(std::move(recipe)),
      pipeline(std::move(pipeline)),
      supports_indirect_command_buffers(this->recipe.properties.supportIndirectCommandBuffers),
      required_threads(this->recipe.required_threads),
      label(this->recipe.properties.label.object) {}

MTL::ComputePipelineReflection* ComputePipelineStateObject::reflection_object() const {
  std::call_once(asked_for_reflection_,
                 [this] { reflection_ = NS::TransferPtr(new_pipeline_reflection(*recipe.function.get(), *pipeline)); });
  return reflection_.get();
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ComputePipelineState* Device::newComputePipelineState(const Function* function, NS::Error** error) {
  return new_pipeline(body(this), of_function(function), PipelineOptionNone, nullptr, error);
}

ComputePipelineState* Device::newComputePipelineState(const Function* function, PipelineOption options,
                                                      const AutoreleasedComputePipelineReflection* reflection,
                                                      NS::Error** error) {
  return new_pipeline(body(this), of_function(function), options,
                      const_cast<AutoreleasedComputePipelineReflection*>(reflection), error);
}

ComputePipelineState* Device::newComputePipelineState(const ComputePipelineDescriptor* descriptor,
                                                      PipelineOption options,
                                                      const AutoreleasedComputePipelineReflection* reflection,
                                                      NS::Error** error) {
  return new_pipeline(body(this), of_descriptor(descriptor), options,
                      const_cast<AutoreleasedComputePipelineReflection*>(reflection), error);
}

void Device::newComputePipelineState(const Function* function,
                                     const NewComputePipelineStateCompletionHandlerFunction& handler) {
  if (!handler) return;
  new_pipeline_in_background(
      body(this), of_function(function), PipelineOptionNone,
      [handler](ComputePipelineState* state, ComputePipelineReflection*, NS::Error* error) { handler(state, error); });
}

void Device::newComputePipelineState(const Function* function, PipelineOption options,
                                     const NewComputePipelineStateWithReflectionCompletionHandlerFunction& handler) {
  new_pipeline_in_background(body(this), of_function(function), options, handler);
}

void Device::newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                                     const NewComputePipelineStateWithReflectionCompletionHandlerFunction& handler) {
  new_pipeline_in_background(body(this), of_descriptor(descriptor), options, handler);
}

Device* ComputePipelineState::device() const {
  const ComputePipelineStateObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* ComputePipelineState::label() const {
  const ComputePipelineStateObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

ResourceID ComputePipelineState::gpuResourceID() const {
  const ComputePipelineStateObject* self = body(this);
  return {self ? reinterpret_cast<uint64_t>(self->pipeline.get()) : 0};
}

NS::UInteger ComputePipelineState::maxTotalThreadsPerThreadgroup() const {
  const ComputePipelineStateObject* self = body(this);
  return self ? self->pipeline->max_threads_per_threadgroup : 0;
}

NS::UInteger ComputePipelineState::threadExecutionWidth() const {
  return body(this) ? metalloid::device::threads_per_simdgroup : 0;
}

NS::UInteger ComputePipelineState::staticThreadgroupMemoryLength() const {
  const ComputePipelineStateObject* self = body(this);
  return self ? self->pipeline->static_threadgroup_memory : 0;
}

Size ComputePipelineState::requiredThreadsPerThreadgroup() const {
  const ComputePipelineStateObject* self = body(this);
  return self ? self->required_threads : Size(0, 0, 0);
}

bool ComputePipelineState::supportIndirectCommandBuffers() const {
  const ComputePipelineStateObject* self = body(this);
  return self && self->supports_indirect_command_buffers;
}

ShaderValidation ComputePipelineState::shaderValidation() const {
  const ComputePipelineStateObject* self = body(this);
  if (!self) return ShaderValidationDefault;
  return self->recipe.request.validate ? ShaderValidationEnabled : ShaderValidationDisabled;
}

ComputePipelineReflection* ComputePipelineState::reflection() const {
  const ComputePipelineStateObject* self = body(this);
  return self ? self->reflection_object() : nullptr;
}

// Kernels have no imageblocks.
NS::UInteger ComputePipelineState::imageblockMemoryLength(Size) {
  return 0;
}

ComputePipelineState* ComputePipelineState::newComputePipelineState(const NS::Array* functions, NS::Error** error) {
  const ComputePipelineStateObject* self = body(this);
  if (!self) return nullptr;
  if (!self->recipe.properties.supportAddingBinaryFunctions) {
    report(error, pipeline_error("functions can be added to a pipeline only if its descriptor said so: "
                                 "setSupportAddingBinaryFunctions(true)"));
    return nullptr;
  }
  auto recipe = self->recipe;
  if (metalloid::Status status = link(recipe, functions_of(functions), *self->device); !status) {
    report(error, pipeline_error(status.error()));
    return nullptr;
  }
  return new_pipeline(std::move(recipe), error);
}

ComputePipelineState* ComputePipelineState::newComputePipelineStateWithBinaryFunctions(const NS::Array* functions,
                                                                                       NS::Error** error) {
  return newComputePipelineState(functions, error);
}

}  // namespace MTL
