// A kernel made ready for a device: what it is made from, and what it says about itself.
#pragma once

#include <cstdint>
#include <memory>
#include <metalloid/library.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::device {

// The value of one function constant, as the bytes of its type.
struct ConstantValue {
  uint32_t index = 0;
  std::vector<uint8_t> bytes;

  bool operator==(const ConstantValue&) const = default;
};

// A function of a library with the values of its function constants, sorted by index.
struct SpecialisedFunction {
  std::shared_ptr<const Library> library;
  std::string name;  // the function's host name in the library
  std::vector<ConstantValue> constants;
};

// Machine code kept between processes: the disk cache, or a binary archive. Keys say everything the code depends on.
class CodeStore {
 public:
  virtual ~CodeStore() = default;
  virtual std::optional<std::string> load(std::string_view key) = 0;
  virtual void store(std::string_view key, std::string_view code) = 0;
};

struct PipelineRequest {
  SpecialisedFunction kernel;
  std::vector<SpecialisedFunction> linked;  // visible functions that the kernel may call through tables
  std::optional<uint32_t> max_threads_per_threadgroup;
  bool validate = false;                             // report what the kernel does wrong to memory and barriers
  std::vector<std::shared_ptr<CodeStore>> archives;  // asked before the disk cache
  bool only_from_archives = false;                   // fail rather than compile
};

// One argument that a dispatch passes: a binding of the kernel. An array of n textures has n slots.
struct Slot {
  ParameterKind kind = ParameterKind::buffer;
  uint32_t index = 0;      // of the buffer, texture, ... table
  uint32_t parameter = 0;  // in Function::parameters
  bool used = true;        // false: the code, with the values of its constants, does without
};

// The slots of a function in the order of its parameters. Arguments that a function constant switches off have none;
// nor do grid values. The constants are those that the pipeline was made with.
std::vector<Slot> argument_slots(const Function& function, std::span<const ConstantValue> constants);

class Pipeline {
 public:
  virtual ~Pipeline() = default;

  // Where a visible function that was linked can be called, for a visible function table; 0 if there is none so named.
  virtual uint64_t function_address(std::string_view name) const = 0;

  std::string name;    // the kernel's
  std::string engine;  // which of the device's engines runs it, if it has several: "vector", "reference"
  std::vector<Slot> slots;
  uint32_t max_threads_per_threadgroup = 1024;
  uint32_t static_threadgroup_memory = 0;  // bytes
};

constexpr uint32_t threads_per_simdgroup = 32;

}  // namespace metalloid::device
