#include "msl/reachable.hpp"

#include <set>

#include "msl/air_symbols.hpp"
#include "msl/diagnostics.hpp"
#include "msl/file_system.hpp"

namespace metalloid::msl {

namespace {

class UseFinder : public clang::RecursiveASTVisitor<UseFinder> {
 public:
  UseFinder(clang::ASTContext& context, ReachabilityWalker::Uses& uses) : context_(context), uses_(uses) {}

  bool shouldVisitImplicitCode() const { return true; }

  // Not evaluated, so nothing in it is used.
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; }
  bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr*) { return true; }
  bool TraverseTypeLoc(clang::TypeLoc, bool = true) { return true; }

  bool TraverseIfStmt(clang::IfStmt* statement) {
    if (!statement->isConstexpr()) return RecursiveASTVisitor::TraverseIfStmt(statement);
    bool taken = false;
    if (!statement->getCond()->EvaluateAsBooleanCondition(taken, context_)) return true;
    if (statement->getInit()) TraverseStmt(statement->getInit());
    clang::Stmt* branch = taken ? statement->getThen() : statement->getElse();
    return branch ? TraverseStmt(branch) : true;
  }

  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    for (clang::Expr* captured : lambda->capture_inits())
      if (captured) TraverseStmt(captured);
    return true;  // its body is used if its call operator is
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl()))
      add(function, reference->getLocation());
    else if (auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      add(variable);
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* member) {
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(member->getMemberDecl())) {
      add(function, member->getMemberLoc());
      for (const clang::Expr* object = member->getBase(); object;) {
        objects_.insert(object);
        const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(object);
        object = cast ? cast->getSubExpr() : nullptr;
      }
    } else if (auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      add(variable);
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* expression) {
    add(expression->getConstructor(), expression->getLocation());
    add_destructor(expression->getType(), expression->getLocation());
    return true;
  }
  bool VisitCXXInheritedCtorInitExpr(clang::CXXInheritedCtorInitExpr* expression) {
    add(expression->getConstructor(), expression->getLocation());
    return true;
  }
  bool VisitCXXBindTemporaryExpr(clang::CXXBindTemporaryExpr* expression) {
    add_destructor(expression->getType(), expression->getBeginLoc());
    return true;
  }
  bool VisitCXXDefaultArgExpr(clang::CXXDefaultArgExpr* expression) { return TraverseStmt(expression->getExpr()); }
  bool VisitCXXDefaultInitExpr(clang::CXXDefaultInitExpr* expression) { return TraverseStmt(expression->getExpr()); }
  bool VisitVarDecl(clang::VarDecl* variable) {
    add_destructor(variable->getType(), variable->getLocation());
    if (!in_stdlib(context_.getSourceManager(), variable->getLocation())) check_local(variable);
    return true;
  }
  // The default address space takes pointers into the others, so that objects can be copied out of them and have their
  // member functions called; Metal's thread address space does not.
  bool VisitCastExpr(clang::CastExpr* cast) {
    if (cast->getCastKind() != clang::CK_AddressSpaceConversion || !cast->getType()->isPointerType()) return true;
    if (objects_.contains(cast)) return true;
    const clang::QualType from = cast->getSubExpr()->getType();
    const clang::QualType to = cast->getType();
    if (to->getPointeeType().getAddressSpace() != clang::LangAS::Default) return true;
    if (in_stdlib(context_.getSourceManager(), cast->getExprLoc())) return true;
    return error(cast->getExprLoc(),
                 "'" + from.getAsString() + "' cannot become a pointer into the thread address space");
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* called = call->getDirectCallee();
    if (!called || in_stdlib(context_.getSourceManager(), called->getLocation())) return true;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(called);
    if (method && (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator())) return true;
    const unsigned first = llvm::isa<clang::CXXOperatorCallExpr>(call) && method ? 1 : 0;
    for (unsigned i = first; i < call->getNumArgs(); ++i) {
      const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(call->getArg(i));
      if (!cast || !cast->isGLValue() || cast->getCastKind() != clang::CK_AddressSpaceConversion) continue;
      const clang::QualType from = cast->getSubExpr()->getType();
      error(cast->getExprLoc(),
            "'" + from.getAsString() + "' cannot be passed as a reference into the thread address space");
    }
    return true;
  }

  bool VisitGCCAsmStmt(clang::GCCAsmStmt* statement) {
    return error(statement->getAsmLoc(), "inline assembly is not part of Metal");
  }
  bool VisitMSAsmStmt(clang::MSAsmStmt* statement) {
    return error(statement->getAsmLoc(), "inline assembly is not part of Metal");
  }

 private:
  bool error(clang::SourceLocation at, std::string message) {
    uses_.errors.emplace_back(std::move(message), at);
    return true;
  }

  void check_local(clang::VarDecl* variable) {
    const clang::QualType type = variable->getType();
    const std::string name = "'" + variable->getNameAsString() + "'";
    if (variable->isStaticLocal()) {
      const clang::LangAS space = type.getAddressSpace();
      if (space == clang::LangAS::sycl_local) {
        check_threadgroup_variable(variable, name);
      } else if (space == clang::LangAS::Default && !context_.getBaseElementType(type).isConstQualified()) {
        error(variable->getLocation(),
              "Metal has no static variable that changes: " + name + " must be const, or in threadgroup memory");
      }
    }
    if (const auto* array = context_.getAsVariableArrayType(type); array && array->getSizeExpr())
      if (const std::string unknown = unknown_in(array->getSizeExpr()); !unknown.empty())
        error(variable->getLocation(),
              "the size of array " + name + " depends on '" + unknown + "', which is no constant");
  }

  // Threadgroup memory starts with no particular value and no thread runs constructors for the others. Where a constant
  // is written all the same, it is kept: a device stores it before a threadgroup starts.
  void check_threadgroup_variable(clang::VarDecl* variable, const std::string& name) {
    clang::Expr* initializer = variable->getInit();
    if (!initializer || is_default(initializer)) {
      variable->setInit(nullptr);
      variable->addAttr(clang::LoaderUninitializedAttr::CreateImplicit(context_));
    } else if (!initializer->isConstantInitializer(context_, /*ForRef=*/false)) {
      error(variable->getLocation(), name + " is in threadgroup memory: its initializer must be a constant");
      variable->setInit(nullptr);
    }
  }

  // What a variable of a class type gets when nothing is written.
  static bool is_default(const clang::Expr* initializer) {
    const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(initializer->IgnoreImplicit());
    return construct && construct->getNumArgs() == 0;
  }

  // The name of a variable in the expression that has no value before the kernel runs.
  std::string unknown_in(const clang::Stmt* expression) const {
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      if (!variable || (variable->hasGlobalStorage() && variable->getType().isConstQualified())) return "";
      if (variable->getType().isConstQualified() && variable->getInit()) return unknown_in(variable->getInit());
      return variable->getNameAsString();
    }
    for (const clang::Stmt* part : expression->children()) {
      if (!part) continue;
      if (std::string unknown = unknown_in(part); !unknown.empty()) return unknown;
    }
    return "";
  }

  void add(clang::FunctionDecl* function, clang::SourceLocation at) { uses_.functions.emplace_back(function, at); }
  void add(clang::VarDecl* variable) {
    if (variable->hasGlobalStorage() && !variable->isStaticLocal()) uses_.variables.push_back(variable);
  }
  void add_destructor(clang::QualType type, clang::SourceLocation at) {
    const auto* record = context_.getBaseElementType(type)->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition() || record->hasTrivialDestructor()) return;
    if (auto* destructor = record->getDestructor()) add(destructor, at);
  }

  clang::ASTContext& context_;
  ReachabilityWalker::Uses& uses_;
  std::set<const clang::Expr*> objects_;  // those whose member functions are called
};

