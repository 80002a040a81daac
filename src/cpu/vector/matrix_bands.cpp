#include "cpu/vector/matrix_bands.hpp"

#include <llvm/ADT/PostOrderIterator.h>

#include <algorithm>
#include <functional>

#include "cpu/vector/groups.hpp"
#include "cpu/vector/shape_analysis.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

llvm::CallInst* as_product_in_float(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() &&
                 call->getCalledFunction()->getName().starts_with("metal.simdgroup_multiply_accumulate.f32.")
             ? call
             : nullptr;
}

Matrix result_of(llvm::CallInst* product) {
  return {Element{product, 0}, Element{product, 1}};
}

Matrix operand_of(const llvm::CallInst* product, unsigned number) {
  return matrix_of(product->getArgOperand(number));
}

// The block of two phis that bring a matrix; null: it is something else.
llvm::BasicBlock* block_of_phis(const Matrix& matrix) {
  auto* first = llvm::dyn_cast<llvm::PHINode>(matrix[0].value);
  auto* second = llvm::dyn_cast<llvm::PHINode>(matrix[1].value);
  const bool are_scalars = first && second && first != second && !first->getType()->isVectorTy();
  return are_scalars && first->getParent() == second->getParent() ? first->getParent() : nullptr;
}

// What may be between loads of matrices and their products, which load in their place.
bool changes_no_memory(const llvm::Instruction& instruction) {
  if (!instruction.mayWriteToMemory()) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::prefetch ||
                  (call->getCalledFunction() && call->getCalledFunction()->getName() == "metal.simdgroup_barrier"));
}

bool stays_the_same(const MatrixSource& source, const llvm::Instruction& place) {
  return llvm::all_of(source.loads(), [&](const llvm::Instruction* load) {
    if (load->getParent() != place.getParent() || !load->comesBefore(&place)) return false;
    for (const llvm::Instruction* next = load->getNextNode(); next != &place; next = next->getNextNode())
      if (!changes_no_memory(*next)) return false;
    return true;
  });
}

// Nobody in its block needs the value before that place.
bool can_be_made_at(const llvm::Instruction& value, const llvm::Instruction& place) {
  return llvm::all_of(value.users(), [&](const llvm::User* user) {
    const auto* instruction = llvm::cast<llvm::Instruction>(user);
    if (llvm::isa<llvm::PHINode>(instruction) || instruction->getParent() != place.getParent() ||
        place.comesBefore(instruction))
      return true;
    return llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst>(instruction) &&
           can_be_made_at(*instruction, place);
  });
}

}  // namespace

llvm::BasicBlock* LaneUse::block() const {
  auto* user = llvm::cast<llvm::Instruction>(use->getUser());
  auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
  return phi ? phi->getIncomingBlock(*use) : user->getParent();
}

Matrix incoming(const Matrix& phis, const llvm::BasicBlock* from) {
  const auto of = [&](const Element& phi) {
    return element_of(llvm::cast<llvm::PHINode>(phi.value)->getIncomingValueForBlock(from));
  };
  return {of(phis[0]), of(phis[1])};
}

Bands::Bands(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes)
    : function_(function), loops_(loops), shapes_(shapes), most_(has_feature(function, "avx512f") ? 4 : 2) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
    if (!shapes_.is_masked(block)) find_steps(*block);
  find_bands();
  std::map<const Band*, bool> is_chosen;
  for (const Band& band : bands_) {
    const Band* web = webs_.getLeaderValue(&band);
    if (!is_chosen.contains(web)) is_chosen[web] = is_worth_it(*web);
  }
  std::erase_if(steps_, [&](const Step& step) { return !is_chosen[webs_.getLeaderValue(step.result)]; });
  std::erase_if(band_of_, [&](const auto& entry) { return !is_chosen[webs_.getLeaderValue(entry.second)]; });
}

std::vector<Band*> Bands::bands() {
  std::vector<Band*> chosen;
  for (Band& band : bands_)
    if (find(band.sums) == &band) chosen.push_back(&band);
  return chosen;
}

