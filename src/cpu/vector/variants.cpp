#include "cpu/vector/variants.hpp"

#include <algorithm>

#include "cpu/object_code.hpp"

namespace metalloid::cpu::vector {

Result<std::unique_ptr<Variants>> Variants::make(std::shared_ptr<Loader> loader, const device::PipelineRequest& request,
                                                 std::span<const device::Slot> slots, const Variant& first,
                                                 const Processor& processor) {
  std::unique_ptr<Variants> variants(new Variants(std::move(loader), request, slots, processor));
  const CompiledVariant& compiled = variants->get(first);
  if (!compiled.code) return Error{compiled.error};
  variants->variants_.front().variant.width = compiled.code->layout->width;
  variants->chose_width_ = first.width == any_width;
  // Archives are asked for what the pipeline is made of; what a dispatch then needs may be compiled in any case.
  variants->request_.only_from_archives = false;
  return variants;
}

const CompiledVariant& Variants::get(const Variant& variant) {
  CompiledVariant& found = find(variant);
  std::call_once(found.compiled, [&] { compile(found); });
  return found;
}

CompiledVariant& Variants::find(const Variant& variant) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(variants_, variant, &CompiledVariant::variant);
  return found == variants_.end() ? variants_.emplace_back(variant) : *found;
}

void Variants::compile(CompiledVariant& variant) const {
  auto object = object_code(request_, slots_, &variant.variant, processor_);
  if (!object) {
    variant.error = object.error();
    return;
  }
  if (object->empty()) return;
  auto code = LoadedCode::load(loader_, *object, /*visible_functions=*/0, /*validated=*/false);
  if (code)
    variant.code = std::move(*code);
  else
    variant.error = code.error();
}

}  // namespace metalloid::cpu::vector
