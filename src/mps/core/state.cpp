#include "mps/core/state.hpp"

#include <fmt/format.h>

#include <set>

#include "foundation/array.hpp"
#include "foundation/misuse.hpp"
#include "metal/buffer.hpp"
#include "metal/texture.hpp"
#include "mps/core/properties.hpp"
#include "mps/core/temporary_memory.hpp"

namespace metalloid::mps {

void StatePart::set_device(MTL::Device* owner, MTL::CommandBuffer* temporary_in) {
  device = NS::RetainPtr(owner);
  home = temporary_in ? temporary_home(temporary_in) : nullptr;
  read_count = temporary_in ? 1 : 0;
}

MTL::Resource* StatePart::resource(size_t index) {
  if (index >= resources.size()) return nullptr;
  StateResource& resource = resources[index];
  if (resource.made) return resource.made.get();
  if (resource.texture)
    resource.made = NS::TransferPtr<MTL::Resource>(device->newTexture(resource.texture.get()));
  else if (MTL::CommandBuffer* const command_buffer = home ? home->command_buffer.load() : nullptr)
    resource.made = NS::RetainPtr<MTL::Resource>(temporary_buffer(command_buffer, resource.buffer_bytes));
  else
    resource.made =
        NS::TransferPtr<MTL::Resource>(device->newBuffer(resource.buffer_bytes, MTL::ResourceStorageModeShared));
  return resource.made.get();
}

void StatePart::set_read_count(NS::UInteger count) {
  if (!home || read_count == 0) return;
  read_count = count;
  if (count > 0) return;
  for (const StateResource& resource : resources)
    if (resource.made && !resource.texture && !resource.is_shared)
      give_back(*home, static_cast<MTL::Buffer*>(resource.made.get()));
}

std::vector<MPS::State*> states_of(const MPS::StateBatch* batch) {
  return foundation::elements_of<MPS::State>(batch);
}

namespace {

class ResourceListObject final : public MPS::StateResourceList {
 public:
  std::vector<StateResource> textures, buffers;
  const char* className() const override { return "MPSStateResourceList"; }
};

ResourceListObject* body(const MPS::StateResourceList* list) {
  return const_cast<ResourceListObject*>(static_cast<const ResourceListObject*>(list));
}

StatePart* body(const MPS::State* state) {
  return shared_part_of<StatePart>(const_cast<MPS::State*>(state));
}

using StateObject = Object<MPS::State, StatePart>;

StateResource texture_of(const MTL::TextureDescriptor* descriptor) {
  return {.texture = NS::TransferPtr(descriptor->copy())};
}

// Textures come first.
std::vector<StateResource> resources_of(const ResourceListObject& list) {
  std::vector<StateResource> resources = list.textures;
  resources.insert(resources.end(), list.buffers.begin(), list.buffers.end());
  return resources;
}

MPS::State* temporary(MTL::CommandBuffer* command_buffer, std::vector<StateResource> resources) {
  if (!command_buffer) {
    foundation::report_misuse("+[MPSState temporaryStateWithCommandBuffer:]", "commandBuffer is null");
    return nullptr;
  }
  auto* state = new StateObject("MPSState");
  state->set_device(command_buffer->device(), command_buffer);
  state->resources = std::move(resources);
  return foundation::autoreleased(static_cast<MPS::State*>(state));
}

MPS::State* init(MPS::State* state, MTL::Device* device, std::vector<StateResource> resources) {
  StatePart* self = body(state);
  if (!self) return nullptr;
  if (!device) {
    foundation::report_misuse("-[MPSState initWithDevice:]", "device is null");
    return foundation::failed_init(state);
  }
  self->set_device(device, nullptr);
  self->resources = std::move(resources);
  return state;
}

StateResource existing(const MTL::Resource* resource) {
  StateResource made;
  made.made = foundation::retained(resource);
  if (const auto* buffer = dynamic_cast<const metal::BufferObject*>(resource)) made.buffer_bytes = buffer->length;
  return made;
}

const MTL::Texture* texture_in(const StateResource& resource) {
  return resource.made ? dynamic_cast<const metal::TextureObject*>(resource.made.get()) : nullptr;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

StateResourceList* StateResourceList::resourceList() {
  return foundation::autoreleased(alloc()->init());
}
StateResourceList* StateResourceList::alloc() {
  return new ResourceListObject;
}
StateResourceList* StateResourceList::init() {
  return this;
}
void StateResourceList::appendTexture(const MTL::TextureDescriptor* descriptor) {
  if (auto* self = body(this); self && descriptor) self->textures.push_back(texture_of(descriptor));
}
void StateResourceList::appendBuffer(NS::UInteger size) {
  if (auto* self = body(this)) self->buffers.push_back({.buffer_bytes = size});
}

State* State::temporaryState(MTL::CommandBuffer* commandBuffer) {
  return temporary(commandBuffer, {});
}
State* State::temporaryState(MTL::CommandBuffer* commandBuffer, size_t bufferSize) {
  return temporary(commandBuffer, {{.buffer_bytes = bufferSize}});
}
State* State::temporaryState(MTL::CommandBuffer* commandBuffer, const MTL::TextureDescriptor* descriptor) {
  return descriptor ? temporary(commandBuffer, {texture_of(descriptor)}) : nullptr;
}
State* State::temporaryState(MTL::CommandBuffer* commandBuffer, const StateResourceList* resourceList) {
  return resourceList ? temporary(commandBuffer, resources_of(*body(resourceList))) : nullptr;
}

State* State::alloc() {
  return new StateObject("MPSState");
}
State* State::init(MTL::Device* device, size_t bufferSize) {
  return mps::init(this, device, {{.buffer_bytes = bufferSize}});
}
State* State::init(MTL::Device* device, const MTL::TextureDescriptor* descriptor) {
  return descriptor ? mps::init(this, device, {texture_of(descriptor)}) : foundation::failed_init(this);
}
State* State::init(MTL::Device* device, const StateResourceList* resourceList) {
  return resourceList ? mps::init(this, device, resources_of(*body(resourceList))) : foundation::failed_init(this);
}
State* State::init(const MTL::Resource* resource) {
  StatePart* self = body(this);
  if (!self || !resource) return this;
  self->set_device(resource->device(), nullptr);
  self->resources = {existing(resource)};
  return this;
}
State* State::init(const NS::Array* resources) {
  StatePart* self = body(this);
  for (NS::UInteger i = 0; self && resources && i < resources->count(); ++i) {
    const auto* resource = foundation::element_of<MTL::Resource>(resources, i);
    if (!resource) {
      foundation::report_misuse("-[MPSState initWithResources:]", fmt::format("resources[{}] is no resource", i));
      return foundation::failed_init(this);
    }
    if (i == 0) self->set_device(resource->device(), nullptr);
    self->resources.push_back(existing(resource));
  }
  return this;
}

NS::UInteger State::resourceCount() const {
  const auto* self = body(this);
  return self ? self->resources.size() : 0;
}
MTL::Resource* State::resource(NS::UInteger index, bool allocateMemory) const {
  auto* self = body(this);
  if (!self || index >= self->resources.size()) return nullptr;
  return allocateMemory ? self->resource(index) : self->resources[index].made.get();
}
NS::UInteger State::bufferSize(NS::UInteger index) const {
  const auto* self = body(this);
  return self && index < self->resources.size() ? self->resources[index].buffer_bytes : 0;
}
StateTextureInfo State::textureInfo(NS::UInteger index) const {
  const auto* self = body(this);
  if (resourceType(index) != StateResourceTypeTexture) return {};
  const auto info = [](const auto* texture) {
    return StateTextureInfo{texture->width(),       texture->height(),      texture->depth(), texture->arrayLength(),
                            texture->pixelFormat(), texture->textureType(), texture->usage()};
  };
  const StateResource& resource = self->resources[index];
  return resource.texture ? info(resource.texture.get()) : info(texture_in(resource));
}
StateResourceType State::resourceType(NS::UInteger index) const {
  const auto* self = body(this);
  if (!self || index >= self->resources.size()) return StateResourceTypeNone;
  const StateResource& resource = self->resources[index];
  return resource.texture || texture_in(resource) ? StateResourceTypeTexture : StateResourceTypeBuffer;
}

NS::UInteger State::readCount() const {
  const auto* self = body(this);
  return self ? self->read_count : 0;
}
void State::setReadCount(NS::UInteger readCount) {
  if (auto* self = body(this)) self->set_read_count(readCount);
}
bool State::isTemporary() const {
  const auto* self = body(this);
  return self && self->home;
}
NS::String* State::label() const {
  const auto* self = body(this);
  return self ? self->label.get() : nullptr;
}
void State::setLabel(const NS::String* label) {
  if (auto* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

// The host sees what completed command buffers wrote without this.
void State::synchronize(MTL::CommandBuffer*) {}

NS::UInteger State::resourceSize() const {
  const auto* self = body(this);
  NS::UInteger bytes = 0;
  for (size_t i = 0; self && i < self->resources.size(); ++i) {
    const StateResource& resource = self->resources[i];
    bytes += resource.texture || texture_in(resource) ? resource.made ? resource.made->allocatedSize() : 0
                                                      : resource.buffer_bytes;
  }
  return bytes;
}

ImageDescriptor* State::destinationImageDescriptor(const NS::Array*, const NS::Array*, const Kernel*,
                                                   ImageDescriptor* suggestedDescriptor) const {
  return suggestedDescriptor;
}

NS::UInteger NNGradientState::sourceWidth() const {
  const auto* self = shared_part_of<GradientStatePart>(this);
  return self ? self->source.width : 0;
}
NS::UInteger NNGradientState::sourceHeight() const {
  const auto* self = shared_part_of<GradientStatePart>(this);
  return self ? self->source.height : 0;
}

NS::UInteger StateBatchIncrementReadCount(const StateBatch* batch, NS::Integer amount) {
  std::set<State*> different;
  for (State* state : states_of(batch))
    if (different.insert(state).second && state->isTemporary() && state->readCount() > 0)
      state->setReadCount(NS::UInteger(NS::Integer(state->readCount()) + amount));
  return different.size();
}

void StateBatchSynchronize(const StateBatch*, MTL::CommandBuffer*) {}

NS::UInteger StateBatchResourceSize(const StateBatch* batch) {
  std::set<State*> different;
  NS::UInteger bytes = 0;
  for (State* state : states_of(batch))
    if (different.insert(state).second) bytes += state->resourceSize();
  return bytes;
}

}  // namespace MPS
