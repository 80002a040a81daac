// What a kernel does with the buffers it is given, and what follows where they are known to be apart.
//
// A buffer that a kernel only reads and that overlaps none that it writes stays as it is while the kernel runs: its
// loads can move across stores and barriers and go through the cache for constant data. That takes that all stores are
// seen to go to buffers or to threadgroup memory; pointers that come from memory (argument buffers, textures) may lead
// anywhere. Written buffers are not said to be apart from others: what one thread writes before a barrier, another may
// read behind it, and LLVM's `noalias` knows no other threads.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "bitcode/address_spaces.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

constexpr uint64_t buffer_alignment = 16;

class Buffers {
 public:
  explicit Buffers(llvm::Function& entry) : entry_(entry) {
    for (llvm::Instruction& instruction : llvm::instructions(entry)) look_at(instruction);
  }

  bool may_write(const llvm::Argument& buffer) const { return writes_anywhere_ || written_.contains(&buffer); }

  void assume_apart() {
    for (llvm::Argument& argument : entry_.args())
      if (is_buffer(argument))
        argument.addAttr(llvm::Attribute::getWithAlignment(entry_.getContext(), llvm::Align(buffer_alignment)));
    for (llvm::LoadInst* load : loads_) {
      const auto stays = [&](const Value* object) {
        const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
        return argument && is_buffer(*argument) && !may_write(*argument);
      };
      if (llvm::all_of(objects_of(load->getPointerOperand()), stays))
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
    }
  }

 private:
  static bool is_buffer(const llvm::Argument& argument) {
    return argument.getType()->isPointerTy() && !argument.hasByValAttr();
  }

  static llvm::SmallVector<const Value*, 4> objects_of(const Value* pointer) {
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(pointer, objects, /*LI=*/nullptr, /*MaxLookup=*/0);
    return objects;
  }

  void write(const Value* pointer) {
    if (pointer->getType()->getPointerAddressSpace() == bitcode::threadgroup_address_space) return;
    for (const Value* object : objects_of(pointer)) {
      if (llvm::isa<llvm::Argument>(object))
        written_.insert(llvm::cast<llvm::Argument>(object));
      else if (!llvm::isa<llvm::AllocaInst, llvm::GlobalVariable, llvm::UndefValue, llvm::ConstantPointerNull>(object))
        writes_anywhere_ = true;
    }
  }

  void look_at(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (load->isSimple())
        loads_.push_back(load);
      else
        write(load->getPointerOperand());  // somebody else may
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      write(store->getPointerOperand());
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      write(exchange->getPointerOperand());
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      write(update->getPointerOperand());
    } else if (auto* copy = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
      write(copy->getDest());
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->mayWriteToMemory()) {
      const llvm::Function* called = call->getCalledFunction();
      if (called && !called->isDeclaration()) writes_anywhere_ = true;
      // Instructions of the hardware write where their operands point, if at all.
      for (const Value* operand : call->args()) {
        if (operand->getType()->isPointerTy()) write(operand);
        if (call->isInlineAsm() && operand->getType()->isIntegerTy(64)) writes_anywhere_ = true;
      }
    }
  }

  llvm::Function& entry_;
  llvm::SmallPtrSet<const llvm::Argument*, 8> written_;
  llvm::SmallVector<llvm::LoadInst*> loads_;
  bool writes_anywhere_ = false;
};

}  // namespace

std::vector<bool> use_buffers(llvm::Function& entry, std::span<const device::Slot> slots,
                              const Assumptions& assumptions) {
  Buffers buffers(entry);
  std::vector<bool> writes;
  for (size_t i = 0; i < slots.size(); ++i)
    writes.push_back(slots[i].kind == ParameterKind::buffer &&
                     buffers.may_write(*entry.getArg(static_cast<unsigned>(i))));
  if (assumptions.are_buffers_apart) buffers.assume_apart();
  return writes;
}

}  // namespace metalloid::nvidia::lower
