#include "cpu/vector/find_strides.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "bitcode/address_spaces.hpp"
#include "cpu/vector/fetch_ahead.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr int64_t near = 16;  // bytes from a lane to the next: a line of the cache serves several

int64_t longest_step(const Shape& shape) {
  int64_t longest = 0;
  for (unsigned l = 1; l < shape.offsets.size(); ++l)
    longest = std::max(longest, std::abs(shape.factor_step(l) - shape.factor_step(l - 1)));
  return longest;
}

// The argument that a number is read from.
std::optional<Stride> stride_of(const llvm::Value* factor, int64_t step, const llvm::DataLayout& layout) {
  while (const auto* cast = llvm::dyn_cast<llvm::CastInst>(factor)) factor = cast->getOperand(0);
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(factor);
  if (!load || load->getPointerAddressSpace() != bitcode::constant_address_space || !load->getType()->isIntegerTy())
    return std::nullopt;
  const uint64_t bytes = layout.getTypeStoreSize(load->getType()).getFixedValue();
  llvm::APInt offset(64, 0);
  const llvm::Value* base =
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  const std::optional<uint64_t> argument = offset_of_argument(base, layout);
  if (!argument || offset.isNegative() || !llvm::isPowerOf2_64(bytes) || bytes > 8) return std::nullopt;
  return Stride{*argument / sizeof(device::Argument), offset.getZExtValue(), bytes,
                static_cast<uint64_t>(std::max<int64_t>(1, near / step))};
}

}  // namespace

bool has_stride(const llvm::Instruction& access, const ShapeAnalysis& shapes) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
  if (!pointer) return false;
  const Shape shape = shapes.shape(pointer);
  if (!shape.is_known() || !shape.factor) return false;
  for (unsigned l = 1; l < shape.offsets.size(); ++l)
    if (shape.factor_step(l) == shape.factor_step(l - 1)) return false;
  return true;
}

std::vector<Stride> find_strides(const llvm::Function& lane_form, const ShapeAnalysis& shapes) {
  std::vector<Stride> strides;
  for (const llvm::Instruction& instruction : llvm::instructions(lane_form)) {
    if (!has_stride(instruction, shapes)) continue;
    const Shape shape = shapes.shape(llvm::getLoadStorePointerOperand(&instruction));
    const auto stride = stride_of(shape.factor, longest_step(shape), lane_form.getDataLayout());
    if (!stride) return {};
    if (!llvm::is_contained(strides, *stride)) strides.push_back(*stride);
  }
  return strides;
}

}  // namespace metalloid::cpu::vector