Band* Bands::find(llvm::ArrayRef<Matrix> sums) const {
  const auto found = band_of_.find(sums[0]);
  return found != band_of_.end() && llvm::ArrayRef(found->second->sums) == sums ? found->second : nullptr;
}

bool Bands::is_filled(const Matrix& matrix) const {
  return matrix[0] == matrix[1] && !matrix[0].value->getType()->isVectorTy() && shapes_.is_uniform(matrix[0].value);
}

const MatrixSource* Bands::source_of(const Matrix& matrix) {
  const auto [found, is_new] = sources_.try_emplace(matrix);
  if (is_new) found->second = MatrixSource::find(matrix, shapes_);
  return found->second ? &*found->second : nullptr;
}

void Bands::find_steps(llvm::BasicBlock& block) {
  std::vector<llvm::CallInst*> products;
  const MatrixSource* left = nullptr;
  const auto end = [&] {
    add_step(products);
    products.clear();
  };
  for (llvm::Instruction& instruction : block) {
    llvm::CallInst* product = as_product_in_float(instruction);
    if (!product) continue;
    const MatrixSource* own_left = source_of(operand_of(product, 0));
    const MatrixSource* right = source_of(operand_of(product, 1));
    const bool is_loaded = own_left && right && (right->has_whole_rows() || right->has_whole_columns());
    const bool goes_with_others =
        is_loaded && own_left == left && products.size() < most_ &&
        llvm::all_of(products, [&](const llvm::CallInst* other) { return can_be_made_at(*other, *product); });
    if (!goes_with_others) end();
    left = own_left;
    if (is_loaded) products.push_back(product);
  }
  end();
}

// Of products with the same left factor. They come in the order of their right factors in memory, whatever order they
// are in: those of other rows must be in the same.
void Bands::add_step(llvm::ArrayRef<llvm::CallInst*> products) {
  if (products.empty()) return;
  const auto right_of = [&](const llvm::CallInst* product) { return source_of(operand_of(product, 1)); };
  const auto distance = [&](const llvm::CallInst* product) {
    return right_of(products[0])->distance_to(*right_of(product), function_.getDataLayout());
  };
  std::vector<llvm::CallInst*> ordered(products);
  if (llvm::all_of(products, distance))
    std::ranges::stable_sort(ordered, {}, [&](const llvm::CallInst* product) { return *distance(product); });
  const size_t least = most_ / 2;
  for (size_t first = 0, count = most_; count >= least;) {
    if (ordered.size() - first < count) {
      count /= 2;
      continue;
    }
    Step step{source_of(operand_of(ordered[first], 0)), {}, {}, {}, ordered[first]};
    for (llvm::CallInst* product : llvm::ArrayRef(ordered).slice(first, count)) {
      step.right.push_back(right_of(product));
      step.products.push_back(product);
      step.addends.push_back(operand_of(product, 2));
      if (step.last->comesBefore(product)) step.last = product;
    }
    first += count;
    const auto can_be_loaded = [&](const MatrixSource* source) { return stays_the_same(*source, *step.last); };
    if (can_be_loaded(step.left) && llvm::all_of(step.right, can_be_loaded)) steps_.push_back(std::move(step));
  }
}

// What products give comes first, so that phis find it.
void Bands::find_bands() {
  for (Step& step : steps_) {
    Band band{{}, step.last->getParent(), step.last};
    for (llvm::CallInst* product : step.products) band.sums.push_back(result_of(product));
    step.result = add_band(std::move(band));
  }
  for (Step& step : steps_)
    if (Band* addends = band_of(step.addends)) webs_.unionSets(addends, step.result);
}

Band* Bands::add_band(Band made) {
  Band* band = &bands_.emplace_back(std::move(made));
  webs_.insert(band);
  for (const Matrix& sum : band->sums) {
    band_of_[sum] = band;
    for (const Element& element : sum) band_that_has_[element.value] = band;
  }
  return band;
}

