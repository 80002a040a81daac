#include "cpu/host_processor.hpp"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <fstream>
#include <mutex>

namespace metalloid::cpu {

namespace {

std::string feature_string() {
  llvm::SubtargetFeatures features;
  std::vector<std::pair<std::string, bool>> sorted;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) sorted.emplace_back(feature.getKey(), feature.getValue());
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [name, is_there] : sorted) features.AddFeature(name, is_there);
  return features.getString();
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

std::string processor_key() {
  return llvm::sys::getProcessTriple() + " " + llvm::sys::getHostCPUName().str() + " " + feature_string();
}

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine() {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  static const std::string features = feature_string();
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) return Error{"LLVM has no code generator for this processor: " + problem};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only what the code's own flags allow
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features, options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine) return Error{"LLVM could not set up its code generator for this processor"};
  return machine;
}

}  // namespace metalloid::cpu
