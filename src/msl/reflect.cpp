#include "msl/reflect.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "msl/attributes.hpp"
#include "msl/diagnostics.hpp"
#include "msl/reflect_type.hpp"

namespace metalloid::msl {

namespace {

constexpr uint32_t most_threads = 1024;

bool is_kernel(const clang::FunctionDecl* function) {
  return find_attribute(function, "metal_kernel").has_value();
}

bool is_visible(const clang::FunctionDecl* function) {
  return find_attribute(function, "visible") || find_attribute(function, "stitchable");
}

// Whether other files may call it.
bool is_external(const clang::FunctionDecl* function) {
  return function->isExternallyVisible() && !function->isInlined() && !function->isDependentContext() &&
         function->getTemplateSpecializationKind() == clang::TSK_Undeclared && !function->isDeleted() &&
         !function->isDefaulted();
}

// Finds the functions and constants that the source declares, in its order. What came out of the precompiled standard
// library is not looked at: looking would load all of it.
class Finder {
 public:
  explicit Finder(bool for_linking) : for_linking_(for_linking) {}

  void visit(const clang::DeclContext* scope) {
    for (clang::Decl* declaration : scope->noload_decls()) {
      if (declaration->isFromASTFile()) continue;
      if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
        if (function->isThisDeclarationADefinition()) add(function);
      } else if (auto* function_template = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
        add_instantiations(function_template);
      } else if (auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
        if (find_attribute(variable, "function_constant")) constants.push_back(variable);
        if (grid_value_of(variable) != GridValue::none) grid_variables.push_back(variable);
        variables.push_back(variable);
      } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::ExportDecl>(declaration)) {
        visit(llvm::cast<clang::DeclContext>(declaration));
      } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(declaration)) {
        if (!record->isDependentContext()) visit(record);
      }
    }
  }

  std::vector<clang::FunctionDecl*> functions;
  std::vector<clang::VarDecl*> constants;
  std::vector<clang::VarDecl*> grid_variables;
  std::vector<clang::VarDecl*> variables;  // all of program scope, the constants too

 private:
  // Explicit instantiations and specialisations only: one kernel calling another makes no function of the library.
  void add_instantiations(clang::FunctionTemplateDecl* function_template) {
    if (!function_template->isThisDeclarationADefinition()) return;
    for (clang::FunctionDecl* function : function_template->specializations())
      if (function->getTemplateSpecializationKind() != clang::TSK_ImplicitInstantiation) add(function);
  }

  void add(clang::FunctionDecl* function) {
    if (is_kernel(function) || is_visible(function) || (for_linking_ && is_external(function)))
      functions.push_back(function);
  }

  const bool for_linking_;
};

class Reflector {
 public:
  explicit Reflector(clang::Sema& sema) : sema_(sema), context_(sema.Context) {}

  Reflection run(bool for_linking) {
    Finder finder(for_linking);
    finder.visit(context_.getTranslationUnitDecl());
    const auto in_source_order = [&](const clang::Decl* a, const clang::Decl* b) {
      return sema_.SourceMgr.isBeforeInTranslationUnit(a->getLocation(), b->getLocation());
    };
    std::stable_sort(finder.functions.begin(), finder.functions.end(), in_source_order);
    for (const clang::VarDecl* variable : finder.variables) check_variable(variable);
    for (const clang::VarDecl* constant : finder.constants) add_constant(constant);
    if (!result_.constants.empty()) find_optional_constants();
    for (clang::FunctionDecl* function : finder.functions)
      if (is_kernel(function) || is_visible(function))
        add_function(function, finder.grid_variables);
      else
        add_external(function);
    return std::move(result_);
  }

