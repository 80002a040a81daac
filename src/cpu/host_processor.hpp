// The processor that this program runs on: its name for people, and what LLVM compiles for.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <metalloid/result.hpp>
#include <string>

namespace metalloid::cpu {

std::string processor_name();          // "AMD EPYC 7763"
std::string processor_architecture();  // "x86-64-v3", "aarch64"

// Everything that code for this processor depends on, for keys of caches.
std::string processor_key();

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine();

}  // namespace metalloid::cpu
