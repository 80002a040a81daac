// A library made from a graph of calls instead of source: nodes for inputs and function calls, graphs of nodes, and the
// descriptor of the library.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

_MTL_OPTIONS(NS::UInteger, StitchedLibraryOptions){
    StitchedLibraryOptionNone = 0,
    StitchedLibraryOptionFailOnBinaryArchiveMiss = 1,
    StitchedLibraryOptionStoreLibraryInMetalPipelinesScript = 1 << 1,
};

class _MTL_EXPORT FunctionStitchingAttribute : public NS::Referencing<FunctionStitchingAttribute> {};

class _MTL_EXPORT FunctionStitchingAttributeAlwaysInline
    : public NS::Referencing<FunctionStitchingAttributeAlwaysInline, FunctionStitchingAttribute> {
 public:
  static FunctionStitchingAttributeAlwaysInline* alloc();
  FunctionStitchingAttributeAlwaysInline* init();
};

class _MTL_EXPORT FunctionStitchingNode : public NS::Copying<FunctionStitchingNode> {};

class _MTL_EXPORT FunctionStitchingInputNode
    : public NS::Referencing<FunctionStitchingInputNode, FunctionStitchingNode> {
 public:
  static FunctionStitchingInputNode* alloc();
  FunctionStitchingInputNode* init();
  FunctionStitchingInputNode* init(NS::UInteger argument);

  NS::UInteger argumentIndex() const;
  void setArgumentIndex(NS::UInteger argumentIndex);
};

class _MTL_EXPORT FunctionStitchingFunctionNode
    : public NS::Referencing<FunctionStitchingFunctionNode, FunctionStitchingNode> {
 public:
  static FunctionStitchingFunctionNode* alloc();
  FunctionStitchingFunctionNode* init();
  FunctionStitchingFunctionNode* init(const NS::String* name, const NS::Array* arguments,
                                      const NS::Array* controlDependencies);

  NS::String* name() const;
  void setName(const NS::String* name);
  NS::Array* arguments() const;
  void setArguments(const NS::Array* arguments);
  NS::Array* controlDependencies() const;
  void setControlDependencies(const NS::Array* controlDependencies);
};

class _MTL_EXPORT FunctionStitchingGraph : public NS::Copying<FunctionStitchingGraph> {
 public:
  static FunctionStitchingGraph* alloc();
  FunctionStitchingGraph* init();
  FunctionStitchingGraph* init(const NS::String* functionName, const NS::Array* nodes,
                               const FunctionStitchingFunctionNode* outputNode, const NS::Array* attributes);

  NS::Array* attributes() const;
  void setAttributes(const NS::Array* attributes);
  NS::String* functionName() const;
  void setFunctionName(const NS::String* functionName);
  NS::Array* nodes() const;
  void setNodes(const NS::Array* nodes);
  FunctionStitchingFunctionNode* outputNode() const;
  void setOutputNode(const FunctionStitchingFunctionNode* outputNode);
};

class _MTL_EXPORT StitchedLibraryDescriptor : public NS::Copying<StitchedLibraryDescriptor> {
 public:
  static StitchedLibraryDescriptor* alloc();
  StitchedLibraryDescriptor* init();

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
  NS::Array* functionGraphs() const;
  void setFunctionGraphs(const NS::Array* functionGraphs);
  NS::Array* functions() const;
  void setFunctions(const NS::Array* functions);
  StitchedLibraryOptions options() const;
  void setOptions(StitchedLibraryOptions options);
};

}  // namespace MTL
