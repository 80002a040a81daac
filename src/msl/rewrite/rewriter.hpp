// Metal source becomes C++ that Clang's SYCL-device mode parses, on the level of tokens: the preprocessor's output goes
// in, edited tokens come out, and whatever Clang says about them points at the user's own text.
//
// What the result asks of its surroundings:
// - the keyword `kernel` and the attribute [[kernel]] are the attribute metal_kernel, in GNU or C++11 spelling; every
//   other Metal attribute keeps its name and has either spelling; lone identifiers as arguments are parenthesised, so
//   that Clang reads them as expressions; function_constant on a parameter or member holds a name, as a string;
// - the standard library declares what <__metal_rewrite> describes;
// - explicit instantiations of entry points are declarations (`extern template`): their bodies are instantiated when
//   somebody asks for them.
#pragma once

#include <clang/Basic/SourceLocation.h>
#include <clang/Lex/Token.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include <string>
#include <vector>

namespace clang {
class Preprocessor;
}

namespace metalloid::msl {

// An entry point for another stage than compute, which has been cut out of the tokens.
struct GraphicsFunction {
  std::string name;
  std::string stage;  // "vertex", "fragment", "mesh", "object", "tile", "intersection", "tessellation"
  clang::SourceLocation location;
};

struct RewriteResult {
  std::vector<clang::Token> tokens;  // ends with eof
  std::vector<GraphicsFunction> graphics_functions;
};

// `tokens` is a whole translation unit and ends with eof. Tokens at locations for which `verbatim` is true (the
// standard library's own headers) are left as they are. Source that is not well-formed is left alone where it is not
// understood: complaining is Clang's business.
RewriteResult rewrite(clang::Preprocessor& preprocessor, llvm::ArrayRef<clang::Token> tokens,
                      llvm::function_ref<bool(clang::SourceLocation)> verbatim);

}  // namespace metalloid::msl
