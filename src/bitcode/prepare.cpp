#include "bitcode/prepare.hpp"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/Error.h>

#include "bitcode/address_spaces.hpp"
#include "bitcode/builtin_bodies.hpp"
#include "bitcode/calling_convention.hpp"
#include "bitcode/function_constants.hpp"
#include "bitcode/threadgroup_alloc.hpp"

namespace metalloid::bitcode {

namespace {

void set_linkage_of_threadgroup_variables(llvm::Module& module, llvm::GlobalValue::LinkageTypes linkage) {
  for (llvm::GlobalVariable& global : module.globals())
    if (global.getAddressSpace() == threadgroup_address_space) global.setLinkage(linkage);
}

// With `keep_variables`, threadgroup variables that are never read or never written stay what the source says, as
// shader validation wants them.
Result<std::unique_ptr<llvm::Module>> load(llvm::LLVMContext& context, const device::SpecialisedFunction& function,
                                           bool keep_variables) {
  auto code = function.library->code(function.name);
  if (!code) return Error{code.error()};
  if (!(*code)->undefined.empty())
    return Error{
        fmt::format("'{}' calls a function of another file, {}; link both into one library: metallib a.air b.air "
                    "-o both.metallib",
                    function.name, llvm::demangle((*code)->undefined.front()))};
  const auto& bytes = (*code)->bitcode;
  const llvm::MemoryBufferRef buffer(llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                                     function.name);
  auto parsed = llvm::parseBitcodeFile(buffer, context);
  if (!parsed)
    return Error{fmt::format("the code of '{}' is damaged: {}", function.name, llvm::toString(parsed.takeError()))};
  if (!(*parsed)->getFunction(function.name))
    return Error{fmt::format("the code of '{}' is damaged: it does not define the function", function.name)};
  auto module = std::move(*parsed);
  // First, because constants may be derived from others by way of builtins.
  if (auto linked = link_builtin_bodies(*module); !linked) return Error{linked.error()};
  if (keep_variables) set_linkage_of_threadgroup_variables(*module, llvm::GlobalValue::ExternalLinkage);
  if (auto set = set_function_constants(*module, function.name, (*code)->function_constants, function.constants); !set)
    return Error{set.error()};
  if (keep_variables) set_linkage_of_threadgroup_variables(*module, llvm::GlobalValue::InternalLinkage);
  if (auto resolved = resolve_threadgroup_alloc(*module, function.name); !resolved) return Error{resolved.error()};
  return module;
}

// Visible functions keep their names; one that the kernel's module has already is the same function twice.
Status link_visible_function(llvm::Module& module, const device::SpecialisedFunction& function, bool keep_variables) {
  auto linked = load(module.getContext(), function, keep_variables);
  if (!linked) return Error{linked.error()};
  if (const llvm::Function* present = module.getFunction(function.name); present && !present->isDeclaration())
    return Error{fmt::format("two functions named '{}' are linked into one pipeline", function.name)};
  if (llvm::Linker::linkModules(module, std::move(*linked)))
    return Error{fmt::format("internal error: the function '{}' could not be linked", function.name)};
  return success();
}

// What is read from constant memory stays as it is.
void mark_constant_loads(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
          load && load->getPointerAddressSpace() == constant_address_space)
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module.getContext(), {}));
}

}  // namespace

Result<Prepared> prepare(llvm::LLVMContext& context, const device::PipelineRequest& request) {
  auto module = load(context, request.kernel, request.validate);
  if (!module) return Error{module.error()};
  for (const device::SpecialisedFunction& function : request.linked)
    if (auto linked = link_visible_function(**module, function, request.validate); !linked)
      return Error{linked.error()};
  use_c_calling_convention(**module);
  mark_constant_loads(**module);

  Prepared prepared;
  prepared.kernel = (*module)->getFunction(request.kernel.name);
  for (const device::SpecialisedFunction& function : request.linked)
    prepared.linked.push_back((*module)->getFunction(function.name));
  prepared.module = std::move(*module);
  return prepared;
}

}  // namespace metalloid::bitcode
