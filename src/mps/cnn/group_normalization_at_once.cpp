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
  uint32_t group, in_turn;
  float epsilon;
};

}  // namespace

bool encode_group_normalization_at_once(Encoding& encoding, const ImageTensor& source, const ImageTensor& result,
                                        size_t groups, const ChannelPair& gamma_and_beta, float epsilon) {
  const size_t group = source.channels / groups, pixels = source.width * source.height;
  const auto has_gaps = [](const ImageTensor& tensor) {
    return tensor.row_stride != tensor.width * tensor.pixel_stride;
  };
  if (has_gaps(source) || has_gaps(result)) return false;
  const auto in_one_line = [&](const ImageTensor& tensor) {
    KernelImageTensor made = for_kernel(tensor);
    made.width = uint32_t(pixels);
    made.height = 1;
    return made;
  };
  KernelGroupNormalization numbers{in_one_line(source), in_one_line(result), uint32_t(group), 1, epsilon};
  const auto dispatch = [&](const char* kind, std::vector<uint32_t> constants, MTL::Size threads,
                            MTL::Size threadgroup) {
    encoding.dispatch({fmt::format("group_normalization_{}_{}", kind, metal_name_of(source.type)), constants}, threads,
                      threadgroup, source.place, result.place, Operand{gamma_and_beta.first.get()},
                      Operand{gamma_and_beta.second.get()}, numbers);
  };

  if (is_gpu(encoding.device())) {
    // Other threadgroups would be idle while few go through much.
    constexpr size_t most_numbers_of_few = size_t{1} << 14, few = 256;
    if (source.images * groups < few && pixels * group > most_numbers_of_few) return false;
    const MTL::Size threadgroup = threads_for_row(encoding.device(), pixels * group);
    dispatch("gpu", {}, MTL::Size(threadgroup.width * groups, source.images, 1), threadgroup);
    return true;
  }

  constexpr size_t most_channels = 1024;  // as kernels/group_normalization.metal has it
  // Groups of several pixels lie in pieces, which are read better with those between them.
  const bool is_wide = group >= simdgroup && (groups == 1 || pixels == 1);
  if (!is_wide && source.channels > most_channels) return false;
  // What a SIMD-group takes must stay near it; where there are few, other processors would be idle.
  constexpr size_t most_bytes = size_t{2} << 20, most_bytes_of_few = size_t{64} << 10, few = 4;
  const size_t slices = source.images * (is_wide ? groups : 1);
  const size_t bytes = pixels * (is_wide ? group : source.channels) * source.number_bytes();
  if (bytes > (slices < few ? most_bytes_of_few : most_bytes)) return false;
  const size_t pairs = (source.images + 1) / 2;
  const size_t in_turn = images_in_turn(is_wide ? pairs : source.images);
  numbers.in_turn = uint32_t(in_turn);
  const bool streams =
      fills_caches(encoding.device(), result.images * pixels * result.channels * result.number_bytes());
  dispatch(is_wide ? "wide" : "image", {streams},
           is_wide ? MTL::Size(simdgroup * groups, (pairs + in_turn - 1) / in_turn, 1)
                   : MTL::Size(simdgroup * ((source.images + in_turn - 1) / in_turn), 1, 1),
           MTL::Size(simdgroup, 1, 1));
  return true;
}

}  // namespace metalloid::mps
