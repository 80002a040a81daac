#include "metal/mipmaps.hpp"

#include <Metal/MTLDevice.hpp>
#include <Metal/MTLLibrary.hpp>
#include <algorithm>
#include <map>
#include <mutex>

#include "device/pixel_format.hpp"
#include "foundation/string.hpp"
#include "metal/argument_tables.hpp"
#include "metal/compute_pipeline.hpp"
#include "metal/device.hpp"
#include "metal/rules.hpp"

namespace metalloid::metal {
namespace {

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;

// What a texel covers in one direction of the larger level.
struct Cover {
  Cover(uint texel, uint size, uint larger_size)
      : scale(float(larger_size) / float(size)), begin(float(texel) * scale), end(begin + scale),
        first(uint(begin)), last(min(uint(ceil(end)), larger_size) - 1) {}

  float weight(uint texel) const { return (min(end, float(texel + 1)) - max(begin, float(texel))) / scale; }

  float scale, begin, end;
  uint first, last;
};

kernel void shrink_images(texture2d_array<float, access::read> larger [[texture(0)]],
                          texture2d_array<float, access::write> smaller [[texture(1)]],
                          uint3 place [[thread_position_in_grid]]) {
  const Cover x(place.x, smaller.get_width(), larger.get_width());
  const Cover y(place.y, smaller.get_height(), larger.get_height());
  float4 mean = 0;
  for (uint j = y.first; j <= y.last; ++j)
    for (uint i = x.first; i <= x.last; ++i)
      mean += y.weight(j) * x.weight(i) * larger.read(uint2(i, j), place.z);
  smaller.write(mean, place.xy, place.z);
}

kernel void shrink_volume(texture3d<float, access::read> larger [[texture(0)]],
                          texture3d<float, access::write> smaller [[texture(1)]],
                          uint3 place [[thread_position_in_grid]]) {
  const Cover x(place.x, smaller.get_width(), larger.get_width());
  const Cover y(place.y, smaller.get_height(), larger.get_height());
  const Cover z(place.z, smaller.get_depth(), larger.get_depth());
  float4 mean = 0;
  for (uint k = z.first; k <= z.last; ++k)
    for (uint j = y.first; j <= y.last; ++j)
      for (uint i = x.first; i <= x.last; ++i)
        mean += z.weight(k) * y.weight(j) * x.weight(i) * larger.read(uint3(i, j, k));
  smaller.write(mean, place);
}
)";

using Pipeline = NS::SharedPtr<MTL::ComputePipelineState>;

Result<Pipeline> make_pipeline(MTL::Device& device, const char* kernel) {
  NS::Error* error = nullptr;
  const auto text = NS::TransferPtr(foundation::new_string(source));
  const auto name = NS::TransferPtr(foundation::new_string(kernel));
  const auto library = NS::TransferPtr(device.newLibrary(text.get(), nullptr, &error));
  const auto function = NS::TransferPtr(library->newFunction(name.get()));
  auto pipeline = NS::TransferPtr(device.newComputePipelineState(function.get(), &error));
  if (!pipeline) return Error{std::string(foundation::text_of(error->localizedDescription()))};
  return pipeline;
}

// Made once for each device.
Result<Pipeline> pipeline_of(MTL::Device& device, const char* kernel) {
  static std::mutex& mutex = *new std::mutex;
  static auto& made = *new std::map<std::pair<MTL::Device*, std::string>, Pipeline>;
  std::lock_guard lock(mutex);
  Pipeline& pipeline = made[{&device, kernel}];
  if (pipeline) return pipeline;
  Result<Pipeline> result = make_pipeline(device, kernel);
  if (result) pipeline = *result;
  return result;
}

std::string broken_by(const device::TextureDescription& texture) {
  if (texture.levels < 2) return "the texture has one level only";
  if (!device::pixel_format(texture.pixel_format).valid() || device::pixel_format(texture.pixel_format).integer())
    return "texels of this pixel format cannot be averaged";
  return "";
}

}  // namespace

void generate_mipmaps(EncoderPart& encoder, const TextureObject& texture, Call call) {
  const device::TextureDescription& description = texture.description();
  if (std::string rule = broken_by(description); !rule.empty()) return encoder.misuse(rule, call);
  const bool is_volume = description.type == MTL::TextureType3D;
  const Result<Pipeline> pipeline = pipeline_of(*encoder.device(), is_volume ? "shrink_volume" : "shrink_images");
  if (!pipeline) return encoder.misuse(pipeline.error(), call);
  const device::Pipeline& code = *body(pipeline->get())->pipeline;

  const auto level = [&](NS::UInteger index) {
    const auto type = is_volume ? MTL::TextureType3D : MTL::TextureType2DArray;
    const auto view = NS::TransferPtr(const_cast<TextureObject&>(texture).newTextureView(
        static_cast<MTL::PixelFormat>(description.pixel_format), type, NS::Range(index, 1),
        NS::Range(0, description.slices)));
    encoder.command_buffer->keep_always(view.get());
    return body(view.get());
  };
  ArgumentTables tables;
  for (NS::UInteger i = 1; i < description.levels; ++i) {
    tables.textures[0].value = level(i - 1)->handle;
    tables.textures[1].value = level(i)->handle;
    device::Size grid = device_size(texture.level_size(i));
    if (!is_volume) grid.z = description.slices;
    encoder.list().commands.emplace_back(
        device::Dispatch{.pipeline = &code,
                         .arguments = tables.arguments_of(code, encoder.list().arena),
                         .threads_per_grid = grid,
                         .threads_per_threadgroup = {std::min(grid.x, 32u), std::min(grid.y, 8u), 1}});
  }
}

}  // namespace metalloid::metal
