// Functions compiled from source in the shading language, and the options they are compiled with.
#pragma once

#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLDataType.hpp"
#include "MTLDefines.hpp"
#include "MTLFunctionDescriptor.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Argument;
class ArgumentEncoder;
class Device;
class Function;
class FunctionConstantValues;

_MTL_ENUM(NS::UInteger, PatchType){
    PatchTypeNone = 0,
    PatchTypeTriangle = 1,
    PatchTypeQuad = 2,
};

_MTL_ENUM(NS::UInteger, FunctionType){
    FunctionTypeVertex = 1,       FunctionTypeFragment = 2, FunctionTypeKernel = 3, FunctionTypeVisible = 5,
    FunctionTypeIntersection = 6, FunctionTypeMesh = 7,     FunctionTypeObject = 8,
};

_MTL_ENUM(NS::UInteger, LanguageVersion){
    LanguageVersion1_0 = 65536,  LanguageVersion1_1 = 65537,  LanguageVersion1_2 = 65538,  LanguageVersion2_0 = 131072,
    LanguageVersion2_1 = 131073, LanguageVersion2_2 = 131074, LanguageVersion2_3 = 131075, LanguageVersion2_4 = 131076,
    LanguageVersion3_0 = 196608, LanguageVersion3_1 = 196609, LanguageVersion3_2 = 196610, LanguageVersion4_0 = 262144,
};

_MTL_ENUM(NS::Integer, LibraryType){
    LibraryTypeExecutable = 0,
    LibraryTypeDynamic = 1,
};

_MTL_ENUM(NS::Integer, LibraryOptimizationLevel){
    LibraryOptimizationLevelDefault = 0,
    LibraryOptimizationLevelSize = 1,
};

_MTL_ENUM(NS::Integer, CompileSymbolVisibility){
    CompileSymbolVisibilityDefault = 0,
    CompileSymbolVisibilityHidden = 1,
};

_MTL_ENUM(NS::Integer, MathMode){
    MathModeSafe = 0,
    MathModeRelaxed = 1,
    MathModeFast = 2,
};

_MTL_ENUM(NS::Integer, MathFloatingPointFunctions){
    MathFloatingPointFunctionsFast = 0,
    MathFloatingPointFunctionsPrecise = 1,
};

_MTL_ENUM(NS::UInteger, LibraryError){
    LibraryErrorUnsupported = 1,    LibraryErrorInternal = 2,         LibraryErrorCompileFailure = 3,
    LibraryErrorCompileWarning = 4, LibraryErrorFunctionNotFound = 5, LibraryErrorFileNotFound = 6,
};

using AutoreleasedArgument = Argument*;
using FunctionCompletionHandlerFunction = std::function<void(Function* pFunction, NS::Error* pError)>;

class _MTL_EXPORT VertexAttribute : public NS::Referencing<VertexAttribute> {
 public:
  static VertexAttribute* alloc();
  VertexAttribute* init();

  NS::String* name() const;
  NS::UInteger attributeIndex() const;
  DataType attributeType() const;
  bool isActive() const;
  bool isPatchControlPointData() const;
  bool isPatchData() const;

  [[deprecated("use isActive()")]] bool active() const { return isActive(); }
  [[deprecated("use isPatchControlPointData()")]] bool patchControlPointData() const {
    return isPatchControlPointData();
  }
  [[deprecated("use isPatchData()")]] bool patchData() const { return isPatchData(); }
};

class _MTL_EXPORT Attribute : public NS::Referencing<Attribute> {
 public:
  static Attribute* alloc();
  Attribute* init();

  NS::String* name() const;
  NS::UInteger attributeIndex() const;
  DataType attributeType() const;
  bool isActive() const;
  bool isPatchControlPointData() const;
  bool isPatchData() const;

  [[deprecated("use isActive()")]] bool active() const { return isActive(); }
  [[deprecated("use isPatchControlPointData()")]] bool patchControlPointData() const {
    return isPatchControlPointData();
  }
  [[deprecated("use isPatchData()")]] bool patchData() const { return isPatchData(); }
};

class _MTL_EXPORT FunctionConstant : public NS::Referencing<FunctionConstant> {
 public:
  static FunctionConstant* alloc();
  FunctionConstant* init();

  NS::String* name() const;
  NS::UInteger index() const;
  bool required() const;
  DataType type() const;
};