 private:
  void check_variable(const clang::VarDecl* variable) {
    variable_names_.insert(variable->getNameAsString());
    const clang::QualType type = context_.getBaseElementType(variable->getType());
    if (type->isDependentType() || variable->isConstexpr() || type->isReferenceType()) return;
    for (const char* argument : {"buffer", "texture", "sampler"})
      if (find_attribute(variable, argument))
        return error(variable->getLocation(), "'" + variable->getNameAsString() + "' has [[" + argument +
                                                  "]] outside of functions, which is not supported: make it a "
                                                  "parameter of the kernel");
    const clang::LangAS space = variable->getType().getAddressSpace();
    if (space == clang::LangAS::sycl_global_device || (space == clang::LangAS::Default && type.isConstQualified()))
      return;
    error(variable->getLocation(),
          "'" + variable->getNameAsString() +
              "' must be in the constant address space, like every variable outside of functions");
  }

  void add_constant(const clang::VarDecl* variable) {
    FunctionConstant constant;
    constant.name = name_in_library(variable);
    constant.index = static_cast<uint32_t>(find_number(variable, "function_constant").value_or(0));
    constant.data_type = reflect_type(sema_, variable->getType()).data_type;
    if (!is_scalar_or_vector(constant.data_type))
      error(variable->getLocation(), "function constant '" + constant.name + "' must be a scalar or a vector");
    const auto same_index = [&](const FunctionConstant& other) { return other.index == constant.index; };
    const auto other = std::find_if(result_.constants.begin(), result_.constants.end(), same_index);
    if (other == result_.constants.end()) {
      result_.constants.push_back(std::move(constant));
    } else if (other->name != constant.name) {
      error(variable->getLocation(), "function constants '" + other->name + "' and '" + constant.name +
                                         "' both have index " + std::to_string(constant.index));
    }
  }

  static bool is_scalar_or_vector(DataType type) {
    return type != DataType::none && type != DataType::structure && type != DataType::array &&
           type != DataType::texture && type != DataType::sampler && type != DataType::pointer &&
           !(type >= DataType::float2x2 && type <= DataType::float4x4) &&
           !(type >= DataType::half2x2 && type <= DataType::half4x4);
  }

  // Those that the source asks about with is_function_constant_defined() need no value.
  void find_optional_constants() {
    class Visitor : public clang::RecursiveASTVisitor<Visitor> {
     public:
      bool VisitCallExpr(clang::CallExpr* call) {
        const clang::FunctionDecl* called = call->getDirectCallee();
        if (!called || call->getNumArgs() != 1 || !called->getIdentifier() ||
            called->getName() != "__metal_is_function_constant_defined")
          return true;
        const auto* address = llvm::dyn_cast<clang::UnaryOperator>(call->getArg(0)->IgnoreParenImpCasts());
        if (!address) return true;
        if (const auto* constant = llvm::dyn_cast<clang::DeclRefExpr>(address->getSubExpr()->IgnoreParenImpCasts()))
          asked.insert(name_in_library(constant->getDecl()));
        return true;
      }
      std::set<std::string> asked;
    };
    Visitor visitor;
    for (clang::Decl* declaration : context_.getTranslationUnitDecl()->noload_decls())
      if (!declaration->isFromASTFile()) visitor.TraverseDecl(declaration);
    for (FunctionConstant& constant : result_.constants) constant.required = !visitor.asked.contains(constant.name);
  }

  void add_function(clang::FunctionDecl* declaration, llvm::ArrayRef<clang::VarDecl*> grid_variables) {
    Function function;
    function.source_name = name_in_library(declaration);
    function.name = find_attribute(declaration, "host_name").value_or(function.source_name);
    function.kind = is_kernel(declaration) ? FunctionKind::kernel : FunctionKind::visible;
    function.location = location(declaration);
    if (const auto limit = find_number(declaration, "max_total_threads_per_threadgroup"))
      function.max_total_threads_per_threadgroup = static_cast<uint32_t>(*limit);
    if (const auto limit = function.max_total_threads_per_threadgroup; limit && (*limit == 0 || *limit > most_threads))
      error(declaration->getLocation(),
            "'max_total_threads_per_threadgroup' must be between 1 and " + std::to_string(most_threads));
    if (!names_.insert(function.name).second) {
      // The same explicit instantiation may stand in a source twice; two functions under one name may not.
      if (find_same(declaration)) return;
      error(declaration->getLocation(),
            "a function named '" + function.name + "' is already in this library; give each its own host_name");
      return;
    }
    if (function.kind == FunctionKind::kernel && !declaration->getReturnType()->isVoidType())
      error(declaration->getLocation(), "kernel '" + function.source_name + "' must return void");
    for (const clang::ParmVarDecl* parameter : declaration->parameters())
      function.parameters.push_back(reflect_parameter(function, parameter));
    if (function.kind == FunctionKind::kernel) {
      assign_indices(function, declaration);
      for (const clang::VarDecl* variable : grid_variables)
        function.parameters.push_back(reflect_grid_value(variable, name_in_library(variable)));
    }
    result_.functions.push_back(std::move(function));
    result_.declarations.push_back(declaration);
  }

