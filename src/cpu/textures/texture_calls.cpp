#include "cpu/textures/texture_calls.hpp"

#include <llvm/IR/InstIterator.h>

#include "cpu/runtime_symbols.hpp"
#include "cpu/textures/native_functions.hpp"

namespace metalloid::cpu::textures {

namespace {

// Of the longest builtin, and of any.
constexpr unsigned most_arguments = 15, most_results = 4;
constexpr unsigned row_lanes = 32;
constexpr llvm::StringLiteral words_name = "metalloid.texture_words";

unsigned lanes_of(const llvm::Value* row) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(row->getType());
  return vector ? vector->getNumElements() : 1;
}

// One place for the words of all calls of a function.
llvm::AllocaInst* words_of(llvm::Function& function) {
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (auto* words = llvm::dyn_cast<llvm::AllocaInst>(&instruction); words && words->getName().starts_with(words_name))
      return words;
  llvm::IRBuilder<> start(&function.getEntryBlock(), function.getEntryBlock().begin());
  auto* type = llvm::ArrayType::get(start.getInt32Ty(), uint64_t{most_arguments + most_results} * row_lanes);
  llvm::AllocaInst* words = start.CreateAlloca(type, nullptr, words_name);
  words->setAlignment(llvm::Align(64));
  return words;
}

// The elements of vectors, one after the other.
void append_rows(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::SmallVectorImpl<llvm::Value*>& rows) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector) return rows.push_back(value);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) rows.push_back(builder.CreateExtractElement(value, i));
}

void lower_call(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  const llvm::SmallVector<llvm::Value*> shared(resources(call));
  llvm::SmallVector<llvm::Value*> rows;
  for (llvm::Value* argument : llvm::drop_begin(call.args(), shared.size())) append_rows(builder, argument, rows);
  const auto results = access(builder, call, shared, rows, builder.getInt32(1));
  if (call.getType()->isVectorTy()) {
    llvm::Value* result = llvm::PoisonValue::get(call.getType());
    for (unsigned i = 0; i < results.size(); ++i) result = builder.CreateInsertElement(result, results[i], i);
    call.replaceAllUsesWith(result);
  } else if (!results.empty()) {
    call.replaceAllUsesWith(results[0]);
  }
  call.eraseFromParent();
}

}  // namespace

bool is_native(llvm::StringRef builtin) {
  return builtin.starts_with("metal.texture_") && RuntimeSymbols::all().find(native_symbol(builtin.str()));
}

void leave_out_bodies(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && is_native(function.getName())) function.deleteBody();
}

bool has_sampler(const llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  return name.contains("_sample") || name.contains("_gather");
}

llvm::iterator_range<llvm::User::const_op_iterator> resources(const llvm::CallInst& call) {
  return {call.arg_begin(), call.arg_begin() + (has_sampler(call) ? 2 : 1)};
}

llvm::SmallVector<llvm::Value*, 4> access(llvm::IRBuilder<>& builder, const llvm::CallInst& call,
                                          llvm::ArrayRef<llvm::Value*> resources, llvm::ArrayRef<llvm::Value*> rows,
                                          llvm::Value* mask) {
  llvm::Function& function = *builder.GetInsertBlock()->getParent();
  const unsigned lanes = lanes_of(rows[0]);
  llvm::AllocaInst* words = words_of(function);
  const auto row = [&](unsigned number) {
    return builder.CreateConstInBoundsGEP1_32(builder.getInt32Ty(), words, number * row_lanes);
  };
  for (unsigned i = 0; i < rows.size(); ++i) builder.CreateStore(rows[i], row(i));
  auto *number = builder.getInt64Ty(), *word = builder.getInt32Ty();
  auto* pointer = builder.getPtrTy();
  const llvm::FunctionCallee native =
      function.getParent()->getOrInsertFunction(native_symbol(call.getCalledFunction()->getName().str()),
                                                builder.getVoidTy(), number, number, pointer, pointer, word);
  builder.CreateCall(native, {resources[0], resources.size() > 1 ? resources[1] : builder.getInt64(0), row(0),
                              row(most_arguments), builder.CreateZExtOrTrunc(mask, word)});
  llvm::SmallVector<llvm::Value*, 4> results;
  if (call.getType()->isVoidTy()) return results;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.getType());
  llvm::Type* element = call.getType()->getScalarType();
  llvm::Type* type = lanes > 1 ? llvm::FixedVectorType::get(element, lanes) : element;
  for (unsigned i = 0; i < (vector ? vector->getNumElements() : 1); ++i)
    results.push_back(builder.CreateAlignedLoad(type, row(most_arguments + i), llvm::Align(4)));
  return results;
}

void lower_calls(llvm::Module& module) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && is_native(function.getName()))
      for (llvm::User* user : function.users())
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) calls.push_back(call);
  for (llvm::CallInst* call : calls) lower_call(*call);
}

}  // namespace metalloid::cpu::textures
