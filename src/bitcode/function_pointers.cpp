// A processor calls one address at a time, but the lanes of a group may hold different ones. A choice between direct
// calls is ordinary control flow, which widening knows, and its callees can be inlined:
//
//     x = p(y)   →   switch (p) { case 1: x = f(y); break;  case 2: x = g(y); break;  default: x = 0; }
//
// What can be called is known when a pipeline is made, so a function's address is a small number, its handle.
#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <vector>

#include "bitcode/function_pointers.hpp"

namespace metalloid::bitcode {

namespace {

struct Candidate {
  uint64_t handle;
  llvm::Function* function;
};

bool is_direct_call(const llvm::Use& use) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call && call->isCallee(&use) &&
         call->getFunctionType() == llvm::cast<llvm::Function>(use.get())->getFunctionType();
}

bool is_address_taken(const llvm::Function& function) {
  return !function.isIntrinsic() && !llvm::all_of(function.uses(), is_direct_call);
}

std::vector<Candidate> find_candidates(llvm::Module& module, std::span<llvm::Function* const> visible_functions) {
  std::vector<Candidate> candidates;
  for (llvm::Function* function : visible_functions)
    candidates.push_back({handle_of_visible_function(candidates.size()), function});
  for (llvm::Function& function : module)
    if (is_address_taken(function) && !llvm::is_contained(visible_functions, &function))
      candidates.push_back({handle_of_visible_function(candidates.size()), &function});
  return candidates;
}

void replace_address(const Candidate& candidate) {
  llvm::Function& function = *candidate.function;
  auto* number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(function.getContext()), candidate.handle);
  function.replaceUsesWithIf(llvm::ConstantExpr::getIntToPtr(number, function.getType()),
                             [](const llvm::Use& use) { return !is_direct_call(use); });
}

std::vector<llvm::CallInst*> calls_through_pointers(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (!call->getCalledFunction() && !call->isInlineAsm()) calls.push_back(call);
  return calls;
}

void resolve(llvm::CallInst& call, std::span<const Candidate> candidates) {
  llvm::IRBuilder<> builder(&call);
  llvm::Value* pointer = builder.CreatePtrToInt(call.getCalledOperand(), builder.getInt64Ty(), "callee");
  llvm::BasicBlock* before = call.getParent();
  llvm::BasicBlock* after = llvm::SplitBlock(before, call.getIterator());
  before->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(before);
  llvm::SwitchInst* choice = builder.CreateSwitch(pointer, after);

  llvm::PHINode* result = nullptr;
  if (!call.getType()->isVoidTy()) {
    builder.SetInsertPoint(after, after->begin());
    result = builder.CreatePHI(call.getType(), 2, "called");
    result->addIncoming(llvm::Constant::getNullValue(call.getType()), before);
    call.replaceAllUsesWith(result);
  }
  for (const Candidate& candidate : candidates) {
    if (candidate.function->getFunctionType() != call.getFunctionType()) continue;
    auto* block = llvm::BasicBlock::Create(call.getContext(), "call", before->getParent(), after);
    choice->addCase(builder.getInt64(candidate.handle), block);
    builder.SetInsertPoint(block);
    auto* direct = llvm::cast<llvm::CallInst>(builder.Insert(call.clone()));
    direct->setCalledFunction(candidate.function);
    direct->setCallingConv(candidate.function->getCallingConv());
    direct->setMetadata(llvm::LLVMContext::MD_callees, nullptr);
    builder.CreateBr(after);
    if (result) result->addIncoming(direct, block);
  }
  call.eraseFromParent();
}

void allow_inlining(llvm::Module& module) {
  llvm::CallGraph calls(module);
  for (auto component = llvm::scc_begin(&calls); !component.isAtEnd(); ++component) {
    llvm::Function* function = component->front()->getFunction();
    if (component.hasCycle() || !function || function->isDeclaration()) continue;
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->removeFnAttr(llvm::Attribute::OptimizeNone);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

}  // namespace

void resolve_function_pointers(llvm::Module& module, std::span<llvm::Function* const> visible_functions) {
  llvm::removeFromUsedLists(module, [](llvm::Constant* used) { return llvm::isa<llvm::Function>(used); });
  const std::vector<Candidate> candidates = find_candidates(module, visible_functions);
  for (const Candidate& candidate : candidates) replace_address(candidate);
  for (llvm::CallInst* call : calls_through_pointers(module)) resolve(*call, candidates);
  for (llvm::Function* function : visible_functions)
    if (!function->isDeclaration()) function->setLinkage(llvm::GlobalValue::InternalLinkage);
  allow_inlining(module);
}

uint64_t handle_of_visible_function(size_t place) {
  return place + 1;
}

}  // namespace metalloid::bitcode