  void add_external(clang::FunctionDecl* declaration) {
    Function function;
    function.name = clang::ASTNameGenerator(context_).getName(declaration);
    function.source_name = declaration->getQualifiedNameAsString();
    function.kind = FunctionKind::external;
    function.location = location(declaration);
    result_.functions.push_back(std::move(function));
    result_.declarations.push_back(declaration);
  }

  bool find_same(const clang::FunctionDecl* declaration) const {
    return llvm::any_of(result_.declarations, [&](const clang::FunctionDecl* other) {
      return other->getCanonicalDecl() == declaration->getCanonicalDecl();
    });
  }

  Parameter reflect_parameter(const Function& function, const clang::ParmVarDecl* declaration) {
    if (grid_value_of(declaration) != GridValue::none)
      return reflect_grid_value(declaration, declaration->getNameAsString());
    Parameter parameter;
    parameter.name = declaration->getNameAsString();
    clang::QualType type = declaration->getOriginalType().getNonReferenceType();
    if (const auto constant = find_attribute(declaration, "function_constant"))
      depend_on_constant(parameter, declaration, *constant);
    // Arrays of resources: array<texture2d<float>, 4>, or a C array of them.
    while (true) {
      if (const auto* array = context_.getAsConstantArrayType(type)) {
        parameter.array_length *= static_cast<uint32_t>(array->getSize().getZExtValue());
        type = array->getElementType();
      } else if (const auto standard = stdlib_type(type); standard.name == "array" && standard.arguments.size() == 2) {
        parameter.array_length *= static_cast<uint32_t>(standard.arguments[1].getAsIntegral().getZExtValue());
        type = standard.arguments[0].getAsType();
      } else {
        break;
      }
    }
    switch (resource_of(type)) {
      case Resource::texture:
        parameter.kind = ParameterKind::texture;
        break;
      case Resource::sampler:
        parameter.kind = ParameterKind::sampler;
        break;
      case Resource::visible_function_table:
        parameter.kind = ParameterKind::visible_function_table;
        break;
      case Resource::none:
        parameter.array_length = 1;
        reflect_memory(function, declaration, parameter);
        return parameter;
    }
    parameter.type = reflect_type(sema_, type);
    parameter.access = parameter.type.access;
    return parameter;
  }

  Parameter reflect_grid_value(const clang::VarDecl* variable, std::string name) {
    Parameter parameter;
    parameter.name = std::move(name);
    parameter.grid_value = grid_value_of(variable);
    parameter.kind = ParameterKind::grid_value;
    parameter.type = reflect_type(sema_, variable->getType().getUnqualifiedType());
    check_grid_value(variable, parameter);
    return parameter;
  }

  void depend_on_constant(Parameter& parameter, const clang::ParmVarDecl* declaration, const std::string& name) {
    const std::string last = name.substr(name.rfind(':') + 1);
    if (!variable_names_.contains(last))
      error(declaration->getLocation(),
            "'" + name + "' in the attribute of '" + declaration->getNameAsString() + "' is not a function constant");
    parameter.function_constant = name;
    // From within its namespace it needs no more than its last name.
    for (const FunctionConstant& constant : result_.constants)
      if (constant.name == name || llvm::StringRef(constant.name).ends_with("::" + name)) {
        parameter.function_constant = constant.name;
        parameter.function_constant_index = constant.index;
      }
  }

