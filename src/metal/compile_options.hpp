// The object behind MTL::CompileOptions, and what the compiler is told.
#pragma once

#include <Metal/MTLLibrary.hpp>
#include <metalloid/compiler.hpp>

#include "metal/property.hpp"

namespace metalloid::metal {

struct CompileProperties {
  static constexpr const char* class_name = "MTLCompileOptions";

  Copied<NS::Dictionary> preprocessorMacros;
  MTL::LanguageVersion languageVersion = MTL::LanguageVersion3_2;
  MTL::MathMode mathMode = MTL::MathModeFast;
  MTL::MathFloatingPointFunctions mathFloatingPointFunctions = MTL::MathFloatingPointFunctionsFast;
  MTL::LibraryOptimizationLevel optimizationLevel = MTL::LibraryOptimizationLevelDefault;
  MTL::CompileSymbolVisibility compileSymbolVisibility = MTL::CompileSymbolVisibilityDefault;
  MTL::LibraryType libraryType = MTL::LibraryTypeExecutable;
  Copied<NS::Array> libraries;
  Copied<NS::String> installName;
  bool preserveInvariance = false;
  bool allowReferencingUndefinedSymbols = false;
  bool enableLogging = false;
  NS::UInteger maxTotalThreadsPerThreadgroup = 0;
  MTL::Size requiredThreadsPerThreadgroup = MTL::Size(0, 0, 0);
};
PROPERTIES(CompileOptions, CompileProperties)

CompileOptions compiler_options(const CompileProperties& properties);

}  // namespace metalloid::metal
