// `T& operator[](size_t i) device;`: in Metal a member function says in which address space its object is, and a class
// repeats a member once per address space. Clang has such members in C++ for OpenCL only, yet all that is special there
// is the spelling: as soon as a member function's type names an address space, overload resolution, `this` and code
// generation follow it in every mode. The rewriter turns the qualifier into one of the attributes below, and these put
// the address space into the type. They are handled before Clang looks for earlier declarations of the function.
//
// Clang takes an object in the default address space for a function in another one as long as their qualifiers do not
// differ otherwise. So these functions are `restrict` too, which makes it look; and so are their overloads for objects
// in any address space, which would be neither better nor worse without it.
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/ParsedAttrInfo.h>
#include <clang/Sema/ParsedAttr.h>
#include <clang/Sema/Sema.h>
#include <llvm/ADT/StringSwitch.h>

namespace metalloid::msl {

namespace {

// Templates are instantiated from the type as it was written, which holds the parameters' declarations too.
void replace_type(clang::CXXMethodDecl* method, clang::QualType type) {
  clang::TypeSourceInfo* written = method->getTypeSourceInfo();
  if (written && written->getTypeLoc().getAs<clang::FunctionProtoTypeLoc>() == written->getTypeLoc()) {
    clang::TypeSourceInfo* replaced = method->getASTContext().CreateTypeSourceInfo(type);
    replaced->getTypeLoc().copy(written->getTypeLoc());
    method->setTypeSourceInfo(replaced);
  }
  method->setType(type);
}

struct ObjectSpace : clang::ParsedAttrInfo {
  static constexpr Spelling spellings[] = {{clang::ParsedAttr::AS_GNU, "metal_device_object"},
                                           {clang::ParsedAttr::AS_GNU, "metal_threadgroup_object"},
                                           {clang::ParsedAttr::AS_GNU, "metal_constant_object"},
                                           {clang::ParsedAttr::AS_GNU, "metal_any_object"}};

  ObjectSpace() { Spellings = spellings; }

  AttrHandling handleDeclAttribute(clang::Sema& sema, clang::Decl* declaration,
                                   const clang::ParsedAttr& attribute) const override {
    auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(declaration);
    const auto* type = method ? method->getType()->getAs<clang::FunctionProtoType>() : nullptr;
    if (!type || method->isStatic()) return AttributeNotApplied;
    const auto space = llvm::StringSwitch<clang::LangAS>(attribute.getAttrName()->getName())
                           .Case("metal_device_object", clang::LangAS::sycl_global)
                           .Case("metal_threadgroup_object", clang::LangAS::sycl_local)
                           .Case("metal_constant_object", clang::LangAS::sycl_global_device)
                           .Default(clang::LangAS::Default);
    clang::FunctionProtoType::ExtProtoInfo details = type->getExtProtoInfo();
    details.TypeQuals.setAddressSpace(space);
    details.TypeQuals.addRestrict();
    replace_type(method, sema.Context.getFunctionType(type->getReturnType(), type->getParamTypes(), details));
    return AttributeApplied;
  }
};

clang::ParsedAttrInfoRegistry::Add<ObjectSpace> registration("metal_object_space", "");

}  // namespace

}  // namespace metalloid::msl
