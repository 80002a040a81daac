#include "cpu/host_processor.hpp"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

namespace metalloid::cpu {

namespace {

constexpr const char* processor_variable = "METALLOID_PROCESSOR";

using Features = std::map<std::string, bool>;

Features host_features() {
  Features features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) features[feature.getKey().str()] = feature.getValue();
  return features;
}

std::string to_text(const Features& features) {
  // Conversions to bfloat that take denormal numbers for zero.
  const llvm::StringRef inexact[] = {"avx512bf16", "avxneconvert"};
  llvm::SubtargetFeatures text;
  for (const auto& [name, is_there] : features) text.AddFeature(name, is_there && !llvm::is_contained(inexact, name));
  return text.getString();
}

// A loop over several arrays takes an instruction less if they share an index, which is what LLVM counts. But of an
// instruction that computes with what an index leads to, Intel's processors make two, and look less far ahead for it:
// they read a matrix of halves from memory 8 % more slowly. To others a pointer for each array is as good. LLVM has
// this as an option of the whole process.
void prefer_pointers_to_indices() {
  const auto& options = llvm::cl::getRegisteredOptions();
  constexpr llvm::StringLiteral name = "lsr-insns-cost";
  const auto found = options.find(name);
  const bool is_open =
      found != options.end() && found->second->getNumOccurrences() == 0;  // the program may have set it
  if (is_open) found->second->addOccurrence(0, name, "false");
}

// The host's architecture, or the other one that kernels are compiled for, set up when it is first asked for.
Result<const llvm::Target*> target_of(const llvm::Triple& triple) {
  static std::once_flag native, other;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    if (llvm::Triple(llvm::sys::getProcessTriple()).isX86()) prefer_pointers_to_indices();
  });
  if (triple.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    std::call_once(other, [] {
      LLVMInitializeAArch64TargetInfo();
      LLVMInitializeAArch64Target();
      LLVMInitializeAArch64TargetMC();
      LLVMInitializeAArch64AsmPrinter();
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86Target();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86AsmPrinter();
    });
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) return Error{"LLVM has no code generator for the processor: " + problem};
  return target;
}

// Virtual machines hide instructions for systems from their guests; no kernel misses them.
bool is_used_by_kernels(llvm::StringRef feature, const llvm::Triple& triple) {
  if (!triple.isX86()) return true;
  const llvm::StringRef families[] = {"sse",   "ssse",   "avx",   "amx", "fma",  "f16c", "xop",  "bmi",
                                      "lzcnt", "popcnt", "movbe", "adx", "cx16", "gfni", "egpr", "cf"};
  return llvm::any_of(families, [&](llvm::StringRef family) { return feature.starts_with(family); });
}

// A processor that can do no more than the host.
Result<Processor> weaker_processor(const std::string& name, Processor host) {
  const llvm::Triple triple(host.triple);
  auto target = target_of(triple);
  if (!target) return Error{target.error()};
  const std::unique_ptr<llvm::MCSubtargetInfo> generic((*target)->createMCSubtargetInfo(triple, "", ""));
  if (!generic || !generic->isCPUStringValid(name))
    return Error{
        fmt::format("{} is '{}', which is no {} processor that LLVM knows; examples are 'x86-64-v3' and 'znver4' "
                    "on x86-64, 'cortex-a72' on AArch64",
                    processor_variable, name, triple.getArchName().str())};
  const std::unique_ptr<llvm::MCSubtargetInfo> asked((*target)->createMCSubtargetInfo(triple, name, ""));
  Features features = host_features();
  std::string missing;
  for (const llvm::SubtargetFeatureKV& feature : asked->getAllProcessorFeatures()) {
    const auto found = features.find(feature.Key);
    if (found == features.end()) continue;  // how to tune, not what there is
    const bool is_asked = asked->hasFeature(feature.Value);
    if (is_asked && !found->second && is_used_by_kernels(found->first, triple))
      missing += (missing.empty() ? "" : ", ") + found->first;
    found->second &= is_asked;
  }
  if (!missing.empty())
    return Error{fmt::format("{} is '{}', but this processor ({}) lacks what that one has: {}", processor_variable,
                             name, host.name, missing)};
  host.name = name;
  host.features = to_text(features);
  return host;
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != line.npos) return line.substr(colon + 2);
  }
  return llvm::sys::getHostCPUName().str();
}

std::string processor_architecture() {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  if (triple.getArch() != llvm::Triple::x86_64) return triple.getArchName().str();
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512vl")) return "x86-64-v4";
  if (features.lookup("avx2")) return "x86-64-v3";
  return features.lookup("sse4.2") ? "x86-64-v2" : "x86-64";
}

Result<Processor> host_processor() {
  static const Processor host{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(),
                              to_text(host_features())};
  const char* asked = std::getenv(processor_variable);
  if (!asked || !*asked) return host;
  return weaker_processor(asked, host);
}

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const Processor& processor) {
  const llvm::Triple triple(processor.triple);
  auto target = target_of(triple);
  if (!target) return Error{target.error()};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only what the code's own flags allow
  std::unique_ptr<llvm::TargetMachine> machine(
      (*target)->createTargetMachine(triple, processor.name, processor.features, options, llvm::Reloc::PIC_,
                                     llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine) return Error{"LLVM could not set up its code generator for " + processor.name};
  return machine;
}

}  // namespace metalloid::cpu
