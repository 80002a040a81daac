#include "msl/iterations.hpp"

#include <algorithm>

namespace metalloid::msl {

namespace {

constexpr llvm::StringLiteral clean_up_name = "__metal_end_iteration";  // in <metal_simdgroup>

bool is_loop(const clang::Stmt* statement) {
  return llvm::isa<clang::WhileStmt, clang::DoStmt, clang::ForStmt, clang::CXXForRangeStmt>(statement);
}

// What a statement consists of; a lambda's body is a function of its own.
template <class Predicate>
bool any_part(const clang::Stmt* statement, Predicate predicate) {
  return !llvm::isa<clang::LambdaExpr>(statement) &&
         llvm::any_of(statement->children(), [&](const clang::Stmt* part) { return part && predicate(part); });
}

// Whether the statement can leave the loop that it stands in, from which a break is one or not.
bool leaves(const clang::Stmt* statement, bool by_break = true) {
  if (llvm::isa<clang::ReturnStmt, clang::GotoStmt, clang::IndirectGotoStmt>(statement)) return true;
  if (llvm::isa<clang::BreakStmt>(statement)) return by_break;
  by_break &= !is_loop(statement) && !llvm::isa<clang::SwitchStmt>(statement);
  return any_part(statement, [&](const clang::Stmt* part) { return leaves(part, by_break); });
}

// Functions that call a SIMD-group or quad function, or may as far as this file knows, and those that call them.
class MeetingFunctions {
 public:
  explicit MeetingFunctions(const Reachable& reachable) {
    for (const clang::FunctionDecl* unknown : reachable.undefined) meeting_.insert(unknown->getCanonicalDecl());
    for (bool grew = true; grew;) {
      grew = false;
      for (const clang::FunctionDecl* function : reachable.functions)
        if (!meeting_.contains(function->getCanonicalDecl()) && function->getBody() && calls(function->getBody()))
          grew |= meeting_.insert(function->getCanonicalDecl()).second;
    }
  }

  // Whether the statement contains a call of one; what is called through a pointer may be one.
  bool calls(const clang::Stmt* statement) const {
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
      const clang::FunctionDecl* called = call->getDirectCallee();
      if (!called || meeting_.contains(called->getCanonicalDecl()) || is_group_function(*called)) return true;
    }
    return any_part(statement, [&](const clang::Stmt* part) { return calls(part); });
  }

 private:
  static bool is_group_function(const clang::FunctionDecl& function) {
    const auto* label = function.getAttr<clang::AsmLabelAttr>();
    return label && (label->getLabel().starts_with("metal.simd_") || label->getLabel().starts_with("metal.quad_"));
  }

  std::set<const clang::FunctionDecl*> meeting_;
};

class LoopFinder : public clang::RecursiveASTVisitor<LoopFinder> {
 public:
  LoopFinder(clang::ASTContext& context, clang::FunctionDecl* function, const MeetingFunctions& meeting,
             clang::FunctionDecl* clean_up)
      : context_(context), function_(function), meeting_(meeting), clean_up_(clean_up) {}

  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool VisitWhileStmt(clang::WhileStmt* loop) { return visit(loop); }
  bool VisitDoStmt(clang::DoStmt* loop) { return visit(loop); }
  bool VisitForStmt(clang::ForStmt* loop) { return visit(loop); }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) { return visit(loop); }

  bool found() const { return found_; }

 private:
  template <class Loop>
  bool visit(Loop* loop) {
    clang::Stmt* body = loop->getBody();
    const bool has_end = ends(body);
    if (!has_end && meeting_.calls(body) && is_apart(body)) loop->setBody(with_end(body));
    found_ |= has_end || loop->getBody() != body;
    return true;
  }

  // Whether lanes of a loop may meet in code that not every iteration comes to, from which they then leave: at once, or
  // because the loop's condition says so, which optimisation tests there and then. What all come to can lead back.
  bool is_apart(const clang::Stmt* statement) const {
    if (llvm::isa<clang::CompoundStmt>(statement))
      return any_part(statement, [&](const clang::Stmt* part) { return is_apart(part); });
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement))
      return meeting_.calls(branch->getThen()) || (branch->getElse() && meeting_.calls(branch->getElse()));
    if (llvm::isa<clang::SwitchStmt>(statement)) return meeting_.calls(statement);
    if (is_loop(statement)) return any_part(statement, [&](const clang::Stmt* part) { return is_apart(part); });
    return leaves(statement);
  }

  bool ends(const clang::Stmt* body) const {
    const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(body);
    const auto* first =
        compound && !compound->body_empty() ? llvm::dyn_cast<clang::DeclStmt>(compound->body_front()) : nullptr;
    const auto* attribute =
        first && first->isSingleDecl() ? first->getSingleDecl()->getAttr<clang::CleanupAttr>() : nullptr;
    return attribute && attribute->getFunctionDecl() == clean_up_;
  }

  clang::Stmt* with_end(clang::Stmt* body) {
    const clang::SourceLocation begin = body->getBeginLoc(), end = body->getEndLoc();
    const clang::QualType type = context_.CharTy;
    auto* variable = clang::VarDecl::Create(context_, function_, begin, begin, &context_.Idents.get("iteration"), type,
                                            context_.getTrivialTypeSourceInfo(type, begin), clang::SC_None);
    variable->setImplicit();
    variable->setIsUsed();
    variable->addAttr(clang::CleanupAttr::CreateImplicit(context_, clean_up_));
    clang::Stmt* declaration = new (context_) clang::DeclStmt(clang::DeclGroupRef(variable), begin, begin);
    return clang::CompoundStmt::Create(context_, {declaration, body}, clang::FPOptionsOverride(), begin, end);
  }

  clang::ASTContext& context_;
  clang::FunctionDecl* const function_;
  const MeetingFunctions& meeting_;
  clang::FunctionDecl* const clean_up_;
  bool found_ = false;
};

// Null without <metal_simdgroup>, where there is nothing to meet in.
clang::FunctionDecl* find_clean_up(clang::ASTContext& context) {
  const auto found = context.getTranslationUnitDecl()->lookup(&context.Idents.get(clean_up_name));
  return found.empty() ? nullptr : llvm::dyn_cast<clang::FunctionDecl>(found.front());
}

}  // namespace

void end_iterations(clang::ASTContext& context, Reachable& reachable) {
  clang::FunctionDecl* clean_up = find_clean_up(context);
  if (!clean_up) return;
  const MeetingFunctions meeting(reachable);
  bool found = false;
  for (clang::FunctionDecl* function : reachable.functions) {
    LoopFinder finder(context, function, meeting, clean_up);
    if (function->getBody()) finder.TraverseStmt(function->getBody());
    found |= finder.found();
  }
  if (found) reachable.functions.push_back(clean_up);
}

}  // namespace metalloid::msl
