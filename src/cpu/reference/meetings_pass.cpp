#include "cpu/reference/meetings_pass.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include "bitcode/analyses.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/thread_state.hpp"

namespace metalloid::cpu::reference {

namespace {

bool is_group_function(const llvm::Function& function) {
  return function.isDeclaration() &&
         (function.getName().starts_with("metal.simd") || function.getName().starts_with("metal.quad"));
}

bool is_barrier(const llvm::Function& function) {
  return function.isDeclaration() && function.getName() == "metal.threadgroup_barrier";
}

// Functions in which threads may meet, by themselves or in functions they call. A call through a pointer may be one of
// any function whose address is taken.
class MeetingFunctions {
 public:
  explicit MeetingFunctions(const llvm::Module& module) {
    for (bool grew = true; grew;) {
      grew = false;
      for (const llvm::Function& function : module) {
        if (meeting_.contains(&function)) continue;
        for (const llvm::Instruction& instruction : llvm::instructions(function))
          if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && is_site(*call)) {
            meeting_.insert(&function);
            through_pointers_ |= function.hasAddressTaken() || function.hasExternalLinkage();
            grew = true;
            break;
          }
      }
    }
  }

  bool is_site(const llvm::CallBase& call) const {
    if (call.isInlineAsm()) return false;
    const llvm::Function* called = call.getCalledFunction();
    if (!called) return through_pointers_;
    return is_group_function(*called) || is_barrier(*called) || meeting_.contains(called);
  }

  bool contains(const llvm::Function& function) const { return meeting_.contains(&function); }

 private:
  llvm::SmallPtrSet<const llvm::Function*, 8> meeting_;
  bool through_pointers_ = false;
};

// Numbering speaks of natural loops.
void make_reducible(llvm::Function& function) {
  llvm::PassBuilder builder;
  bitcode::Analyses analyses(builder);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.run(function, analyses.functions);
}

class FunctionLowering {
 public:
  // `number` is the last that a function before this one has used.
  FunctionLowering(llvm::Function& function, const MeetingFunctions& meetings, uint32_t& number)
      : function_(function), module_(*function.getParent()), dominators_(function), loops_(dominators_) {
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
    if (llvm::containsIrreducibleCFG<llvm::BasicBlock*>(order, loops_)) {
      make_reducible(function);
      dominators_.recalculate(function);
      loops_.releaseMemory();
      loops_.analyze(dominators_);
    }
    number_sites(meetings, number);
  }

  void run() {
    thread_ = lower::thread_state(function_);
    auto* after = llvm::dyn_cast<llvm::Instruction>(thread_);
    llvm::IRBuilder<> builder(after ? after->getNextNode() : &*function_.getEntryBlock().getFirstInsertionPt());
    is_entry_ = function_.getName() == lower::entry_name;
    base_ = is_entry_ ? builder.getInt32(0)
                      : lower::load_member(builder, thread_, offsetof(ThreadState, key_base), builder.getInt32Ty());
    key_ = lower::load_member(builder, thread_, offsetof(ThreadState, key), builder.getPtrTy());
    if (!is_entry_) check_depth(builder);
    for (auto [call, number] : sites_) lower_site(*call, number);
  }

 private:
  // A loop's number is that of its header's turn, so that everything in it comes after what stands before the loop.
  void number_sites(const MeetingFunctions& meetings, uint32_t& number) {
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    for (llvm::BasicBlock* block : order) {
      if (loops_.isLoopHeader(block)) number_of_loop_[loops_.getLoopFor(block)] = ++number;
      for (llvm::Instruction& instruction : *block)
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && meetings.is_site(*call)) {
          sites_.emplace_back(call, ++number);
          deepest_ = std::max(deepest_, loops_.getLoopDepth(block) + 1);
        }
    }
  }

  // Recursion that meets on every level has a key for every level.
  void check_depth(llvm::IRBuilder<>& builder) {
    llvm::FunctionCallee check =
        module_.getOrInsertFunction("metalloid.check_key", builder.getVoidTy(), builder.getInt32Ty());
    builder.CreateCall(check, {builder.CreateAdd(base_, builder.getInt32(deepest_))});
  }

  llvm::Value* iteration(const llvm::Loop& loop) {
    llvm::PHINode*& counter = counter_of_loop_[&loop];
    if (counter) return counter;
    llvm::BasicBlock* header = loop.getHeader();
    llvm::IRBuilder<> builder(header, header->begin());
    counter = builder.CreatePHI(builder.getInt32Ty(), 2, "iteration");
    builder.SetInsertPoint(header, header->getFirstInsertionPt());
    llvm::Value* next = builder.CreateAdd(counter, builder.getInt32(1));
    for (llvm::BasicBlock* predecessor : llvm::predecessors(header))
      counter->addIncoming(loop.contains(predecessor) ? next : builder.getInt32(0), predecessor);
    return counter;
  }

