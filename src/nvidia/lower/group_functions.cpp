// Group functions get bodies: each symbol that a module calls becomes an internal function that is always inlined, with
// two operands more, the lanes that call it and the lanes to wait for. What these are is a matter of where the call is
// (group_functions_together.hpp).
//
// Where lanes are together, the lanes that are there are found out once for all calls, by a vote in a block that comes
// before them, unless lanes may end in between: then each call has a vote of its own. Where they are apart, they wait
// for each other first (reconvergence.hpp). In functions that are not inlined, because they are recursive, they are the
// lanes that the hardware has active.
//
// A barrier of a SIMD-group is a group function without a result; if it orders no memory, it is nothing that a kernel
// could see.
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

#include <memory>
#include <optional>

#include "nvidia/lower/group_functions_lanes.hpp"
#include "nvidia/lower/group_functions_together.hpp"
#include "nvidia/lower/passes.hpp"
#include "nvidia/lower/reconvergence.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

constexpr llvm::StringLiteral barrier = "metal.simdgroup_barrier";

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
    remove_marks();
  }

 private:
  void lower_in(llvm::Function& function) {
    llvm::removeUnreachableBlocks(function);
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
      } else if (name == barrier && orders_nothing(*call)) {
        call->eraseFromParent();
      } else if (name == barrier || parse(name)) {
        calls.push_back(call);
      }
    }
    if (calls.empty()) return;
    auto together = std::make_unique<const Together>(function);
    if (!blocks_apart(*together, calls).empty() && make_reducible(function))
      together = std::make_unique<const Together>(function);
    const llvm::SmallSetVector<llvm::BasicBlock*, 8> apart = blocks_apart(*together, calls);
    llvm::SmallVector<llvm::CallInst*> of_all, of_some;
    for (llvm::CallInst* call : calls) (together->holds(call->getParent()) ? of_all : of_some).push_back(call);
    give_present_lanes(function, *together, of_all);
    const LanesOfBlocks lanes = reconverge(function, *together, apart.getArrayRef());
    for (llvm::CallInst* call : of_some) {
      llvm::IRBuilder<> builder(call);
      Value* active = lanes.lookup(call->getParent());
      if (!active) active = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_activemask, {});
      give_lanes(call, active, active);
    }
  }

  static llvm::SmallSetVector<llvm::BasicBlock*, 8> blocks_apart(const Together& together,
                                                                 llvm::ArrayRef<llvm::CallInst*> calls) {
    llvm::SmallSetVector<llvm::BasicBlock*, 8> apart;
    for (llvm::CallInst* call : calls)
      if (together.is_known() && !together.holds(call->getParent())) apart.insert(call->getParent());
    return apart;
  }

  static bool orders_nothing(const llvm::CallInst& call) {
    const auto* flags = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    return flags && flags->isZero();
  }

  // To calls that are together: the lanes that are there.
  void give_present_lanes(llvm::Function& function, const Together& together, llvm::ArrayRef<llvm::CallInst*> calls) {
    if (calls.empty()) return;
    llvm::DominatorTree dominators(function);
    llvm::BasicBlock* before = calls.front()->getParent();
    for (llvm::CallInst* call : calls) before = dominators.findNearestCommonDominator(before, call->getParent());
    const bool lanes_may_end = llvm::any_of(together.exits(), [&](const llvm::BasicBlock* exit) {
      return llvm::isPotentiallyReachable(before, exit, nullptr, &dominators);
    });
    llvm::IRBuilder<> builder(&*before->getFirstNonPHIOrDbgOrAlloca());
    Value* const once = lanes_may_end ? nullptr : vote(builder);
    for (llvm::CallInst* call : calls) {
      builder.SetInsertPoint(call);
      give_lanes(call, once ? once : vote(builder), builder.getInt32(Lanes::every));
    }
  }

  static Value* vote(llvm::IRBuilder<>& builder) {
    return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {},
                                   {builder.getInt32(Lanes::every), builder.getTrue()});
  }

  void give_lanes(llvm::CallInst* call, Value* active, Value* expected) {
    llvm::IRBuilder<> builder(call);
    if (call->getCalledFunction()->getName() == barrier) {
      builder.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {expected});
      call->eraseFromParent();
      return;
    }
    llvm::SmallVector<Value*> operands(call->args());
    operands.push_back(active);
    operands.push_back(expected);
    replace(call, builder.CreateCall(body_of(call->getCalledFunction()), operands));
  }

  static void replace(llvm::CallInst* call, Value* value) {
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }

  // Nobody asks any more where lanes are together.
  void remove_marks() {
    llvm::Function* mark = module_.getFunction(same_in_simdgroup_symbol);
    if (!mark) return;
    for (llvm::User* user : llvm::make_early_inc_range(mark->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      replace(call, call->getArgOperand(0));
    }
    mark->eraseFromParent();
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
