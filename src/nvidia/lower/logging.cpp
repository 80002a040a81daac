#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "bitcode/address_spaces.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

constexpr llvm::StringLiteral write_function = "metalloid_log";

llvm::Value* member(llvm::IRBuilder<>& builder, llvm::Value* object, uint64_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), object, offset);
}

// void (ptr buffer, i64 site and words, ptr slots, i64 words): takes a place in the buffer and writes a record to it.
llvm::Function* make_write_function(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* device_pointer = builder.getPtrTy(bitcode::device_address_space);
  auto* type = llvm::FunctionType::get(
      builder.getVoidTy(), {device_pointer, builder.getInt64Ty(), builder.getPtrTy(), builder.getInt32Ty()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, write_function, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::Value *buffer = function->getArg(0), *head = function->getArg(1), *slots = function->getArg(2),
              *words = function->getArg(3);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *start = block(""), *full = block("full"), *fits = block("fits"), *copy = block("copy"),
                   *end = block("end");

  builder.SetInsertPoint(start);
  llvm::Value* length = builder.CreateAdd(words, builder.getInt32(1));
  const auto add = [&](uint64_t offset, llvm::Value* count) {
    return builder.CreateAtomicRMW(llvm::AtomicRMWInst::Add, member(builder, buffer, offset), count, llvm::Align(4),
                                   llvm::AtomicOrdering::Monotonic);
  };
  llvm::Value* place = add(offsetof(LogBuffer, used), length);
  llvm::Value* capacity =
      builder.CreateLoad(builder.getInt32Ty(), member(builder, buffer, offsetof(LogBuffer, capacity)));
  llvm::Value* after = builder.CreateAdd(place, length);
  builder.CreateCondBr(builder.CreateAnd(builder.CreateICmpULE(after, capacity), builder.CreateICmpUGT(after, place)),
                       fits, full);
  builder.SetInsertPoint(full);
  add(offsetof(LogBuffer, lost), builder.getInt32(1));
  builder.CreateBr(end);

  builder.SetInsertPoint(fits);
  llvm::Value* record = builder.CreateInBoundsGEP(builder.getInt64Ty(), member(builder, buffer, sizeof(LogBuffer)),
                                                  builder.CreateZExt(place, builder.getInt64Ty()));
  builder.CreateStore(head, record);
  builder.CreateCondBr(builder.CreateIsNull(words), end, copy);
  builder.SetInsertPoint(copy);
  llvm::PHINode* number = builder.CreatePHI(builder.getInt32Ty(), 2);
  number->addIncoming(builder.getInt32(0), fits);
  llvm::Value* next = builder.CreateAdd(number, builder.getInt32(1));
  number->addIncoming(next, copy);
  llvm::Value* from =
      builder.CreateInBoundsGEP(builder.getInt64Ty(), slots, builder.CreateZExt(number, builder.getInt64Ty()));
  llvm::Value* to =
      builder.CreateInBoundsGEP(builder.getInt64Ty(), record, builder.CreateZExt(next, builder.getInt64Ty()));
  builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), from), to);
  builder.CreateCondBr(builder.CreateICmpEQ(next, words), end, copy);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  return function;
}

// Empty for a null pointer; nothing if it is not known.
std::optional<std::string> constant_text(const llvm::Value* pointer) {
  pointer = pointer->stripPointerCasts();
  if (llvm::isa<llvm::ConstantPointerNull>(pointer)) return "";
  llvm::StringRef text;
  if (!llvm::getConstantStringInfo(pointer, text)) return std::nullopt;
  return text.str();
}

std::optional<LogSite> site_of(const llvm::CallInst& call) {
  const auto* level = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  auto subsystem = constant_text(call.getArgOperand(1)), category = constant_text(call.getArgOperand(2)),
       format = constant_text(call.getArgOperand(3));
  if (!level || !subsystem || !category || !format) return std::nullopt;
  return LogSite{static_cast<int>(level->getSExtValue()), *subsystem, *category, *format};
}

}  // namespace

Result<std::vector<LogSite>> lower_logging(llvm::Module& module, llvm::Function& entry) {
  std::vector<LogSite> sites;
  llvm::Function* log = module.getFunction("metal.os_log");
  if (!log || log->use_empty()) return sites;
  llvm::Function* write = make_write_function(module);
  llvm::Value* launch = entry.getArg(entry.arg_size() - 1);
  for (llvm::User* user : llvm::make_early_inc_range(log->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    if (call->getFunction() != &entry) return Error{"it logs in a recursive function, which an NVIDIA GPU cannot"};
    auto site = site_of(*call);
    if (!site) return Error{"the format of a message that it logs is not a constant, as it must be on an NVIDIA GPU"};
    llvm::IRBuilder<> builder(call);
    llvm::Value* address = builder.CreateLoad(builder.getInt64Ty(), member(builder, launch, offsetof(LaunchSize, log)));
    llvm::Value* words = builder.CreateLShr(call->getArgOperand(5), 3);
    llvm::Value* head = builder.CreateOr(builder.CreateShl(builder.CreateZExt(words, builder.getInt64Ty()), 32),
                                         builder.getInt64(sites.size()));
    builder.CreateCall(write, {builder.CreateIntToPtr(address, builder.getPtrTy(bitcode::device_address_space)), head,
                               call->getArgOperand(4), words});
    call->eraseFromParent();
    sites.push_back(std::move(*site));
  }
  return sites;
}

}  // namespace metalloid::nvidia::lower
