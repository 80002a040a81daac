// Writes compressed files for loading commands.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLDevice.hpp"

namespace MTL {

_MTL_ENUM(NS::Integer, IOCompressionStatus){
    IOCompressionStatusComplete = 0,
    IOCompressionStatusError = 1,
};

using IOCompressionContext = void*;
using IOCompresionContext = IOCompressionContext;

_MTL_EXPORT size_t IOCompressionContextDefaultChunkSize();
_MTL_EXPORT IOCompressionContext IOCreateCompressionContext(const char* path, IOCompressionMethod type,
                                                            size_t chunkSize);
_MTL_EXPORT void IOCompressionContextAppendData(IOCompressionContext context, const void* data, size_t size);
_MTL_EXPORT IOCompressionStatus IOFlushAndDestroyCompressionContext(IOCompressionContext context);

}  // namespace MTL
