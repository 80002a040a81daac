#include "nvidia/compile.hpp"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "bitcode/code_key.hpp"
#include "bitcode/function_pointers.hpp"
#include "cache/disk_cache.hpp"
#include "nvidia/lower/kernel.hpp"

namespace metalloid::nvidia {

namespace {

Result<std::string> generate_ptx(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Error{"LLVM cannot generate PTX"};
  passes.run(module);
  return std::string(text);
}

// Waits until the kernel before it in a chain (launches.hpp) has ended and what that wrote can be seen, and lets the
// next one come onto the GPU. In this order: of a chain of small kernels, otherwise, many would sit there and wait at
// once, in the way of the one at work. (A kernel of 5 us takes 7.5 then, on an H200.) This stands in the text, ahead of
// everything: to LLVM, loads from memory that a kernel does not write depend on nothing, and could come before it.
Status begin_with_dependencies(std::string& ptx) {
  const size_t entry = ptx.find(fmt::format(".entry {}(", entry_symbol));
  const size_t body = entry == std::string::npos ? entry : ptx.find("\n{", entry);
  if (body == std::string::npos) return Error{"the PTX of LLVM has no entry"};
  ptx.insert(body + 2, "\n\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;");
  return success();
}

// LLVM prints what it has to say, unless it is told otherwise; its warnings are about its own business.
class DiagnosticHandler final : public llvm::DiagnosticHandler {
 public:
  explicit DiagnosticHandler(std::string& problem) : problem_(problem) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(problem_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::string& problem_;
};

Result<CompiledKernel> compile_now(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                                   const Architecture& architecture, const Assumptions& assumptions) {
  auto machine = lower::make_machine(architecture);
  if (!machine) return Error{machine.error()};
  llvm::LLVMContext context;
  std::string problem;
  context.setDiagnosticHandler(std::make_unique<DiagnosticHandler>(problem));
  auto lowered = lower::lower_kernel(context, request, slots, architecture, assumptions, **machine);
  if (!lowered) return Error{lowered.error()};
  auto ptx = generate_ptx(*lowered->module, **machine);
  if (!ptx) return Error{ptx.error()};
  if (!problem.empty()) return Error{fmt::format("'{}' cannot be compiled: {}", request.kernel.name, problem)};
  if (overlaps_launches(architecture))
    if (const Status begun = begin_with_dependencies(*ptx); !begun) return Error{begun.error()};
  lowered->kernel.ptx = std::move(*ptx);
  return std::move(lowered->kernel);
}

Result<cache::CacheKey> key_of(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                               const Architecture& architecture, const Assumptions& assumptions) {
  auto key = bitcode::key_of(compiler_fingerprint(), request, slots);
  if (key)
    key->add("nvidia")
        .add(architecture.name())
        .add(assumptions.is_even ? "even" : "any")
        .add(assumptions.are_buffers_apart ? "apart" : "any");
  return key;
}

std::string to_text(const CompiledKernel& kernel) {
  nlohmann::json sites = nlohmann::json::array();
  for (const LogSite& site : kernel.log_sites)
    sites.push_back({site.level, site.subsystem, site.category, site.format});
  return nlohmann::json{{"threadgroup_memory", kernel.static_threadgroup_memory},
                        {"dynamic", kernel.variables_are_dynamic},
                        {"uses", kernel.uses_argument},
                        {"writes", kernel.writes_argument},
                        {"logs", sites},
                        {"ptx", kernel.ptx}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Nothing if it is something else.
std::optional<CompiledKernel> from_text(std::string_view text, size_t slots) try {
  const auto fields = nlohmann::json::parse(text);
  CompiledKernel kernel;
  fields.at("threadgroup_memory").get_to(kernel.static_threadgroup_memory);
  fields.at("dynamic").get_to(kernel.variables_are_dynamic);
  fields.at("uses").get_to(kernel.uses_argument);
  fields.at("writes").get_to(kernel.writes_argument);
  for (const auto& site : fields.at("logs"))
    kernel.log_sites.push_back({site.at(0), site.at(1), site.at(2), site.at(3)});
  fields.at("ptx").get_to(kernel.ptx);
  if (kernel.uses_argument.size() != slots || kernel.writes_argument.size() != slots) return std::nullopt;
  return kernel;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace

Result<CompiledKernel> compile(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                               const Architecture& architecture, const Assumptions& assumptions) {
  auto key = key_of(request, slots, architecture, assumptions);
  if (!key) return Error{key.error()};
  const std::string name = key->hex();
  for (const auto& archive : request.archives)
    if (const auto text = archive->load(name))
      if (auto kernel = from_text(*text, slots.size())) return std::move(*kernel);
  if (request.only_from_archives)
    return Error{
        fmt::format("'{}' is in none of the binary archives, and compiling it was ruled out", request.kernel.name)};

  cache::DiskCache& disk = cache::DiskCache::shared();
  std::optional<CompiledKernel> kernel;
  if (const auto kept = disk.load(*key)) kernel = from_text(*kept, slots.size());
  if (!kernel) {
    auto compiled = compile_now(request, slots, architecture, assumptions);
    if (!compiled) return compiled;
    kernel = std::move(*compiled);
    disk.store(*key, to_text(*kernel));
  }
  for (const auto& archive : request.archives) archive->store(name, to_text(*kernel));
  return std::move(*kernel);
}

uint64_t visible_function_handle(size_t place) {
  return bitcode::handle_of_visible_function(place);
}

}  // namespace metalloid::nvidia
