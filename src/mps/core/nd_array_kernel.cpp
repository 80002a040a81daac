#include "mps/core/nd_array_kernel.hpp"

#include <fmt/format.h>

#include "foundation/array.hpp"

namespace metalloid::mps {
namespace {

Result<std::vector<NDArrayObject*>> arrays_of(const NS::Array* sources) {
  if (!sources) return Error{"sourceArrays is null"};
  std::vector<NDArrayObject*> arrays;
  for (NS::UInteger i = 0; i < sources->count(); ++i) {
    arrays.push_back(foundation::element_of<NDArrayObject>(sources, i));
    if (!arrays.back()) return Error{fmt::format("sourceArrays[{}] is no array", i)};
  }
  return arrays;
}

const TemporaryLife& life_of(const NDArrayObject& array) {
  return array.parent ? life_of(*body(array.parent.get())) : array.life;
}

Status check_life(const Encoding& encoding, const NDArrayObject& array, const char* name) {
  const TemporaryLife& life = life_of(array);
  const Status status = check_home(life.home, life.read_count, encoding.command_buffer());
  return status ? success() : Status(Error{fmt::format("{} {}", name, status.error())});
}

Status encode(Encoding& encoding, NDArrayKernelPart& self, const NS::Array* source_arrays, NDArrayObject* result) {
  if (!result) return Error{"destinationArray is null"};
  const auto sources = arrays_of(source_arrays);
  if (!sources) return Error{sources.error()};
  for (const NDArrayObject* source : *sources)
    if (const Status status = check_life(encoding, *source, "one of sourceArrays"); !status) return status;
  if (const Status status = check_life(encoding, *result, "destinationArray"); !status) return status;
  if (const Status status = self.encode(encoding, *sources, *result); !status) return status;
  for (NDArrayObject* source : *sources) source->was_read();
  return success();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NDArrayDescriptor* NDArrayMultiaryBase::destinationArrayDescriptor(const NS::Array* sources) const {
  const auto* self = shared_part_of<NDArrayKernelPart>(this);
  const auto arrays = arrays_of(sources);
  if (!self || !arrays) return nullptr;
  const auto layout = self->result_layout(*arrays);
  if (!layout) foundation::report_misuse("destinationArrayDescriptorForSourceArrays", layout.error());
  return layout ? descriptor_of(*layout) : nullptr;
}

NDArray* NDArrayMultiaryKernel::encode(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceArrays) {
  auto* self = shared_part_of<NDArrayKernelPart>(this);
  if (!self) return nullptr;
  Encoding encoding(commandBuffer, *self, self->call);
  if (!encoding) return nullptr;
  const auto sources = arrays_of(sourceArrays);
  if (!sources) {
    encoding.fail(sources.error());
    return nullptr;
  }
  const auto layout = self->result_layout(*sources);
  if (!layout) {
    encoding.fail(layout.error());
    return nullptr;
  }
  const auto result = new_temporary_array(commandBuffer, *layout);
  if (!result) {
    encoding.fail("there is no memory for the result");
    return nullptr;
  }
  if (!encoding.check(metalloid::mps::encode(encoding, *self, sourceArrays, body(result.get())))) return nullptr;
  return result->retain()->autorelease();
}

void NDArrayMultiaryKernel::encode(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceArrays,
                                   const NDArray* destinationArray) {
  auto* self = shared_part_of<NDArrayKernelPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, self->call); encoding)
    encoding.check(metalloid::mps::encode(encoding, *self, sourceArrays, body(destinationArray)));
}

}  // namespace MPS
