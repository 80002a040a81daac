// Products of simdgroup matrices on the tensor cores, whose instructions multiply 16×8 by 8×8 or 16×16 by 16×8.
//
// A product of 8×8 matrices fills half of the first. In a block, two products with the same right operand become one
// instruction, one's rows above the other's; of halves and bfloats, two such pairs whose sums go on from one to the
// other become one of the second kind. All that a combination takes is that nothing uses the first result before the
// last operand is there. What finds no partner is multiplied beside zeros.
//
// Halves, bfloats and what they make when mixed are exact in the tensor cores' formats, with sums in float. Floats are
// split in two TF32 numbers, 11 bits each: three of the four products of parts are formed, the small ones first. The
// sum of a few such products, from zero, is added to the accumulator by an ordinary addition, because the tensor cores
// round towards zero. Tensor cores older than sm_80 have halves only: there, the rest is shuffles and fused
// multiplications.
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <limits>

#include "nvidia/lower/lane_order.hpp"
#include "nvidia/lower/matrices_operands.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter>;

constexpr uint32_t has_all_formats = 80;

bool is_product(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && call->getCalledFunction() &&
         call->getCalledFunction()->getName().starts_with("metal.simdgroup_multiply_accumulate.");
}

Value* left_of(const llvm::CallInst* product) {
  return product->getArgOperand(0);
}
Value* right_of(const llvm::CallInst* product) {
  return product->getArgOperand(1);
}
Value* sum_of(const llvm::CallInst* product) {
  return product->getArgOperand(2);
}

// In what form operands are multiplied; both are half or bfloat, or each is TF32 or float.
struct Form {
  Precision left, right;

  explicit Form(const llvm::CallInst* product)
      : left(precision_of(left_of(product))), right(precision_of(right_of(product))) {
    if (left == right && left != Precision::single) return;
    if (left != Precision::single) left = Precision::tf32;
    if (right != Precision::single) right = Precision::tf32;
  }
  bool operator==(const Form&) const = default;

  bool is_packed() const { return left == Precision::half || left == Precision::bfloat; }
  bool is_on_tensor_cores(const Architecture& architecture) const {
    return left == Precision::half || architecture.capability >= has_all_formats;
  }
};

// Products that become one instruction: one or two above each other, and those their sums go on to.
struct Combination {
  llvm::SmallVector<llvm::CallInst*, 2> products, continued;

  const llvm::SmallVector<llvm::CallInst*, 2>& results() const { return continued.empty() ? products : continued; }
};

// Products of floats that are summed by themselves, on the way.
struct Chain {
  std::array<Value*, 4> before = {}, sum = {};
  unsigned length = 0;
  llvm::SmallVector<llvm::CallInst*, 8> previous;
};

// The tensor cores round towards zero whatever they add to: so many of their sums are within a unit of the last place.
constexpr unsigned longest_chain = 4;

class Block {
 public:
  Block(llvm::BasicBlock& block, const Architecture& architecture)
      : block_(block),
        architecture_(architecture),
        builder_(block.getContext(), llvm::ConstantFolder(),
                 llvm::IRBuilderCallbackInserter([this](llvm::Instruction* made) { take_place(made); })),
        operands_(builder_, block) {}

