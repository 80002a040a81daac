// The processor that this program runs on: its name for people, and what LLVM compiles for.
#pragma once

#include <memory>
#include <metalloid/result.hpp>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace metalloid::cpu {

std::string processor_name();          // "AMD EPYC 7763"
std::string processor_architecture();  // "x86-64-v3", "aarch64"

// What code is compiled for, in LLVM's words.
struct Processor {
  std::string triple;    // "x86_64-pc-linux-gnu"
  std::string name;      // "znver4", "cortex-a72"
  std::string features;  // besides those the name brings: "+avx2,-avx512f"

  // Everything that code depends on, for keys of caches.
  std::string key() const { return triple + " " + name + " " + features; }
};

// The one that this program runs on; or the one that the environment names (METALLOID_PROCESSOR), if the former can do
// all that it can.
Result<Processor> host_processor();

// Of any processor that LLVM knows: another architecture's code can be made, though not run here.
Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const Processor& processor);

}  // namespace metalloid::cpu
