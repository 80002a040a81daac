// Group functions get bodies: each symbol that a module calls becomes an internal function that is always inlined, with
// two operands more, the lanes that call it and the lanes to wait for. What these are is a matter of where the call is
// (group_functions_together.hpp).
//
// Where lanes are together, the lanes that are there are found out once for all calls, by a vote in a block that comes
// before them, unless lanes may end in between: then each call has a vote of its own. Elsewhere they are the lanes that
// the hardware has active, which is what Metal says, too.
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include <optional>

#include "nvidia/lower/group_functions_lanes.hpp"
#include "nvidia/lower/group_functions_together.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

std::optional<GroupFunction> parse(llvm::StringRef name) {
  GroupFunction function;
  if (name.consume_front("metal.quad_"))
    function.is_quad = true;
  else if (!name.consume_front("metal.simd_"))
    return std::nullopt;
  std::tie(function.operation, function.type) = name.split('.');
  return function;
}

bool is_vote(const GroupFunction& function) {
  return function.type.empty();
}

bool is_move(const GroupFunction& function) {
  return function.operation.starts_with("shuffle") || function.operation.starts_with("broadcast");
}

class GroupCalls {
 public:
  GroupCalls(llvm::Module& module, const Architecture& architecture)
      : module_(module), architecture_(architecture), order_(lane_order(module)) {}

  void lower() {
    for (llvm::Function& function : module_)
      if (!function.isDeclaration()) lower_in(function);
    for (const auto& [symbol, body] : bodies_) symbol->eraseFromParent();
  }

 private:
  void lower_in(llvm::Function& function) {
    llvm::SmallVector<llvm::CallInst*> calls;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !call->getCalledFunction() || !call->getCalledFunction()->isDeclaration()) continue;
      const llvm::StringRef name = call->getCalledFunction()->getName();
      if (name == "metal.thread_index_in_simdgroup") {
        llvm::IRBuilder<> builder(call);
        replace(call, logical_lane(builder, order_, hardware_lane(builder)));
      } else if (name == "metal.threads_per_simdgroup") {
        replace(call, llvm::ConstantInt::get(call->getType(), 32));
      } else if (parse(name)) {
        calls.push_back(call);
      }
    }
    if (calls.empty()) return;
    const Together together(function);
    llvm::SmallVector<Value*> present(calls.size());
    find_present_lanes(function, together, calls, present);
    for (size_t i = 0; i < calls.size(); ++i) call_body(calls[i], present[i]);
  }

  // The lanes that are there at each call that is together with the others, null at the rest.
  void find_present_lanes(llvm::Function& function, const Together& together, llvm::ArrayRef<llvm::CallInst*> calls,
                          llvm::MutableArrayRef<Value*> present) {
    llvm::DominatorTree dominators(function);
    llvm::BasicBlock* before = nullptr;
    for (llvm::CallInst* call : calls)
      if (together.holds(call->getParent()) && dominators.isReachableFromEntry(call->getParent()))
        before = before ? dominators.findNearestCommonDominator(before, call->getParent()) : call->getParent();
    if (!before) return;
    const bool lanes_may_end = llvm::any_of(together.exits(), [&](const llvm::BasicBlock* exit) {
      return llvm::isPotentiallyReachable(before, exit, nullptr, &dominators);
    });
    llvm::IRBuilder<> builder(&*before->getFirstNonPHIOrDbgOrAlloca());
    Value* const once = lanes_may_end ? nullptr : vote(builder);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!together.holds(calls[i]->getParent())) continue;
      builder.SetInsertPoint(calls[i]);
      present[i] = once && dominators.isReachableFromEntry(calls[i]->getParent()) ? once : vote(builder);
    }
  }

  static Value* vote(llvm::IRBuilder<>& builder) {
    return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {},
                                   {builder.getInt32(Lanes::every), builder.getTrue()});
  }

  void call_body(llvm::CallInst* call, Value* present) {
    llvm::IRBuilder<> builder(call);
    Value* const active = present ? present : builder.CreateIntrinsic(llvm::Intrinsic::nvvm_activemask, {});
    llvm::SmallVector<Value*> operands(call->args());
    operands.push_back(active);
    operands.push_back(present ? static_cast<Value*>(builder.getInt32(Lanes::every)) : active);
    replace(call, builder.CreateCall(body_of(call->getCalledFunction()), operands));
  }

  static void replace(llvm::CallInst* call, Value* value) {
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }

  llvm::Function* body_of(llvm::Function* symbol) {
    llvm::Function*& body = bodies_[symbol];
    if (body) return body;
    llvm::LLVMContext& context = module_.getContext();
    llvm::SmallVector<llvm::Type*> parameters(symbol->getFunctionType()->params());
    parameters.append(2, llvm::Type::getInt32Ty(context));
    body = llvm::Function::Create(llvm::FunctionType::get(symbol->getReturnType(), parameters, false),
                                  llvm::GlobalValue::InternalLinkage, symbol->getName() + ".of_lanes", module_);
    body->addFnAttr(llvm::Attribute::AlwaysInline);
    body->addFnAttr(llvm::Attribute::Convergent);
    body->addFnAttr(llvm::Attribute::NoUnwind);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", body));
    llvm::SmallVector<Value*> operands(llvm::make_pointer_range(body->args()));
    builder.CreateRet(emit(builder, *parse(symbol->getName()), operands));
    return body;
  }

  Value* emit(llvm::IRBuilder<>& builder, const GroupFunction& function, llvm::ArrayRef<Value*> operands) {
    const Lanes lanes(builder, order_, architecture_, function.is_quad, operands[operands.size() - 2], operands.back());
    operands = operands.drop_back(2);
    if (is_vote(function)) return emit_vote(lanes, function, operands);
    if (is_move(function)) return emit_move(lanes, function, operands);
    return function.operation.starts_with("prefix") ? emit_prefix(lanes, function, operands[0])
                                                    : emit_reduction(lanes, function, operands[0]);
  }

  llvm::Module& module_;
  const Architecture& architecture_;
  const LaneOrder order_;
  llvm::MapVector<llvm::Function*, llvm::Function*> bodies_;
};

}  // namespace

Value* Lanes::shuffle(llvm::Intrinsic::ID instruction, Value* value, Value* operand, unsigned clamp,
                      Value* mask) const {
  llvm::Type* const type = value->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type *const whole = builder.getIntNTy(bits), *const word = builder.getInt32Ty();
  const auto moved = [&](Value* part) {
    return builder.CreateIntrinsic(instruction, {}, {mask, part, operand, builder.getInt32(clamp)});
  };
  value = builder.CreateBitCast(value, whole);
  if (bits <= 32)
    return builder.CreateBitCast(builder.CreateTrunc(moved(builder.CreateZExt(value, word)), whole), type);
  Value* const low = moved(builder.CreateTrunc(value, word));
  Value* const high = moved(builder.CreateTrunc(builder.CreateLShr(value, 32), word));
  value = builder.CreateOr(builder.CreateZExt(low, whole), builder.CreateShl(builder.CreateZExt(high, whole), 32));
  return builder.CreateBitCast(value, type);
}

void lower_group_functions(llvm::Module& module, const Architecture& architecture) {
  GroupCalls(module, architecture).lower();
}

}  // namespace metalloid::nvidia::lower
