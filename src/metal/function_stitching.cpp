// Graphs of function calls can be described and copied; making a library of them is refused with an error.
#include <Metal/MTLFunctionStitching.hpp>

#include "metal/background.hpp"
#include "metal/device.hpp"
#include "metal/errors.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

struct AlwaysInlineProperties {
  static constexpr const char* class_name = "MTLFunctionStitchingAttributeAlwaysInline";
};
PROPERTIES(FunctionStitchingAttributeAlwaysInline, AlwaysInlineProperties)

struct InputNodeProperties {
  static constexpr const char* class_name = "MTLFunctionStitchingInputNode";
  NS::UInteger argumentIndex = 0;
};
PROPERTIES(FunctionStitchingInputNode, InputNodeProperties)

struct FunctionNodeProperties {
  static constexpr const char* class_name = "MTLFunctionStitchingFunctionNode";
  Copied<NS::String> name;
  Copied<NS::Array> arguments;
  Copied<NS::Array> controlDependencies;
};
PROPERTIES(FunctionStitchingFunctionNode, FunctionNodeProperties)

struct StitchingGraphProperties {
  static constexpr const char* class_name = "MTLFunctionStitchingGraph";
  Copied<NS::String> functionName;
  Copied<NS::Array> nodes;
  NS::SharedPtr<MTL::FunctionStitchingFunctionNode> outputNode;
  Copied<NS::Array> attributes;
};
PROPERTIES(FunctionStitchingGraph, StitchingGraphProperties)

struct StitchedLibraryProperties {
  static constexpr const char* class_name = "MTLStitchedLibraryDescriptor";
  Copied<NS::Array> functionGraphs;
  Copied<NS::Array> functions;
  Copied<NS::Array> binaryArchives;
  MTL::StitchedLibraryOptions options = MTL::StitchedLibraryOptionNone;
};
PROPERTIES(StitchedLibraryDescriptor, StitchedLibraryProperties)

static NS::Error* unsupported() {
  return library_error(MTL::LibraryErrorUnsupported,
                       "libraries cannot be stitched from graphs of functions; write the calls as Metal source and "
                       "make the library with newLibrary(source, options, error)");
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(FunctionStitchingAttributeAlwaysInline)

ALLOC(FunctionStitchingInputNode)
PROPERTY(FunctionStitchingInputNode, argumentIndex, setArgumentIndex)

FunctionStitchingInputNode* FunctionStitchingInputNode::init(NS::UInteger argument) {
  setArgumentIndex(argument);
  return this;
}

ALLOC(FunctionStitchingFunctionNode)
PROPERTY(FunctionStitchingFunctionNode, name, setName)
PROPERTY(FunctionStitchingFunctionNode, arguments, setArguments)
PROPERTY(FunctionStitchingFunctionNode, controlDependencies, setControlDependencies)

FunctionStitchingFunctionNode* FunctionStitchingFunctionNode::init(const NS::String* name, const NS::Array* arguments,
                                                                   const NS::Array* controlDependencies) {
  setName(name);
  setArguments(arguments);
  setControlDependencies(controlDependencies);
  return this;
}

ALLOC(FunctionStitchingGraph)
PROPERTY(FunctionStitchingGraph, functionName, setFunctionName)
PROPERTY(FunctionStitchingGraph, nodes, setNodes)
PROPERTY(FunctionStitchingGraph, outputNode, setOutputNode)
PROPERTY(FunctionStitchingGraph, attributes, setAttributes)

FunctionStitchingGraph* FunctionStitchingGraph::init(const NS::String* functionName, const NS::Array* nodes,
                                                     const FunctionStitchingFunctionNode* outputNode,
                                                     const NS::Array* attributes) {
  setFunctionName(functionName);
  setNodes(nodes);
  setOutputNode(outputNode);
  setAttributes(attributes);
  return this;
}

ALLOC(StitchedLibraryDescriptor)
PROPERTY(StitchedLibraryDescriptor, functionGraphs, setFunctionGraphs)
PROPERTY(StitchedLibraryDescriptor, functions, setFunctions)
PROPERTY(StitchedLibraryDescriptor, binaryArchives, setBinaryArchives)
PROPERTY(StitchedLibraryDescriptor, options, setOptions)

Library* Device::newLibrary(const StitchedLibraryDescriptor*, NS::Error** error) {
  if (body(this)) report(error, unsupported());
  return nullptr;
}

void Device::newLibrary(const StitchedLibraryDescriptor*, const NewLibraryCompletionHandlerFunction& handler) {
  if (body(this) && handler) in_background([handler] { handler(nullptr, unsupported()); });
}

}  // namespace MTL