  // A pointer or reference into device, constant or threadgroup memory.
  void reflect_memory(const Function& function, const clang::ParmVarDecl* declaration, Parameter& parameter) {
    const clang::QualType type = declaration->getType();
    const clang::QualType pointee = type->getPointeeType();
    if (pointee.isNull()) {
      parameter.kind = ParameterKind::value;
      parameter.type = reflect_type(sema_, type);
      const auto* record = type->getAsCXXRecordDecl();
      if (record && llvm::StringRef(record->getQualifiedNameAsString()).starts_with("metal::raytracing::"))
        error(declaration->getLocation(),
              "parameter '" + parameter.name + "' is for ray tracing, which no device here has");
      else if (function.kind == FunctionKind::kernel)
        error(declaration->getLocation(),
              "parameter '" + parameter.name +
                  "' of a kernel must be a buffer (a pointer or reference in device, constant or threadgroup memory), "
                  "a texture, a sampler, or have an attribute such as [[thread_position_in_grid]]");
      return;
    }
    parameter.type = reflect_type(sema_, pointee);
    parameter.access = pointee.isConstQualified() ? Access::read : Access::read_write;
    switch (pointee.getAddressSpace()) {
      case clang::LangAS::sycl_global:
        parameter.kind = ParameterKind::buffer;
        return;
      case clang::LangAS::sycl_global_device:
        parameter.kind = ParameterKind::buffer;
        parameter.constant_memory = true;
        parameter.access = Access::read;
        return;
      case clang::LangAS::sycl_local:
        parameter.kind = ParameterKind::threadgroup_memory;
        return;
      default:
        break;
    }
    parameter.kind = ParameterKind::value;
    if (function.kind == FunctionKind::kernel)
      error(declaration->getLocation(),
            "parameter '" + parameter.name +
                "' of a kernel must name its address space: device, constant or threadgroup");
  }

  void check_grid_value(const clang::VarDecl* declaration, const Parameter& parameter) {
    const unsigned most = is_scalar(parameter.grid_value) ? 1 : 3;
    // Apple's compiler takes the signed ones with a warning; the value is the same.
    for (DataType first : {DataType::ushort1, DataType::uint1, DataType::ulong1, DataType::int1, DataType::short1}) {
      const int more = static_cast<int>(parameter.type.data_type) - static_cast<int>(first);
      if (more >= 0 && more < static_cast<int>(most)) return;
    }
    error(declaration->getLocation(), "'" + to_string(parameter.grid_value) + "' must be ushort or uint" +
                                          (most == 1 ? "" : ", or a vector of two or three of them"));
  }

  static bool is_scalar(GridValue value) {
    switch (value) {
      case GridValue::thread_index_in_threadgroup:
      case GridValue::thread_index_in_simdgroup:
      case GridValue::thread_index_in_quadgroup:
      case GridValue::simdgroup_index_in_threadgroup:
      case GridValue::simdgroups_per_threadgroup:
      case GridValue::dispatch_simdgroups_per_threadgroup:
      case GridValue::threads_per_simdgroup:
      case GridValue::thread_execution_width:
      case GridValue::quadgroup_index_in_threadgroup:
      case GridValue::quadgroups_per_threadgroup:
      case GridValue::dispatch_quadgroups_per_threadgroup:
        return true;
      default:
        return false;
    }
  }

