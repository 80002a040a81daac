// The rewrite rules, in the order in which they run. Each reads the tokens as the user wrote them and records edits; no
// rule sees another's edits, except for what has been cut.
#pragma once

#include <llvm/ADT/DenseSet.h>

#include "msl/rewrite/edits.hpp"
#include "msl/rewrite/outline.hpp"
#include "msl/rewrite/rewriter.hpp"
#include "msl/rewrite/token_stream.hpp"

namespace metalloid::msl {

struct Rewriting {
  clang::Preprocessor& preprocessor;
  const TokenStream& tokens;
  const Outline& outline;
  Edits& edits;
  RewriteResult& result;
  llvm::DenseSet<size_t> allocated_arrays = {};  // statements that declare threadgroup arrays of a size known late
};

void mark_entry_points(Rewriting&);                  // entry_points.cpp
void qualify_member_functions(Rewriting&);           // member_functions.cpp
void place_attributes(Rewriting&);                   // attributes.cpp
void declare_function_constants(Rewriting&);         // function_constants.cpp
void size_arrays_by_function_constants(Rewriting&);  // function_constants.cpp
void declare_grid_variables(Rewriting&);             // grid_variables.cpp
void make_locals_static(Rewriting&);                 // address_spaces.cpp
void spell_address_spaces(Rewriting&);               // address_spaces.cpp
void pass_arrays_as_pointers(Rewriting&);            // address_spaces.cpp
void drop_coherence(Rewriting&);                     // address_spaces.cpp
void spell_casts(Rewriting&);                        // casts.cpp
void load_conditional_operands(Rewriting&);          // conditionals.cpp
void type_literals(Rewriting&);                      // literals.cpp
void resolve_swizzles_in_templates(Rewriting&);      // swizzles.cpp
void place_strings_in_constant_memory(Rewriting&);   // strings.cpp

// Shared vocabulary.
bool is_address_space(llvm::StringRef word);
// Whether a declaration has an attribute with such a name, in front of what it declares or behind it.
bool has_attribute(const TokenStream& tokens, const Statement& statement,
                   llvm::function_ref<bool(llvm::StringRef name)> is_wanted);
// Whether the address space keyword at `i` qualifies the declared variable itself and not what it points or refers to.
bool qualifies_variable(const TokenStream& tokens, size_t i, size_t end);

}  // namespace metalloid::msl
