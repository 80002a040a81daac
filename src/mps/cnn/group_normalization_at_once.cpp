#include "mps/cnn/group_normalization_at_once.hpp"

#include <fmt/format.h>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

constexpr size_t simdgroup = 32;

// As kernels/group_normalization.metal has it.
struct KernelGroupNormalization {
  KernelImageTensor source, result;
  uint32_t group, lanes;
  float epsilon;
  uint64_t next;
};

}  // namespace

bool encode_group_normalization_at_once(Encoding& encoding, const ImageTensor& source, const ImageTensor& result,
                                        size_t groups, const ChannelPair& gamma_and_beta, float epsilon) {
  if (is_gpu(encoding.device())) return false;
  const size_t group = source.channels / groups, pixels = source.width * source.height;
  const bool is_wide = group >= simdgroup;
  const size_t channels = is_wide ? group : simdgroup / group * group;
  const size_t of_image = (source.channels + channels - 1) / channels;
  // What a SIMD-group takes must stay near it; a lone one would leave other processors idle.
  constexpr size_t most_bytes = size_t{512} << 10, most_bytes_alone = size_t{64} << 10;
  if (channels * pixels * source.number_bytes() > (of_image * source.images > 1 ? most_bytes : most_bytes_alone))
    return false;
  const bool has_all_lanes = channels == simdgroup && source.channels % simdgroup == 0;
  const bool streams =
      fills_caches(encoding.device(), result.images * pixels * result.channels * result.number_bytes());
  encoding.dispatch(
      {fmt::format("group_normalization_{}_{}", is_wide ? "wide" : "narrow", metal_name_of(source.type)),
       {streams, has_all_lanes}},
      MTL::Size(simdgroup * of_image, source.images, 1), MTL::Size(simdgroup, 1, 1), source.place, result.place,
      Operand{gamma_and_beta.first.get()}, Operand{gamma_and_beta.second.get()},
      KernelGroupNormalization{for_kernel(source), for_kernel(result), uint32_t(group), uint32_t(channels), epsilon,
                               of_image > 1 ? channels : source.image_stride});
  return true;
}

}  // namespace metalloid::mps
