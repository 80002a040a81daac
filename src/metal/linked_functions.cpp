#include "metal/linked_functions.hpp"

#include <algorithm>

namespace metalloid::metal {
namespace {

void append(std::vector<NS::SharedPtr<FunctionObject>>& all, const NS::Array* functions) {
  for (NS::UInteger i = 0; i < functions->count(); ++i) {
    auto* function = dynamic_cast<FunctionObject*>(functions->object(i));
    const auto is_it = [&](const auto& other) { return other.get() == function; };
    if (function && std::ranges::none_of(all, is_it)) all.push_back(NS::RetainPtr(function));
  }
}

}  // namespace

std::vector<NS::SharedPtr<FunctionObject>> functions_of(const NS::Array* functions) {
  std::vector<NS::SharedPtr<FunctionObject>> all;
  append(all, functions);
  return all;
}

std::vector<NS::SharedPtr<FunctionObject>> functions_of(const LinkedFunctionsProperties& linked) {
  std::vector<NS::SharedPtr<FunctionObject>> all;
  append(all, linked.functions.get());
  append(all, linked.binaryFunctions.get());
  append(all, linked.privateFunctions.get());
  return all;
}

}  // namespace metalloid::metal

namespace MTL {

ALLOC(LinkedFunctions)
PROPERTY(LinkedFunctions, functions, setFunctions)
PROPERTY(LinkedFunctions, binaryFunctions, setBinaryFunctions)
PROPERTY(LinkedFunctions, privateFunctions, setPrivateFunctions)
PROPERTY(LinkedFunctions, groups, setGroups)

LinkedFunctions* LinkedFunctions::linkedFunctions() {
  return metalloid::foundation::autoreleased(alloc()->init());
}

}  // namespace MTL
