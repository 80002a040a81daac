#include "cpu/validation/instrument.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include <algorithm>

#include "bitcode/address_spaces.hpp"

namespace metalloid::cpu::validation {

namespace {

// The kernel, and what it may call that is not a builtin's body.
llvm::SmallSetVector<llvm::Function*, 8> functions_of(llvm::Function& kernel, std::span<llvm::Function* const> linked) {
  llvm::SmallSetVector<llvm::Function*, 8> functions;
  functions.insert(&kernel);
  functions.insert(linked.begin(), linked.end());
  for (size_t next = 0; next < functions.size(); ++next)
    for (llvm::Instruction& instruction : llvm::instructions(*functions[next]))
      for (llvm::Value* operand : instruction.operand_values())
        if (auto* called = llvm::dyn_cast<llvm::Function>(operand->stripPointerCasts());
            called && !called->isDeclaration() && !called->getName().starts_with("metal."))
          functions.insert(called);
  return functions;
}

// In code that was compiled without optimisation, pointers lie in variables, where nobody sees what they come from.
void promote_variables(llvm::ArrayRef<llvm::Function*> functions) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager analyses;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(analyses);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, analyses, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  for (llvm::Function* function : functions) passes.run(*function, analyses);
}

// Kernels often let all lanes read what some have written, and use no more of a scan or shuffle than that.
bool goes_to_other_lanes(const llvm::LoadInst& load) {
  llvm::SmallSetVector<const llvm::Value*, 8> values;
  values.insert(&load);
  for (size_t next = 0; next < values.size(); ++next)
    for (const llvm::User* user : values[next]->users()) {
      if (llvm::isa<llvm::CastInst>(user) || llvm::isa<llvm::PHINode>(user)) values.insert(user);
      const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      const llvm::Function* called = call ? call->getCalledFunction() : nullptr;
      if (called &&
          (called->getName().starts_with("metal.simd_prefix") || called->getName().starts_with("metal.simd_shuffle") ||
           called->getName().starts_with("metal.quad_prefix") || called->getName().starts_with("metal.quad_shuffle")))
        return true;
    }
  return false;
}

class FunctionInstrumenter {
 public:
  FunctionInstrumenter(llvm::Function& function, SiteTableBuilder& sites)
      : function_(function), module_(*function.getParent()), sites_(sites), builder_(module_.getContext()) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*> instructions;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) instructions.push_back(&instruction);
    for (llvm::Instruction* instruction : instructions) visit(*instruction);
    mark_loops();
  }

 private:
  void visit(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return visit_load(*load);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return visit_store(*store);
    if (auto* modify = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return visit_atomic(*modify, llvm::AtomicRMWInst::getPointerOperandIndex(), modify->getValOperand()->getType());
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      return visit_atomic(*exchange, llvm::AtomicCmpXchgInst::getPointerOperandIndex(),
                          exchange->getNewValOperand()->getType());
    if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) return visit_set(*set);
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) return visit_copy(*copy);
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction())
      visit_call(*call, call->getCalledFunction()->getName());
  }

  void visit_load(llvm::LoadInst& load) {
    const bool is_atomic = load.isAtomic() || load.isVolatile();
    check(load, llvm::LoadInst::getPointerOperandIndex(), bytes_of(load.getType()),
          access_reads | (is_atomic ? access_is_atomic : 0u) | (goes_to_other_lanes(load) ? access_is_exchange : 0u),
          load.getAlign().value(), nullptr);
    if (!load.isAtomic()) load.setAlignment(llvm::Align(1));  // it was checked
  }

  void visit_store(llvm::StoreInst& store) {
    const bool is_atomic = store.isAtomic() || store.isVolatile();
    llvm::Value* value = store.getValueOperand();
    auto spilled = [&]() -> llvm::Value* {
      llvm::Value* place = private_place(value->getType());
      builder_.CreateStore(value, place);
      return place;
    };
    check(store, llvm::StoreInst::getPointerOperandIndex(), bytes_of(value->getType()),
          access_writes | (is_atomic ? access_is_atomic : 0u), store.getAlign().value(), spilled);
    if (!store.isAtomic()) store.setAlignment(llvm::Align(1));
  }

  void visit_atomic(llvm::Instruction& instruction, unsigned pointer, llvm::Type* type) {
    const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(type);
    check(instruction, pointer, builder_.getInt64(bytes), access_reads | access_writes | access_is_atomic, bytes,
          nullptr);
  }

  void visit_set(llvm::MemSetInst& set) {
    builder_.SetInsertPoint(&set);
    auto spilled = [&]() -> llvm::Value* {
      llvm::Value* place = private_place(builder_.getInt8Ty());
      builder_.CreateStore(set.getValue(), place);
      return place;
    };
    check(set, 0, builder_.CreateZExtOrTrunc(set.getLength(), builder_.getInt64Ty()),
          access_writes | access_is_copy | access_is_fill, set.getDestAlign().valueOrOne().value(), spilled);
    set.setDestAlignment(llvm::Align(1));
  }

  void visit_copy(llvm::MemTransferInst& copy) {
    builder_.SetInsertPoint(&copy);
    llvm::Value* bytes = builder_.CreateZExtOrTrunc(copy.getLength(), builder_.getInt64Ty());
    check(copy, 1, bytes, access_reads | access_is_copy, copy.getSourceAlign().valueOrOne().value(), nullptr);
    auto source = [&]() -> llvm::Value* { return plain(copy.getRawSource()); };
    check(copy, 0, bytes, access_writes | access_is_copy, copy.getDestAlign().valueOrOne().value(), source);
    copy.setSourceAlignment(llvm::Align(1));
    copy.setDestAlignment(llvm::Align(1));
  }

  void visit_call(llvm::CallInst& call, llvm::StringRef name) {
    builder_.SetInsertPoint(&call);
    if (name == "metal.threadgroup_barrier") return note(call, "metalloid.validate_barrier");
    if (name == "metal.atomic_thread_fence") return note(call, "metalloid.validate_fence");
    if (name.starts_with("metal.simdgroup_load.")) return visit_matrix(call, 0, access_reads, name);
    if (name.starts_with("metal.simdgroup_store.")) return visit_matrix(call, 1, access_writes, name);
  }

  // Each lane has its own operands, and touches its own elements with them.
  void visit_matrix(llvm::CallInst& call, unsigned first, uint32_t flags, llvm::StringRef name) {
    constexpr uint64_t harmless_row = 8;
    llvm::Value* pointer = call.getArgOperand(first);
    llvm::Value* elements_per_row = call.getArgOperand(first + 1);
    const auto roots = sites_.provenance().roots_of(*pointer);
    const uint32_t element = name.ends_with("f32") ? 4 : 2;
    if (pointer->getType()->getPointerAddressSpace() == bitcode::constant_address_space) flags |= access_is_constant;
    const uint32_t site = sites_.add(call, flags | access_is_matrix, element, roots);
    auto* number = builder_.getInt32Ty();
    llvm::FunctionCallee validate =
        module_.getOrInsertFunction("metalloid.validate_matrix", builder_.getPtrTy(), builder_.getPtrTy(),
                                    builder_.getInt64Ty(), number, number, number);
    llvm::Value* before = plain(pointer);
    llvm::Value* allowed = builder_.CreateCall(
        validate, {before, elements_per_row, builder_.CreateZExt(call.getArgOperand(first + 2), number),
                   builder_.getInt32(element), builder_.getInt32(site)});
    call.setArgOperand(first, builder_.CreatePointerBitCastOrAddrSpaceCast(allowed, pointer->getType()));
    call.setArgOperand(first + 1, builder_.CreateSelect(builder_.CreateICmpEQ(before, allowed), elements_per_row,
                                                        builder_.getInt64(harmless_row)));
  }

  void note(llvm::Instruction& at, llvm::StringRef function) {
    llvm::FunctionCallee callee = module_.getOrInsertFunction(function, builder_.getVoidTy(), builder_.getInt32Ty());
    builder_.CreateCall(callee, {builder_.getInt32(sites_.add(at, 0, 1, {}))});
  }

  // So that a thread which never ends is known to be there.
  void mark_loops() {
    const llvm::DominatorTree dominators(function_);
    const llvm::LoopInfo loops(dominators);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      llvm::SmallVector<llvm::BasicBlock*> latches;
      loop->getLoopLatches(latches);
      for (llvm::BasicBlock* latch : latches) {
        builder_.SetInsertPoint(latch->getTerminator());
        note(*latch->getTerminator(), "metalloid.validate_loop");
      }
    }
  }

  // Puts the check of one pointer operand before an instruction. The value that is written, if it can be had, is in
  // private memory when the check is called.
  void check(llvm::Instruction& instruction, unsigned operand, llvm::Value* bytes, uint32_t flags, uint64_t alignment,
             llvm::function_ref<llvm::Value*()> value) {
    llvm::Value* pointer = instruction.getOperand(operand);
    const auto roots = sites_.provenance().roots_of(*pointer);
    if (std::ranges::all_of(roots, [](const Root& root) { return root.kind == RootKind::private_memory; })) return;
    if (pointer->getType()->getPointerAddressSpace() == bitcode::constant_address_space) flags |= access_is_constant;
    const uint32_t site = sites_.add(instruction, flags, static_cast<uint32_t>(alignment), roots);
    builder_.SetInsertPoint(&instruction);
    llvm::FunctionCallee validate =
        module_.getOrInsertFunction("metalloid.validate", builder_.getPtrTy(), builder_.getPtrTy(),
                                    builder_.getInt64Ty(), builder_.getInt32Ty(), builder_.getPtrTy());
    llvm::Value* written = value ? value() : llvm::ConstantPointerNull::get(builder_.getPtrTy());
    llvm::Value* allowed = builder_.CreateCall(validate, {plain(pointer), bytes, builder_.getInt32(site), written});
    instruction.setOperand(operand, builder_.CreatePointerBitCastOrAddrSpaceCast(allowed, pointer->getType()));
  }

  llvm::Value* plain(llvm::Value* pointer) {
    return builder_.CreatePointerBitCastOrAddrSpaceCast(pointer, builder_.getPtrTy());
  }

  llvm::Value* bytes_of(llvm::Type* type) {
    return builder_.getInt64(module_.getDataLayout().getTypeStoreSize(type).getFixedValue());
  }

  llvm::Value* private_place(llvm::Type* type) {
    llvm::AllocaInst*& place = places_[type];
    if (!place)
      place = new llvm::AllocaInst(type, module_.getDataLayout().getAllocaAddrSpace(), "",
                                   function_.getEntryBlock().begin());
    return place;
  }

  llvm::Function& function_;
  llvm::Module& module_;
  SiteTableBuilder& sites_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<llvm::Type*, llvm::AllocaInst*> places_;
};

}  // namespace

void instrument(llvm::Function& kernel, std::span<llvm::Function* const> linked, SiteTableBuilder& sites) {
  const auto functions = functions_of(kernel, linked);
  promote_variables(functions.getArrayRef());
  for (llvm::Function* function : functions) FunctionInstrumenter(*function, sites).run();
}

}  // namespace metalloid::cpu::validation
