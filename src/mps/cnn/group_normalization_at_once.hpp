// Group normalization in one dispatch, where what is normalized together fits the caches of a CPU, or keeps a GPU busy.
#pragma once

#include "mps/cnn/normalization.hpp"

namespace metalloid::mps {

// Source and result have the same pixels. False, and nothing is encoded, where several dispatches do better.
bool encode_group_normalization_at_once(Encoding& encoding, const ImageTensor& source, const ImageTensor& result,
                                        size_t groups, const ChannelPair& gamma_and_beta, float epsilon);

}  // namespace metalloid::mps
