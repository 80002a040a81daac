// Compiled pipelines, collected and kept in a file, so that a later run need not compile them again.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class ComputePipelineDescriptor;
class Device;
class FunctionDescriptor;
class Library;
class MeshRenderPipelineDescriptor;
class RenderPipelineDescriptor;
class StitchedLibraryDescriptor;
class TileRenderPipelineDescriptor;

_MTL_ENUM(NS::UInteger, BinaryArchiveError){
    BinaryArchiveErrorNone = 0,
    BinaryArchiveErrorInvalidFile = 1,
    BinaryArchiveErrorUnexpectedElement = 2,
    BinaryArchiveErrorCompilationFailure = 3,
    BinaryArchiveErrorInternalError = 4,
};

_MTL_CONST(NS::ErrorDomain, BinaryArchiveDomain);

class _MTL_EXPORT BinaryArchiveDescriptor : public NS::Copying<BinaryArchiveDescriptor> {
 public:
  static BinaryArchiveDescriptor* alloc();
  BinaryArchiveDescriptor* init();

  NS::URL* url() const;
  void setUrl(const NS::URL* url);
};

class _MTL_EXPORT BinaryArchive : public NS::Referencing<BinaryArchive> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);

  bool addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error);
  bool addFunction(const FunctionDescriptor* descriptor, const Library* library, NS::Error** error);
  bool addLibrary(const StitchedLibraryDescriptor* descriptor, NS::Error** error);
  bool addMeshRenderPipelineFunctions(const MeshRenderPipelineDescriptor* descriptor, NS::Error** error);
  bool addRenderPipelineFunctions(const RenderPipelineDescriptor* descriptor, NS::Error** error);
  bool addTileRenderPipelineFunctions(const TileRenderPipelineDescriptor* descriptor, NS::Error** error);
  bool serializeToURL(const NS::URL* url, NS::Error** error);
};

}  // namespace MTL
