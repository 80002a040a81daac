#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "bitcode/address_spaces.hpp"
#include "device/log_format.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

constexpr uint32_t longest_string = 65536;  // bytes, with the zero that ends it

Value* member(llvm::IRBuilder<>& builder, Value* object, uint64_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), object, offset);
}

// The functions that write a message. They stay functions: a kernel may log in many places, and seldom does.
class Writer {
 public:
  explicit Writer(llvm::Module& module) : module_(module), builder_(module.getContext()) {}

  // ptr (ptr buffer, i64 head, ptr slots, i32 slots): takes a place in the buffer for what the head says and writes the
  // head and the slots to it. Gives the record, null if it does not fit.
  llvm::Function* start_record() {
    if (start_record_) return start_record_;
    auto* record_type = builder_.getPtrTy(bitcode::device_address_space);
    start_record_ = declare("metalloid_log", record_type,
                            {record_type, builder_.getInt64Ty(), builder_.getPtrTy(), builder_.getInt32Ty()});
    Value *buffer = start_record_->getArg(0), *head = start_record_->getArg(1), *slots = start_record_->getArg(2),
          *count = start_record_->getArg(3);
    Value* const words = builder_.CreateTrunc(builder_.CreateLShr(head, 32), builder_.getInt32Ty());
    Value* const length = builder_.CreateAdd(words, builder_.getInt32(1));
    const auto add = [&](uint64_t offset, Value* number) {
      return builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, member(builder_, buffer, offset), number,
                                      llvm::Align(4), llvm::AtomicOrdering::Monotonic);
    };
    Value* const place = add(offsetof(LogBuffer, used), length);
    Value* const capacity =
        builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, buffer, offsetof(LogBuffer, capacity)));
    Value* const after = builder_.CreateAdd(place, length);
    llvm::BasicBlock *full = block("full"), *fits = block("fits");
    builder_.CreateCondBr(
        builder_.CreateAnd(builder_.CreateICmpULE(after, capacity), builder_.CreateICmpUGT(after, place)), fits, full);
    builder_.SetInsertPoint(full);
    add(offsetof(LogBuffer, lost), builder_.getInt32(1));
    builder_.CreateRet(llvm::ConstantPointerNull::get(record_type));

    builder_.SetInsertPoint(fits);
    Value* const record = word(member(builder_, buffer, sizeof(LogBuffer)), place);
    builder_.CreateStore(head, record);
    for_each_below(count, [&](Value* number) {
      builder_.CreateStore(builder_.CreateLoad(builder_.getInt64Ty(), word(slots, number)),
                           word(record, builder_.CreateAdd(number, builder_.getInt32(1))));
    });
    builder_.CreateRet(record);
    return start_record_;
  }

  // i32 (ptr string): the words that it takes with the zero behind it; none if it is null.
  llvm::Function* words_of_string() {
    if (words_of_string_) return words_of_string_;
    words_of_string_ = declare("metalloid_log_words", builder_.getInt32Ty(), {builder_.getPtrTy()});
    Value* const string = words_of_string_->getArg(0);
    llvm::BasicBlock *null = block("null"), *search = block("search"), *end = block("end");
    llvm::BasicBlock* const start = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateIsNull(string), null, search);
    builder_.SetInsertPoint(null);
    builder_.CreateRet(builder_.getInt32(0));
    builder_.SetInsertPoint(search);
    llvm::PHINode* const length = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    Value* const next = builder_.CreateAdd(length, builder_.getInt32(1));
    length->addIncoming(builder_.getInt32(0), start);
    length->addIncoming(next, search);
    Value* const is_end = builder_.CreateIsNull(builder_.CreateLoad(builder_.getInt8Ty(), byte(string, length)));
    Value* const is_too_long = builder_.CreateICmpEQ(next, builder_.getInt32(longest_string));
    builder_.CreateCondBr(builder_.CreateOr(is_end, is_too_long), end, search);
    builder_.SetInsertPoint(end);
    builder_.CreateRet(builder_.CreateAdd(builder_.CreateLShr(length, 3), builder_.getInt32(1)));
    return words_of_string_;
  }

  // void (ptr record, i32 slot, i32 place, ptr string, i32 words): the string goes to a place in the record, and the
  // place to the string's slot.
  llvm::Function* write_string() {
    if (write_string_) return write_string_;
    llvm::Type* const number = builder_.getInt32Ty();
    write_string_ =
        declare("metalloid_log_string", builder_.getVoidTy(),
                {builder_.getPtrTy(bitcode::device_address_space), number, number, builder_.getPtrTy(), number});
    Value *record = write_string_->getArg(0), *slot = write_string_->getArg(1), *place = write_string_->getArg(2),
          *string = write_string_->getArg(3), *words = write_string_->getArg(4);
    llvm::BasicBlock *nothing = block("nothing"), *copy = block("copy");
    builder_.CreateCondBr(builder_.CreateOr(builder_.CreateIsNull(record), builder_.CreateIsNull(words)), nothing,
                          copy);
    builder_.SetInsertPoint(nothing);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(copy);
    builder_.CreateStore(builder_.CreateZExt(place, builder_.getInt64Ty()),
                         word(record, builder_.CreateAdd(slot, builder_.getInt32(1))));
    Value* const bytes = builder_.CreateShl(words, 3);
    Value* const to = word(record, place);
    // Its last word has the zero; nothing behind that is read.
    Value* const ended = builder_.CreateAlloca(builder_.getInt8Ty());
    builder_.CreateStore(builder_.getInt8(1), ended);
    for_each_below(bytes, [&](Value* at) {
      llvm::BasicBlock *read = block("read"), *write = block("write"), *before = builder_.GetInsertBlock();
      builder_.CreateCondBr(builder_.CreateIsNull(builder_.CreateLoad(builder_.getInt8Ty(), ended)), write, read);
      builder_.SetInsertPoint(read);
      Value* const found = builder_.CreateLoad(builder_.getInt8Ty(), byte(string, at));
      builder_.CreateStore(found, ended);
      builder_.CreateBr(write);
      builder_.SetInsertPoint(write);
      llvm::PHINode* const letter = builder_.CreatePHI(builder_.getInt8Ty(), 2);
      letter->addIncoming(builder_.getInt8(0), before);
      letter->addIncoming(found, read);
      Value* const is_last = builder_.CreateICmpEQ(builder_.CreateAdd(at, builder_.getInt32(1)), bytes);
      builder_.CreateStore(builder_.CreateSelect(is_last, builder_.getInt8(0), letter), byte(to, at));
    });
    builder_.CreateRetVoid();
    return write_string_;
  }

 private:
  llvm::Function* declare(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    function_ = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false),
                                       llvm::GlobalValue::InternalLinkage, name, module_);
    function_->addFnAttr(llvm::Attribute::NoInline);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    builder_.SetInsertPoint(block(""));
    return function_;
  }

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, function_); }

  Value* word(Value* first, Value* number) {
    return builder_.CreateInBoundsGEP(builder_.getInt64Ty(), first, builder_.CreateZExt(number, builder_.getInt64Ty()));
  }
  Value* byte(Value* first, Value* number) {
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), first, builder_.CreateZExt(number, builder_.getInt64Ty()));
  }

  template <class Body>
  void for_each_below(Value* count, Body body) {
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *loop = block("loop"), *after = block("after");
    builder_.CreateCondBr(builder_.CreateIsNull(count), after, loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* const number = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    body(number);
    Value* const next = builder_.CreateAdd(number, builder_.getInt32(1));
    number->addIncoming(builder_.getInt32(0), before);
    number->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpEQ(next, count), after, loop);
    builder_.SetInsertPoint(after);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;  // that is being written
  llvm::Function *start_record_ = nullptr, *words_of_string_ = nullptr, *write_string_ = nullptr;
};

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

