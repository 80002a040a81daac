#include "cpu/vector/lane_loops.hpp"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <string>

namespace metalloid::cpu::vector {

namespace {

std::string name_of(llvm::StringRef what, llvm::Type* scalar, unsigned width, llvm::Align alignment) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "metalloid." << what << '.' << *scalar << '.' << width << '.' << alignment.value();
  return name;
}

llvm::Value* in_memory(llvm::IRBuilder<>& builder, llvm::Value* vector) {
  llvm::AllocaInst* place = builder.CreateAlloca(vector->getType());
  builder.CreateStore(vector, place);
  return place;
}

}  // namespace

llvm::Function* function_beside(const llvm::Function& user, const std::string& name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(result, parameters, /*isVarArg=*/false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name,
                                          const_cast<llvm::Module*>(user.getParent()));
  for (const char* attribute :
       {"target-cpu", "target-features", "tune-cpu", "prefer-vector-width", "min-legal-vector-width", "probe-stack"})
    if (user.hasFnAttribute(attribute)) function->addFnAttr(user.getFnAttribute(attribute));
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::NoInline);
  return function;
}

Ways ways_by(llvm::IRBuilder<>& builder, llvm::Value* bits) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  const Ways ways = {llvm::BasicBlock::Create(builder.getContext(), "all", function),
                     llvm::BasicBlock::Create(builder.getContext(), "some", function)};
  builder.CreateCondBr(builder.CreateIsNull(builder.CreateNot(bits)), ways.all, ways.some);
  return ways;
}

void loop_over_lanes(llvm::IRBuilder<>& builder, llvm::Value* bits, llvm::function_ref<void(llvm::Value* lane)> body) {
  loop_over_lanes(builder, bits, [&](llvm::Value* lane, llvm::Value* left) {
    body(lane);
    return left;
  });
}

void loop_over_lanes(llvm::IRBuilder<>& builder, llvm::Value* bits,
                     llvm::function_ref<llvm::Value*(llvm::Value* lane, llvm::Value* left)> body) {
  llvm::BasicBlock* before = builder.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(builder.getContext(), "lane", before->getParent()),
       *after = llvm::BasicBlock::Create(builder.getContext(), "lanes.end", before->getParent());
  builder.CreateCondBr(builder.CreateIsNull(bits), after, loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* now = builder.CreatePHI(bits->getType(), 2);
  now->addIncoming(bits, before);
  llvm::Value* lane = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, now, builder.getTrue());
  llvm::Value* left = builder.CreateAnd(now, builder.CreateSub(now, llvm::ConstantInt::get(bits->getType(), 1)));
  llvm::Value* rest = body(builder.CreateZExtOrTrunc(lane, builder.getInt64Ty()), left);
  now->addIncoming(rest, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateIsNull(rest), after, loop);
  builder.SetInsertPoint(after);
}

void count_lanes(llvm::IRBuilder<>& builder, unsigned width,
                 llvm::function_ref<void(llvm::Value* lane, unsigned place)> body) {
  // One in a round is a loop of five instructions, whose pace depends on more than what they do.
  const unsigned at_once = std::min(width, 8u);
  llvm::BasicBlock* before = builder.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(builder.getContext(), "lane", before->getParent()),
       *after = llvm::BasicBlock::Create(builder.getContext(), "lanes.end", before->getParent());
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* lane = builder.CreatePHI(builder.getInt64Ty(), 2);
  lane->addIncoming(builder.getInt64(0), before);
  body(lane, 0);
  for (unsigned i = 1; i < at_once; ++i) body(builder.CreateAdd(lane, builder.getInt64(i), "", /*HasNUW=*/true), i);
  llvm::Value* next = builder.CreateAdd(lane, builder.getInt64(at_once), "", /*HasNUW=*/true);
  lane->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpEQ(next, builder.getInt64(width)), after, loop);
  builder.SetInsertPoint(after);
}

llvm::Function* gather_function(llvm::Function& user, llvm::Type* scalar, unsigned width, llvm::Align alignment) {
  const std::string name = name_of("gather", scalar, width, alignment);
  if (llvm::Function* made = user.getParent()->getFunction(name)) return made;
  llvm::LLVMContext& context = user.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* values = llvm::FixedVectorType::get(scalar, width);
  llvm::Function* function = function_beside(
      user, name, values, {llvm::FixedVectorType::get(pointer, width), llvm::IntegerType::get(context, width)});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  const Ways ways = ways_by(builder, function->getArg(1));
  builder.SetInsertPoint(ways.all);
  llvm::Value* loaded = llvm::PoisonValue::get(values);
  for (unsigned l = 0; l < width; ++l) {
    llvm::Value* address = builder.CreateExtractElement(function->getArg(0), l);
    loaded = builder.CreateInsertElement(loaded, builder.CreateAlignedLoad(scalar, address, alignment), l);
  }
  builder.CreateRet(loaded);
  builder.SetInsertPoint(ways.some);
  llvm::Value* addresses = in_memory(builder, function->getArg(0));
  llvm::Value* results = in_memory(builder, llvm::Constant::getNullValue(values));
  loop_over_lanes(builder, function->getArg(1), [&](llvm::Value* lane) {
    llvm::Value* address = builder.CreateLoad(pointer, builder.CreateInBoundsGEP(pointer, addresses, lane));
    builder.CreateStore(builder.CreateAlignedLoad(scalar, address, alignment),
                        builder.CreateInBoundsGEP(scalar, results, lane));
  });
  builder.CreateRet(builder.CreateLoad(values, results));
  return function;
}

llvm::Function* scatter_function(llvm::Function& user, llvm::Type* scalar, unsigned width, llvm::Align alignment) {
  const std::string name = name_of("scatter", scalar, width, alignment);
  if (llvm::Function* made = user.getParent()->getFunction(name)) return made;
  llvm::LLVMContext& context = user.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  llvm::Function* function =
      function_beside(user, name, llvm::Type::getVoidTy(context),
                      {llvm::FixedVectorType::get(scalar, width), llvm::FixedVectorType::get(pointer, width),
                       llvm::IntegerType::get(context, width)});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  const Ways ways = ways_by(builder, function->getArg(2));
  builder.SetInsertPoint(ways.all);
  for (unsigned l = 0; l < width; ++l)
    builder.CreateAlignedStore(builder.CreateExtractElement(function->getArg(0), l),
                               builder.CreateExtractElement(function->getArg(1), l), alignment);
  builder.CreateRetVoid();
  builder.SetInsertPoint(ways.some);
  llvm::Value* values = in_memory(builder, function->getArg(0));
  llvm::Value* addresses = in_memory(builder, function->getArg(1));
  loop_over_lanes(builder, function->getArg(2), [&](llvm::Value* lane) {
    llvm::Value* address = builder.CreateLoad(pointer, builder.CreateInBoundsGEP(pointer, addresses, lane));
    builder.CreateAlignedStore(builder.CreateLoad(scalar, builder.CreateInBoundsGEP(scalar, values, lane)), address,
                               alignment);
  });
  builder.CreateRetVoid();
  return function;
}

}  // namespace metalloid::cpu::vector
