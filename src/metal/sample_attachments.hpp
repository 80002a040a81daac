// Where a pass samples counters: at the start and at the end of its encoder.
#pragma once

#include <Metal/MTLCounters.hpp>
#include <vector>

#include "foundation/object.hpp"
#include "metal/misuse.hpp"

namespace metalloid::metal {

class EncoderPart;

struct SampleAttachment {
  NS::SharedPtr<MTL::CounterSampleBuffer> buffer;
  NS::UInteger start = 0, end = 0;  // MTL::CounterDontSample: none
};

using SampleAttachments = std::vector<SampleAttachment>;

void sample_start(EncoderPart& encoder, const SampleAttachments& attachments, Call call);
void sample_end(EncoderPart& encoder, const SampleAttachments& attachments, Call call);

}  // namespace metalloid::metal