// A function that a device supplies: declared by the standard library with the symbol of a builtin.
bool is_builtin(const clang::FunctionDecl* function) {
  if (function->getBuiltinID() != 0) return true;
  const auto* label = function->getAttr<clang::AsmLabelAttr>();
  return label && label->getLabel().starts_with("metal.");
}

}  // namespace

Reachable ReachabilityWalker::from(clang::FunctionDecl* function) {
  seen_functions_.clear();
  seen_variables_.clear();
  result_ = {};
  seen_functions_.insert(function->getCanonicalDecl());
  visit(function);
  return std::move(result_);
}

void ReachabilityWalker::visit(clang::FunctionDecl* function) {
  result_.functions.push_back(function);
  follow(uses_of(function, function->getBody()));
}

void ReachabilityWalker::visit(clang::VarDecl* variable) {
  clang::VarDecl* definition = variable->getDefinition();
  if (!definition) definition = variable;
  if (!seen_variables_.insert(definition->getCanonicalDecl()).second) return;
  if (clang::Expr* initializer = definition->getInit()) follow(uses_of(definition, initializer));
  result_.variables.push_back(definition);
}

void ReachabilityWalker::follow(const Uses& uses) {
  for (const auto& [message, at] : uses.errors) report_error(sema_.getDiagnostics(), at, message);
  for (clang::VarDecl* variable : uses.variables) visit(variable);
  for (auto [called, at] : uses.functions) {
    if (!seen_functions_.insert(called->getCanonicalDecl()).second) continue;
    const clang::FunctionDecl* definition = nullptr;
    if (called->isDefined(definition)) {
      visit(const_cast<clang::FunctionDecl*>(definition));
    } else if (clang::FunctionDecl* known = find_air_function(called)) {
      if (seen_functions_.insert(known->getCanonicalDecl()).second) visit(known);
    } else if (is_builtin(called) || called->isTrivial() || called->isDefaulted()) {
      continue;
    } else if (for_linking_ && called->isExternallyVisible() && !called->hasAttr<clang::AsmLabelAttr>() &&
               !called->isTemplateInstantiation()) {
      result_.undefined.push_back(called);
    } else {
      error(at, "'" + called->getNameAsString() + "' is declared but has no definition");
    }
  }
}

const ReachabilityWalker::Uses& ReachabilityWalker::uses_of(clang::Decl* declaration, clang::Stmt* body) {
  const auto [entry, is_new] = remembered_.try_emplace(declaration);
  if (!is_new) return entry->second;
  UseFinder finder(sema_.Context, entry->second);
  if (auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(declaration)) {
    for (const clang::CXXCtorInitializer* initializer : constructor->inits())
      if (initializer->getInit()) finder.TraverseStmt(initializer->getInit());
  }
  if (auto* function = llvm::dyn_cast<clang::CXXDestructorDecl>(declaration)) {
    for (const clang::FieldDecl* field : function->getParent()->fields())
      if (auto* record = field->getType()->getAsCXXRecordDecl(); record && !record->hasTrivialDestructor())
        if (auto* destructor = record->getDestructor())
          entry->second.functions.emplace_back(destructor, field->getLocation());
  }
  if (body) finder.TraverseStmt(body);
  return entry->second;
}

void ReachabilityWalker::error(clang::SourceLocation at, const std::string& message) {
  report_error(sema_.getDiagnostics(), at, message);
}

}  // namespace metalloid::msl