class _MTL_EXPORT Function : public NS::Referencing<Function> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::String* name() const;

  NS::Dictionary* functionConstantsDictionary() const;
  FunctionType functionType() const;
  FunctionOptions options() const;
  NS::Integer patchControlPointCount() const;
  PatchType patchType() const;
  NS::Array* stageInputAttributes() const;
  NS::Array* vertexAttributes() const;

  ArgumentEncoder* newArgumentEncoder(NS::UInteger bufferIndex);
  ArgumentEncoder* newArgumentEncoder(NS::UInteger bufferIndex, const AutoreleasedArgument* reflection);
};

class _MTL_EXPORT CompileOptions : public NS::Copying<CompileOptions> {
 public:
  static CompileOptions* alloc();
  CompileOptions* init();

  bool allowReferencingUndefinedSymbols() const;
  void setAllowReferencingUndefinedSymbols(bool allowReferencingUndefinedSymbols);
  CompileSymbolVisibility compileSymbolVisibility() const;
  void setCompileSymbolVisibility(CompileSymbolVisibility compileSymbolVisibility);
  bool enableLogging() const;
  void setEnableLogging(bool enableLogging);
  bool fastMathEnabled() const;
  void setFastMathEnabled(bool fastMathEnabled);
  NS::String* installName() const;
  void setInstallName(const NS::String* installName);
  LanguageVersion languageVersion() const;
  void setLanguageVersion(LanguageVersion languageVersion);
  NS::Array* libraries() const;
  void setLibraries(const NS::Array* libraries);
  LibraryType libraryType() const;
  void setLibraryType(LibraryType libraryType);
  MathFloatingPointFunctions mathFloatingPointFunctions() const;
  void setMathFloatingPointFunctions(MathFloatingPointFunctions mathFloatingPointFunctions);
  MathMode mathMode() const;
  void setMathMode(MathMode mathMode);
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup);
  LibraryOptimizationLevel optimizationLevel() const;
  void setOptimizationLevel(LibraryOptimizationLevel optimizationLevel);
  NS::Dictionary* preprocessorMacros() const;
  void setPreprocessorMacros(const NS::Dictionary* preprocessorMacros);
  bool preserveInvariance() const;
  void setPreserveInvariance(bool preserveInvariance);
  Size requiredThreadsPerThreadgroup() const;
  void setRequiredThreadsPerThreadgroup(Size requiredThreadsPerThreadgroup);
};

class _MTL_EXPORT FunctionReflection : public NS::Referencing<FunctionReflection> {
 public:
  static FunctionReflection* alloc();
  FunctionReflection* init();

  NS::Array* bindings() const;
};

class _MTL_EXPORT Library : public NS::Referencing<Library> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::Array* functionNames() const;
  NS::String* installName() const;
  LibraryType type() const;

  Function* newFunction(const NS::String* functionName);
  Function* newFunction(const NS::String* name, const FunctionConstantValues* constantValues, NS::Error** error);
  Function* newFunction(const FunctionDescriptor* descriptor, NS::Error** error);
  void newFunction(const NS::String* pFunctionName, const FunctionConstantValues* pConstantValues,
                   const FunctionCompletionHandlerFunction& completionHandler);
  void newFunction(const FunctionDescriptor* pDescriptor, const FunctionCompletionHandlerFunction& completionHandler);
  Function* newIntersectionFunction(const IntersectionFunctionDescriptor* descriptor, NS::Error** error);
  void newIntersectionFunction(const IntersectionFunctionDescriptor* pDescriptor,
                               const FunctionCompletionHandlerFunction& completionHandler);

  FunctionReflection* reflectionForFunction(const NS::String* functionName);

#ifdef __BLOCKS__
  void newFunction(const NS::String* name, const FunctionConstantValues* constantValues,
                   void (^completionHandler)(Function*, NS::Error*)) {
    newFunction(name, constantValues, NS::Private::functionFromBlock(completionHandler));
  }
  void newFunction(const FunctionDescriptor* descriptor, void (^completionHandler)(Function*, NS::Error*)) {
    newFunction(descriptor, NS::Private::functionFromBlock(completionHandler));
  }
  void newIntersectionFunction(const IntersectionFunctionDescriptor* descriptor,
                               void (^completionHandler)(Function*, NS::Error*)) {
    newIntersectionFunction(descriptor, NS::Private::functionFromBlock(completionHandler));
  }
#endif
};

}  // namespace MTL