// A string is copied behind the slots: its memory may be the module's, and the host cannot read it there.
struct String {
  uint32_t slot;
  Value *address, *words;
};

llvm::SmallVector<String> find_strings(llvm::IRBuilder<>& builder, Writer& writer, const LogSite& site, Value* slots,
                                       uint64_t count) {
  llvm::SmallVector<String> strings;
  for (const uint32_t slot : device::string_slots(site.format.c_str())) {
    if (slot >= count) break;
    Value* const place = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), slots, slot);
    Value* const address = builder.CreateIntToPtr(builder.CreateLoad(builder.getInt64Ty(), place), builder.getPtrTy());
    strings.push_back({slot, address, builder.CreateCall(writer.words_of_string(), {address})});
  }
  return strings;
}

void write_message(llvm::CallInst& call, Writer& writer, Value* buffer, const LogSite& site, uint64_t number,
                   uint64_t count) {
  llvm::IRBuilder<> builder(&call);
  Value* const slots = call.getArgOperand(4);
  const auto strings = find_strings(builder, writer, site, slots, count);
  Value* words = builder.getInt32(static_cast<uint32_t>(count));
  llvm::SmallVector<Value*> places;
  for (const String& string : strings) {
    places.push_back(builder.CreateAdd(words, builder.getInt32(1)));
    words = builder.CreateAdd(words, string.words);
  }
  Value* const head = builder.CreateOr(builder.CreateShl(builder.CreateZExt(words, builder.getInt64Ty()), 32), number);
  Value* const record =
      builder.CreateCall(writer.start_record(), {buffer, head, slots, builder.getInt32(static_cast<uint32_t>(count))});
  for (size_t i = 0; i < strings.size(); ++i)
    builder.CreateCall(writer.write_string(),
                       {record, builder.getInt32(strings[i].slot), places[i], strings[i].address, strings[i].words});
}

}  // namespace

Result<std::vector<LogSite>> lower_logging(llvm::Module& module, llvm::Function& entry) {
  std::vector<LogSite> sites;
  llvm::Function* log = module.getFunction("metal.os_log");
  if (!log || log->use_empty()) return sites;
  Writer writer(module);
  Value* const launch = entry.getArg(entry.arg_size() - 1);
  for (llvm::User* user : llvm::make_early_inc_range(log->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    if (call->getFunction() != &entry) return Error{"it logs in a recursive function, which an NVIDIA GPU cannot"};
    auto site = site_of(*call);
    if (!site) return Error{"the format of a message that it logs is not a constant, as it must be on an NVIDIA GPU"};
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(5));
    if (!bytes) return Error{"the size of a message that it logs is not a constant, as it must be on an NVIDIA GPU"};
    llvm::IRBuilder<> builder(call);
    Value* const address = builder.CreateLoad(builder.getInt64Ty(), member(builder, launch, offsetof(LaunchSize, log)));
    Value* const buffer = builder.CreateIntToPtr(address, builder.getPtrTy(bitcode::device_address_space));
    write_message(*call, writer, buffer, *site, sites.size(), bytes->getZExtValue() / sizeof(uint64_t));
    call->eraseFromParent();
    sites.push_back(std::move(*site));
  }
  return sites;
}

}  // namespace metalloid::nvidia::lower