// Found or made; null: they do not go together.
Band* Bands::band_of(llvm::ArrayRef<Matrix> sums) {
  if (Band* known = find(sums)) return known;
  llvm::BasicBlock* block = block_of_phis(sums[0]);
  if (!block || shapes_.is_masked(block)) return nullptr;
  for (size_t i = 0; i < sums.size(); ++i)
    if (block_of_phis(sums[i]) != block || band_of_.contains(sums[i]) ||
        llvm::is_contained(sums.take_front(i), sums[i]))
      return nullptr;
  Band* band = add_band({{sums.begin(), sums.end()}, block, nullptr});
  for (const llvm::BasicBlock* from : llvm::predecessors(block)) {
    std::vector<Matrix> origins;
    for (const Matrix& sum : band->sums) origins.push_back(incoming(sum, from));
    if (Band* origin = band_of(origins)) webs_.unionSets(origin, band);
  }
  return band;
}

// A matrix goes to lanes, or comes from them, in as many shuffles as a product takes there.
bool Bands::is_worth_it(const Band& web) {
  constexpr unsigned products_worth_a_conversion = 4;
  const auto is_member = [&](const Band* band) { return band && webs_.isEquivalent(band, &web); };
  unsigned depth = 0;
  for (const Step& step : steps_)
    if (is_member(step.result)) depth = std::max(depth, loops_.getLoopDepth(step.last->getParent()));
  const auto counts = [&](const llvm::BasicBlock* block) { return loops_.getLoopDepth(block) >= depth; };
  size_t products = 0, conversions = 0;
  const auto convert = [&](llvm::ArrayRef<Matrix> matrices, const llvm::BasicBlock* block) {
    if (counts(block) && !is_member(find(matrices)))
      conversions += llvm::count_if(matrices, [&](const Matrix& matrix) { return !is_filled(matrix); });
  };
  for (const Step& step : steps_) {
    if (!is_member(step.result) || !counts(step.last->getParent())) continue;
    products += step.products.size();
    convert(step.addends, step.last->getParent());
  }
  for (const Band* band : webs_.members(webs_.getLeaderValue(&web))) {
    if (band->is_phi())
      for (const llvm::BasicBlock* from : llvm::predecessors(band->block)) {
        std::vector<Matrix> origins;
        for (const Matrix& sum : band->sums) origins.push_back(incoming(sum, from));
        convert(origins, from);
      }
    for (const Matrix& sum : band->sums) {
      conversions += llvm::any_of(uses_in_lanes(sum), [&](const LaneUse& use) { return counts(use.block()); });
    }
  }
  return products >= products_worth_a_conversion * conversions;
}

std::vector<LaneUse> Bands::uses_in_lanes(const Matrix& sum) const {
  const Band* web = webs_.getLeaderValue(band_of_.at(sum));
  // What old products and phis have of it goes away with them.
  const std::function<bool(const llvm::Use&)> goes_away = [&](const llvm::Use& use) {
    const llvm::User* user = use.getUser();
    if (llvm::isa<llvm::InsertElementInst>(user)) return llvm::all_of(user->uses(), goes_away);
    const auto found = band_that_has_.find(user);
    return found != band_that_has_.end() && webs_.getLeaderValue(found->second) == web &&
           (llvm::isa<llvm::PHINode>(user) || use.getOperandNo() == 2);
  };
  std::vector<LaneUse> found;
  const std::function<void(llvm::Use&, std::optional<unsigned>)> add = [&](llvm::Use& use,
                                                                           std::optional<unsigned> element) {
    if (goes_away(use)) return;
    auto* phi = llvm::dyn_cast<llvm::PHINode>(use.getUser());
    if (!phi || phi->getNumIncomingValues() != 1) return found.push_back({&use, element});
    for (llvm::Use& behind_loop : phi->uses()) add(behind_loop, element);
  };
  for (unsigned i = 0; i < 2; ++i) {
    const bool is_pair = sum[i].value->getType()->isVectorTy();
    for (llvm::Use& use : sum[i].value->uses()) {
      auto* extraction = llvm::dyn_cast<llvm::ExtractElementInst>(use.getUser());
      if (!is_pair)
        add(use, i);
      else if (!extraction && i == 0)
        add(use, std::nullopt);
      else if (extraction && element_of(extraction).place == i)
        for (llvm::Use& of_element : extraction->uses()) add(of_element, i);
    }
  }
  return found;
}

}  // namespace metalloid::cpu::vector
