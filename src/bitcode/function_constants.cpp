#include "bitcode/function_constants.hpp"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/CtorUtils.h>
#include <llvm/Transforms/Utils/Evaluator.h>

#include <algorithm>

#include "bitcode/fold.hpp"

namespace metalloid::bitcode {

namespace {

constexpr llvm::StringLiteral prefix = "metal.function_constant.";

// The constant of a type whose bytes in memory are these.
llvm::Constant* constant_from_bytes(llvm::Type* type, std::span<const uint8_t> bytes, const llvm::DataLayout& layout) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Constant*> members;
    const llvm::StructLayout* places = layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      members.push_back(
          constant_from_bytes(structure->getElementType(i), bytes.subspan(places->getElementOffset(i)), layout));
    return llvm::ConstantStruct::get(structure, members);
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    llvm::SmallVector<llvm::Constant*> elements;
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); ++i)
      elements.push_back(constant_from_bytes(array->getElementType(), bytes.subspan(i * stride), layout));
    return llvm::ConstantArray::get(array, elements);
  }
  const unsigned bits = layout.getTypeStoreSizeInBits(type);
  llvm::APInt value(bits, 0);
  for (unsigned i = 0; i < bits / 8; ++i) value |= llvm::APInt(bits, bytes[i]) << (8 * i);
  if (type->isIntegerTy()) return llvm::ConstantInt::get(type, value.trunc(type->getIntegerBitWidth()));
  return llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), value));
}

// The program's booleans are bytes that may hold anything; those of the code are 0 or 1.
std::vector<uint8_t> normalised(std::vector<uint8_t> bytes, DataType type) {
  if (type >= DataType::bool1 && type <= DataType::bool4)
    for (uint8_t& byte : bytes) byte = byte != 0;
  return bytes;
}

// Calls of metal.is_function_constant_defined, whose operand is the constant's address, perhaps cast.
void answer_questions(llvm::Value* address, bool is_defined) {
  for (llvm::User* user : llvm::make_early_inc_range(address->users())) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) {
      const llvm::Function* called = call->getCalledFunction();
      if (!called || called->getName() != "metal.is_function_constant_defined") continue;
      call->replaceAllUsesWith(llvm::ConstantInt::getBool(call->getType(), is_defined));
      call->eraseFromParent();
    } else if (llvm::isa<llvm::ConstantExpr>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user)) {
      answer_questions(user, is_defined);
    }
  }
}

// Constants derived from function constants are set by a constructor, which can be evaluated now. Evaluation follows
// branches and stores; computing is for fold_constructor.
bool evaluate_constructors(llvm::Module& module) {
  bool all = true;
  llvm::optimizeGlobalCtorsList(module, [&](uint32_t, llvm::Function* constructor) {
    fold_constructor(*constructor);
    llvm::Evaluator evaluator(module.getDataLayout(), nullptr);
    llvm::Constant* result = nullptr;
    if (!evaluator.EvaluateFunction(constructor, result, llvm::SmallVector<llvm::Constant*, 0>())) return all = false;
    for (const auto& [global, value] : evaluator.getMutatedInitializers()) global->setInitializer(value);
    for (llvm::GlobalVariable* global : evaluator.getInvariants()) global->setConstant(true);
    return true;
  });
  return all;
}

}  // namespace

Status set_function_constants(llvm::Module& module, const std::string& function, std::span<const FunctionConstant> used,
                              std::span<const device::ConstantValue> values) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (const FunctionConstant& constant : used) {
    llvm::GlobalVariable* global = module.getNamedGlobal((prefix + llvm::Twine(constant.index)).str());
    if (!global) continue;
    const auto value = std::ranges::find(values, constant.index, &device::ConstantValue::index);
    const bool is_defined = value != values.end();
    if (!is_defined && constant.required)
      return Error{fmt::format("'{}' needs a value for the function constant '{}' (index {}), and none was given",
                               function, constant.name, constant.index)};
    const uint64_t size = layout.getTypeAllocSize(global->getValueType());
    if (is_defined && value->bytes.size() != size)
      return Error{fmt::format("the function constant '{}' (index {}) of '{}' is a {} of {} bytes; its value has {}",
                               constant.name, constant.index, function, to_string(constant.data_type), size,
                               value->bytes.size())};
    answer_questions(global, is_defined);
    llvm::Type* type = global->getValueType();
    global->setInitializer(is_defined ? constant_from_bytes(type, normalised(value->bytes, constant.data_type), layout)
                                      : llvm::Constant::getNullValue(type));
    global->setLinkage(llvm::GlobalValue::InternalLinkage);
    global->setConstant(true);
  }
  if (!evaluate_constructors(module))
    return Error{
        fmt::format("'{}' initialises a constant with an expression that cannot be evaluated when its "
                    "pipeline is made",
                    function)};
  fold(module);
  return success();
}

}  // namespace metalloid::bitcode
