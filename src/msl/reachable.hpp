// What a function's code consists of: all functions it can call and all variables it can use, found by walking their
// bodies. On the way it reports, at the place where it happens, what cannot be compiled: a call of a function that is
// defined nowhere, inline assembly, a pointer that changes its address space, a local variable that Metal does
// not have.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

struct Reachable {
  std::vector<clang::FunctionDecl*> functions;  // definitions, the starting one first
  std::vector<clang::VarDecl*> variables;       // of program scope
  std::vector<clang::FunctionDecl*> undefined;  // that another file may define
};

class ReachabilityWalker {
 public:
  ReachabilityWalker(clang::Sema& sema, bool for_linking) : sema_(sema), for_linking_(for_linking) {}

  Reachable from(clang::FunctionDecl* function);

  // What one body refers to. Remembered, since kernels share most of what they call.
  struct Uses {
    std::vector<std::pair<clang::FunctionDecl*, clang::SourceLocation>> functions;
    std::vector<clang::VarDecl*> variables;
    std::vector<std::pair<std::string, clang::SourceLocation>> errors;
  };

 private:
  const Uses& uses_of(clang::Decl* declaration, clang::Stmt* body);
  void visit(clang::FunctionDecl* function);
  void visit(clang::VarDecl* variable);
  void follow(const Uses& uses);
  void error(clang::SourceLocation at, const std::string& message);

  clang::Sema& sema_;
  const bool for_linking_;
  std::map<const clang::Decl*, Uses> remembered_;
  std::set<const clang::FunctionDecl*> seen_functions_;
  std::set<const clang::VarDecl*> seen_variables_;
  Reachable result_;
};

}  // namespace metalloid::msl
