#include "metal/compile_options.hpp"

#include <algorithm>
#include <string>

#include "foundation/string.hpp"
#include "metal/device.hpp"

namespace metalloid::metal {
namespace {

using foundation::text_of;

// A macro's value is a string as it is, or a number; what is neither counts as its description.
std::string macro_text(const NS::Object* value) {
  if (const auto* string = dynamic_cast<const NS::String*>(value)) return std::string(text_of(string));
  if (const auto* number = dynamic_cast<const NS::Number*>(value)) return std::string(text_of(number->stringValue()));
  return std::string(text_of(value->description()));
}

std::vector<std::pair<std::string, std::string>> macros(const NS::Dictionary* dictionary) {
  std::vector<std::pair<std::string, std::string>> macros;
  if (!dictionary) return macros;
  auto* names = dictionary->keyEnumerator<NS::Object>();
  while (const NS::Object* key = names->nextObject())
    if (const auto* name = dynamic_cast<const NS::String*>(key))
      macros.emplace_back(text_of(name), macro_text(dictionary->object(key)));
  std::ranges::sort(macros);  // the order of a dictionary is none, that of a key in the cache matters
  return macros;
}

}  // namespace

CompileOptions compiler_options(const CompileProperties& properties) {
  CompileOptions options;
  options.language = {static_cast<unsigned>(properties.languageVersion >> 16),
                      static_cast<unsigned>(properties.languageVersion & 0xffff)};
  options.math_mode = properties.mathMode == MTL::MathModeSafe      ? MathMode::safe
                      : properties.mathMode == MTL::MathModeRelaxed ? MathMode::relaxed
                                                                    : MathMode::fast;
  options.precise_functions = properties.mathFloatingPointFunctions == MTL::MathFloatingPointFunctionsPrecise;
  if (properties.optimizationLevel == MTL::LibraryOptimizationLevelSize) options.optimization = Optimization::size;
  options.macros = macros(properties.preprocessorMacros.get());
  options.debug_info = shader_validation_enabled();  // its reports name lines
  return options;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(CompileOptions)
PROPERTY(CompileOptions, preprocessorMacros, setPreprocessorMacros)
PROPERTY(CompileOptions, languageVersion, setLanguageVersion)
PROPERTY(CompileOptions, mathMode, setMathMode)
PROPERTY(CompileOptions, mathFloatingPointFunctions, setMathFloatingPointFunctions)
PROPERTY(CompileOptions, optimizationLevel, setOptimizationLevel)
PROPERTY(CompileOptions, compileSymbolVisibility, setCompileSymbolVisibility)
PROPERTY(CompileOptions, libraryType, setLibraryType)
PROPERTY(CompileOptions, libraries, setLibraries)
PROPERTY(CompileOptions, installName, setInstallName)
PROPERTY(CompileOptions, preserveInvariance, setPreserveInvariance)
PROPERTY(CompileOptions, allowReferencingUndefinedSymbols, setAllowReferencingUndefinedSymbols)
PROPERTY(CompileOptions, enableLogging, setEnableLogging)
PROPERTY(CompileOptions, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup)
PROPERTY(CompileOptions, requiredThreadsPerThreadgroup, setRequiredThreadsPerThreadgroup)

// The older switch for both: the mode, and the variant of the math functions.
bool CompileOptions::fastMathEnabled() const {
  return mathMode() == MathModeFast;
}

void CompileOptions::setFastMathEnabled(bool enabled) {
  setMathMode(enabled ? MathModeFast : MathModeSafe);
  setMathFloatingPointFunctions(enabled ? MathFloatingPointFunctionsFast : MathFloatingPointFunctionsPrecise);
}

}  // namespace MTL