  void lower() {
    sink_moves();
    llvm::SmallVector<llvm::CallInst*> products;
    unsigned place = 0;
    for (llvm::Instruction& instruction : block_) {
      places_[&instruction] = place++;
      if (is_product(&instruction)) products.push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
    llvm::SmallPtrSet<llvm::CallInst*, 16> done;
    std::vector<Combination> combinations;
    for (llvm::CallInst* product : products) {
      if (done.contains(product)) continue;
      if (!Form(product).is_on_tensor_cores(architecture_)) {
        multiply_by_shuffles(product);
        continue;
      }
      combinations.push_back(combine(product, products, done));
      for (const auto& part : {combinations.back().products, combinations.back().continued})
        done.insert(part.begin(), part.end());
    }
    llvm::sort(combinations, [&](const Combination& a, const Combination& b) {
      return places_.lookup(last_of(a)) < places_.lookup(last_of(b));
    });
    for (const Combination& combination : combinations)
      for (llvm::CallInst* product : combination.products) combination_of_[product] = &combination;
    for (const Combination& combination : combinations) multiply(combination);
  }

 private:
  // A new instruction is where its neighbour was in the beginning.
  void take_place(llvm::Instruction* made) {
    const llvm::Instruction* next = made->getNextNode();
    if (auto found = places_.find(next); found != places_.end()) {
      const unsigned place = found->second;
      places_[made] = place;
    }
  }

  // What takes a result apart or puts it together can be done where it is needed.
  void sink_moves() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block_))) {
      if (!llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst, llvm::CastInst>(instruction)) continue;
      llvm::Instruction* first = block_.getTerminator();
      for (llvm::User* user : instruction.users()) {
        auto* use = llvm::cast<llvm::Instruction>(user);
        if (use->getParent() == &block_ && !llvm::isa<llvm::PHINode>(use) && use->comesBefore(first)) first = use;
      }
      instruction.moveBefore(first->getIterator());
    }
  }

  llvm::Instruction* last_of(const Combination& combination) const {
    llvm::Instruction* last = combination.results()[0];
    for (llvm::CallInst* product : combination.results())
      if (places_.lookup(last) < places_.lookup(product)) last = product;
    return last;
  }

  // The place of the first use in the block; uses in others, and by its own phis, come after all of it.
  unsigned first_use(const llvm::CallInst* product) const {
    unsigned first = std::numeric_limits<unsigned>::max();
    for (const llvm::User* user : product->users()) {
      const auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (instruction->getParent() != &block_ || llvm::isa<llvm::PHINode>(instruction)) continue;
      first = std::min(first, places_.lookup(instruction));
    }
    return first;
  }

  bool can_wait(const llvm::CallInst* product, const llvm::CallInst* until) const {
    return first_use(product) > places_.lookup(until);
  }

  Combination combine(llvm::CallInst* product, llvm::ArrayRef<llvm::CallInst*> products,
                      const llvm::SmallPtrSetImpl<llvm::CallInst*>& done) const {
    Combination result{{product}, {}};
    const Form form(product);
    for (llvm::CallInst* other : products)
      if (other != product && !done.contains(other) && places_.lookup(product) < places_.lookup(other) &&
          right_of(other) == right_of(product) && Form(other) == form && can_wait(product, other)) {
        result.products.push_back(other);
        break;
      }
    if (form.is_packed() && architecture_.capability >= has_all_formats)
      result.continued = continuation(result.products, form);
    return result;
  }

  // The products that the sums of these go on to and nothing else uses, if they are a combination themselves.
  llvm::SmallVector<llvm::CallInst*, 2> continuation(llvm::ArrayRef<llvm::CallInst*> products, const Form& form) const {
    llvm::SmallVector<llvm::CallInst*, 2> next;
    for (llvm::CallInst* product : products) {
      if (!product->hasOneUse() || !product->getType()->getScalarType()->isFloatTy()) return {};
      auto* user = llvm::dyn_cast<llvm::CallInst>(product->user_back());
      if (!user || !is_product(user) || user->getParent() != &block_ || sum_of(user) != product || Form(user) != form ||
          right_of(user) != (next.empty() ? right_of(user) : right_of(next[0])))
        return {};
      next.push_back(user);
    }
    for (llvm::CallInst* early : next)
      for (llvm::CallInst* late : next)
        if (early != late && places_.lookup(early) < places_.lookup(late) && !can_wait(early, late)) return {};
    return next;
  }

  void multiply(const Combination& combination) {
    const auto& results = combination.results();
    const Form form(results[0]);
    llvm::Instruction* const last = last_of(combination);

    const auto left = [&](llvm::ArrayRef<llvm::CallInst*> products) {
      std::array<Registers, 2> rows;
      for (size_t i = 0; i < products.size(); ++i) rows[i] = operands_.left(left_of(products[i]), form.left);
      return rows;
    };
    const std::array<Registers, 2> a = left(combination.products), a_continued = left(combination.continued);
    const Registers b = operands_.right(right_of(combination.products[0]), form.right);
    const Registers b_continued =
        combination.continued.empty() ? Registers{} : operands_.right(right_of(combination.continued[0]), form.right);

    builder_.SetInsertPoint(last);
    if (!form.is_packed()) return multiply_floats(combination, form, a, b);
    std::array<Value*, 4> sums = sums_of(combination);
    sums = combination.continued.empty()
               ? multiply_packed(form, {a[0].main[0], a[1].main[0]}, {b.main[0]}, sums)
               : multiply_packed(form, {a[0].main[0], a[1].main[0], a_continued[0].main[0], a_continued[1].main[0]},
                                 {b.main[0], b_continued.main[0]}, sums);
    replace(combination, sums);
  }

  // That the products are added to.
  std::array<Value*, 4> sums_of(const Combination& combination) {
    std::array<Value*, 4> sums;
    sums.fill(llvm::ConstantFP::getZero(builder_.getFloatTy()));
    for (size_t i = 0; i < combination.products.size(); ++i) {
      const auto elements = float_elements(builder_, sum_of(combination.products[i]));
      std::copy(elements.begin(), elements.end(), sums.begin() + 2 * i);
    }
    return sums;
  }

  std::array<Value*, 4> multiply_packed(const Form& form, llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b,
                                        const std::array<Value*, 4>& sums) {
    const bool is_half = form.left == Precision::half, is_long = b.size() == 2;
    llvm::Type* const type =
        is_half ? llvm::FixedVectorType::get(builder_.getHalfTy(), 2) : static_cast<llvm::Type*>(builder_.getInt32Ty());
    llvm::SmallVector<Value*> registers;
    for (const auto& words : {a, b})
      for (Value* word : words)
        registers.push_back(word ? builder_.CreateBitCast(word, type) : llvm::Constant::getNullValue(type));
    return execute(is_half   ? is_long ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                                       : llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_f32_f32
                   : is_long ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                             : llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_bf16,
                   registers, sums);
  }

  // Of floats that are split, the sum of several products is formed before it is added to what was there before.
  void multiply_floats(const Combination& combination, const Form& form, const std::array<Registers, 2>& a,
                       const Registers& b) {
    const auto multiply = [&](std::array<Value*, 2> Registers::* left, std::array<Value*, 2> Registers::* right,
                              const std::array<Value*, 4>& onto) {
      llvm::SmallVector<Value*> registers;
      for (unsigned column = 0; column < 2; ++column)
        for (const Registers& rows : a)
          registers.push_back((rows.*left)[column] ? (rows.*left)[column] : builder_.getInt32(0));
      registers.append((b.*right).begin(), (b.*right).end());
      return execute(llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32, registers, onto);
    };
    const bool is_left_split = form.left == Precision::single, is_right_split = form.right == Precision::single;
    if (!is_left_split && !is_right_split)
      return replace(combination, multiply(&Registers::main, &Registers::main, sums_of(combination)));

    Chain chain;
    if (auto found = chains_.find(llvm::dyn_cast<llvm::CallInst>(sum_of(combination.products[0])));
        found != chains_.end()) {
      chain = found->second;
      chains_.erase(found);
    } else {
      chain.before = sums_of(combination);
      chain.sum.fill(llvm::ConstantFP::getZero(builder_.getFloatTy()));
    }
    if (is_left_split) chain.sum = multiply(&Registers::rest, &Registers::main, chain.sum);
    if (is_right_split) chain.sum = multiply(&Registers::main, &Registers::rest, chain.sum);
    chain.sum = multiply(&Registers::main, &Registers::main, chain.sum);
    ++chain.length;
    if (chain.length < longest_chain && goes_on(combination)) {
      chain.previous.append(combination.products.begin(), combination.products.end());
      chains_[combination.products[0]] = chain;
      return;
    }
    std::array<Value*, 4> sums;
    for (unsigned i = 0; i < 4; ++i) sums[i] = builder_.CreateFAdd(chain.before[i], chain.sum[i]);
    replace(combination, sums);
    for (llvm::CallInst* product : llvm::reverse(chain.previous)) remove(product);
  }

  // Whether the results are all used by one other combination, as what its products are added to.
  bool goes_on(const Combination& combination) const {
    const Combination* next = nullptr;
    for (size_t i = 0; i < combination.products.size(); ++i) {
      llvm::CallInst* product = combination.products[i];
      if (!product->hasOneUse() || !product->getType()->getScalarType()->isFloatTy()) return false;
      auto* user = llvm::dyn_cast<llvm::CallInst>(product->user_back());
      const auto found = combination_of_.find(user);
      if (found == combination_of_.end() || sum_of(user) != product || (next && found->second != next)) return false;
      next = found->second;
      if (next->products.size() != combination.products.size() || next->products[i] != user) return false;
      const Form form(user);
      if (form.left != Precision::single && form.right != Precision::single) return false;
    }
    return true;
  }

  std::array<Value*, 4> execute(llvm::Intrinsic::ID instruction, llvm::SmallVector<Value*> registers,
                                const std::array<Value*, 4>& sums) {
    registers.append(sums.begin(), sums.end());
    Value* const result = builder_.CreateIntrinsic(instruction, {}, registers);
    std::array<Value*, 4> elements;
    for (unsigned i = 0; i < 4; ++i) elements[i] = builder_.CreateExtractValue(result, i);
    return elements;
  }

  // For each k, element (row, k) of the left operand times elements (k, column) of the right one.
  void multiply_by_shuffles(llvm::CallInst* product) {
    builder_.SetInsertPoint(product);
    const auto a = float_elements(builder_, left_of(product)), b = float_elements(builder_, right_of(product));
    auto sums = float_elements(builder_, sum_of(product));
    Value* const lane = hardware_lane(builder_);
    Value *const row = builder_.CreateAnd(lane, 28), *const column = builder_.CreateAnd(lane, 3);
    const auto take = [&](Value* number, Value* from) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_f32, {},
                                      {builder_.getInt32(~0u), number, from, builder_.getInt32(31)});
    };
    for (unsigned k = 0; k < 8; ++k) {
      Value* const left = take(a[k % 2], builder_.CreateOr(row, k / 2));
      for (unsigned i = 0; i < 2; ++i) {
        Value* const right = take(b[i], builder_.CreateOr(column, 4 * k));
        sums[i] = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {builder_.getFloatTy()}, {left, right, sums[i]});
      }
    }
    replace(product, matrix_of(builder_, sums, product->getType()));
  }

  void replace(const Combination& combination, const std::array<Value*, 4>& sums) {
    const auto& results = combination.results();
    for (size_t i = 0; i < results.size(); ++i)
      replace(results[i], matrix_of(builder_, {sums[2 * i], sums[2 * i + 1]}, results[i]->getType()));
    if (!combination.continued.empty())
      for (llvm::CallInst* product : combination.products) remove(product);
  }
  void replace(llvm::CallInst* product, Value* result) {
    product->replaceAllUsesWith(result);
    remove(product);
  }
  void remove(llvm::CallInst* product) {
    places_.erase(product);
    product->eraseFromParent();
  }

  llvm::BasicBlock& block_;
  const Architecture& architecture_;
  llvm::DenseMap<const llvm::Instruction*, unsigned> places_;
  llvm::DenseMap<const llvm::CallInst*, const Combination*> combination_of_;
  llvm::DenseMap<const llvm::CallInst*, Chain> chains_;  // by the first product of the last combination
  Builder builder_;
  Operands operands_;
};

}  // namespace

void combine_matrix_products(llvm::Module& module, const Architecture& architecture) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      if (llvm::any_of(block, [](const llvm::Instruction& instruction) { return is_product(&instruction); }))
        Block(block, architecture).lower();
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.use_empty() && function.getName().starts_with("metal.simdgroup_multiply_accumulate."))
      function.eraseFromParent();
}

}  // namespace metalloid::nvidia::lower
