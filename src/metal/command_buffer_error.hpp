// The error of a command buffer that failed, and the descriptor with which a program asks for details in it.
#pragma once

#include <deque>
#include <string_view>

#include "metal/command_buffer.hpp"

namespace metalloid::metal {

// Autoreleased. Encoders that were watched are described in it, each with what became of it.
NS::Error* command_buffer_error(MTL::CommandBufferError code, std::string_view message,
                                const std::deque<EncoderProgress>& encoders);

}  // namespace metalloid::metal