  // Stores the levels of a site and gives the number of all levels.
  llvm::Value* store_key(llvm::IRBuilder<>& builder, const llvm::Instruction& site, uint32_t number) {
    llvm::SmallVector<const llvm::Loop*> around;
    for (const llvm::Loop* loop = loops_.getLoopFor(site.getParent()); loop; loop = loop->getParentLoop())
      around.push_back(loop);
    uint32_t level = 0;
    auto store = [&](llvm::Value* value) {
      llvm::Value* index = builder.CreateAdd(base_, builder.getInt32(level++));
      builder.CreateStore(value, builder.CreateInBoundsGEP(builder.getInt64Ty(), key_, index));
    };
    for (const llvm::Loop* loop : llvm::reverse(around)) {
      llvm::Value* place = builder.getInt64(uint64_t{number_of_loop_[loop]} << 32);
      store(builder.CreateOr(place, builder.CreateZExt(iteration(*loop), builder.getInt64Ty())));
    }
    store(builder.getInt64(uint64_t{number} << 32));
    return builder.CreateAdd(base_, builder.getInt32(level));
  }

  void lower_site(llvm::CallBase& call, uint32_t number) {
    llvm::IRBuilder<> builder(&call);
    llvm::Value* levels = store_key(builder, call, number);
    const llvm::Function* called = call.getCalledFunction();
    if (called && is_group_function(*called)) return lower_group_function(call, levels);
    if (called && is_barrier(*called)) return lower_barrier(call, levels);
    llvm::Value* base =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread_, offsetof(ThreadState, key_base));
    builder.CreateStore(levels, base);
    builder.SetInsertPoint(call.getNextNode());
    builder.CreateStore(base_, base);
  }

  void lower_group_function(llvm::CallBase& call, llvm::Value* levels) {
    llvm::IRBuilder<> builder(&call);
    llvm::SmallVector<llvm::Type*> types;
    auto in_memory = [&](llvm::Type* type) { return type->isIntegerTy(1) ? builder.getInt8Ty() : type; };
    for (const llvm::Use& operand : call.args()) types.push_back(in_memory(operand->getType()));
    llvm::Value* operands = llvm::ConstantPointerNull::get(builder.getPtrTy());
    if (!types.empty()) {
      auto* packed = llvm::StructType::get(module_.getContext(), types);
      operands = place(packed);
      for (unsigned i = 0; i < types.size(); ++i)
        builder.CreateStore(builder.CreateZExtOrBitCast(call.getArgOperand(i), types[i]),
                            builder.CreateStructGEP(packed, operands, i));
    }
    llvm::Type* result_type = call.getType();
    const bool has_result = !result_type->isVoidTy();
    llvm::Value* result = llvm::ConstantPointerNull::get(builder.getPtrTy());
    if (has_result) result = place(in_memory(result_type));

    llvm::FunctionCallee meet = module_.getOrInsertFunction("metalloid.meet", builder.getVoidTy(), builder.getInt32Ty(),
                                                            builder.getPtrTy(), builder.getPtrTy(), builder.getPtrTy());
    builder.CreateCall(meet, {levels, operands, result, call.getCalledFunction()});  // the symbol is its Combine's
    if (has_result) {
      llvm::Value* value = builder.CreateLoad(in_memory(result_type), result);
      call.replaceAllUsesWith(builder.CreateTruncOrBitCast(value, result_type));
    }
    call.eraseFromParent();
  }

  void lower_barrier(llvm::CallBase& call, llvm::Value* levels) {
    llvm::IRBuilder<> builder(&call);
    llvm::FunctionCallee barrier = module_.getOrInsertFunction("metalloid.threadgroup_barrier", builder.getVoidTy(),
                                                               builder.getInt32Ty(), builder.getInt32Ty());
    builder.CreateCall(barrier, {levels, call.getArgOperand(0)});
    call.eraseFromParent();
  }

  llvm::AllocaInst* place(llvm::Type* type) {
    llvm::BasicBlock& first = function_.getEntryBlock();
    return new llvm::AllocaInst(type, module_.getDataLayout().getAllocaAddrSpace(), "", first.begin());
  }

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::SmallVector<std::pair<llvm::CallBase*, uint32_t>> sites_;
  llvm::DenseMap<const llvm::Loop*, uint32_t> number_of_loop_;
  llvm::DenseMap<const llvm::Loop*, llvm::PHINode*> counter_of_loop_;
  uint32_t deepest_ = 1;
  bool is_entry_ = false;
  llvm::Value* thread_ = nullptr;
  llvm::Value* base_ = nullptr;
  llvm::Value* key_ = nullptr;
};

}  // namespace

void lower_meetings(llvm::Module& module) {
  const MeetingFunctions meetings(module);
  llvm::SmallVector<std::unique_ptr<FunctionLowering>> functions;
  uint32_t number = 0;
  for (llvm::Function& function : module)
    if (meetings.contains(function))
      functions.push_back(std::make_unique<FunctionLowering>(function, meetings, number));
  for (auto& function : functions) function->run();
}

}  // namespace metalloid::cpu::reference