  // Metal's rule: an argument without an index takes the lowest one of its kind that is free, in order.
  void assign_indices(Function& function, const clang::FunctionDecl* declaration) {
    struct Space {
      const char* resource;
      const char* attribute;
      uint32_t limit;
      std::map<uint32_t, const Parameter*> used;
    };
    std::map<ParameterKind, Space> spaces;
    spaces[ParameterKind::buffer] = {"a buffer", "buffer", 31, {}};
    spaces[ParameterKind::texture] = {"a texture", "texture", 128, {}};
    spaces[ParameterKind::sampler] = {"a sampler", "sampler", 16, {}};
    spaces[ParameterKind::threadgroup_memory] = {"threadgroup memory", "threadgroup", 31, {}};
    const auto space_of = [&](const Parameter& parameter) -> Space* {
      const auto kind =
          parameter.kind == ParameterKind::visible_function_table ? ParameterKind::buffer : parameter.kind;
      const auto space = spaces.find(kind);
      return space == spaces.end() ? nullptr : &space->second;
    };
    std::vector<size_t> unnumbered;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      Parameter& parameter = function.parameters[i];
      Space* space = space_of(parameter);
      if (!space) continue;
      const clang::ParmVarDecl* written = declaration->getParamDecl(i);
      for (const auto& [kind, other] : spaces)
        if (&other != space && find_attribute(written, other.attribute))
          error(written->getLocation(), "'" + parameter.name + "' is " + space->resource + ": its index is written [[" +
                                            space->attribute + "(n)]], not [[" + other.attribute + "(n)]]");
      const auto index = find_number(written, space->attribute);
      if (!index) {
        unnumbered.push_back(i);
        continue;
      }
      parameter.index = static_cast<uint32_t>(*index);
      if (*index + parameter.array_length > space->limit) {
        error(written->getLocation(), "'" + std::string(space->attribute) + "' index " + std::to_string(*index) +
                                          " is too large: the last one is " + std::to_string(space->limit - 1));
        continue;
      }
      for (uint32_t k = 0; k < parameter.array_length; ++k) {
        const auto [other, is_free] = space->used.emplace(parameter.index + k, &parameter);
        // Two optional arguments may share an index: the function constants choose one.
        if (is_free || !parameter.function_constant.empty() || !other->second->function_constant.empty()) continue;
        error(written->getLocation(), "'" + other->second->name + "' and '" + parameter.name + "' both have " +
                                          space->attribute + " index " + std::to_string(parameter.index + k));
        break;
      }
    }
    for (size_t i : unnumbered) {
      Parameter& parameter = function.parameters[i];
      Space* space = space_of(parameter);
      uint32_t index = 0;
      const auto taken = [&] {
        for (uint32_t k = 0; k < parameter.array_length; ++k)
          if (space->used.contains(index + k)) return true;
        return false;
      };
      while (index + uint64_t{parameter.array_length} <= space->limit && taken()) ++index;
      if (index + uint64_t{parameter.array_length} > space->limit) {
        error(declaration->getParamDecl(i)->getLocation(), "no " + std::string(space->attribute) +
                                                               " index is left for '" + parameter.name +
                                                               "': there are " + std::to_string(space->limit));
        return;
      }
      parameter.index = index;
      for (uint32_t k = 0; k < parameter.array_length; ++k) space->used.emplace(index + k, &parameter);
    }
  }

  SourceLocation location(const clang::Decl* declaration) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(declaration->getLocation()));
    if (place.isInvalid()) return {};
    return {place.getFilename(), place.getLine(), place.getColumn()};
  }

  void error(clang::SourceLocation at, const std::string& message) {
    report_error(sema_.getDiagnostics(), at, message);
  }

  clang::Sema& sema_;
  clang::ASTContext& context_;
  Reflection result_;
  std::set<std::string> names_;
  std::set<std::string> variable_names_;
};

}  // namespace

std::string name_in_library(const clang::NamedDecl* declaration) {
  clang::PrintingPolicy policy = declaration->getASTContext().getPrintingPolicy();
  policy.SuppressUnwrittenScope = true;
  std::string name;
  llvm::raw_string_ostream stream(name);
  declaration->printQualifiedName(stream, policy);
  return name;
}

GridValue grid_value_of(const clang::VarDecl* variable) {
  GridValue value = GridValue::none;
  for_each_attribute(variable, [&](llvm::StringRef name, const std::string&) {
    if (value == GridValue::none) value = grid_value_named(name.str());
  });
  return value;
}

Reflection reflect(clang::Sema& sema, bool for_linking) {
  return Reflector(sema).run(for_linking);
}

}  // namespace metalloid::msl
