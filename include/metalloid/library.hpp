// A compiled library: functions with their reflection, and the code of each, which is LLVM bitcode for no device in
// particular. Reflection and code are produced or read when they are asked for, so a library of thousands of kernels
// opens at once. All of it may be used from several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <metalloid/reflection.hpp>
#include <metalloid/result.hpp>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace metalloid {

// One function, compiled: a bitcode module that holds it and all it calls.
struct Code {
  std::string entry;  // the function's symbol in the module
  std::vector<uint8_t> bitcode;
  uint64_t static_threadgroup_memory = 0;            // bytes
  std::vector<FunctionConstant> function_constants;  // those the function really uses, by index
  std::vector<std::string> undefined;                // symbols of functions that it calls and another file defines

  bool operator==(const Code&) const = default;
};

// Code of a function made ahead of time for one kind of device, in that device's form.
struct DeviceCode {
  std::string function;
  std::string device;  // "sm_90"
  std::string form;    // "PTX", "cubin"
  std::string key;     // the device's: what exactly it was made from, and by which compiler
  std::function<Result<std::string>()> read;
};

// Where code comes from: a file, or the compiler that still holds the source. Safe to call from several threads.
class CodeProvider {
 public:
  virtual ~CodeProvider() = default;
  virtual Result<std::shared_ptr<const Code>> code(size_t function) = 0;
};

class Library {
 public:
  Library(std::vector<Function> functions, std::vector<FunctionConstant> constants,
          std::shared_ptr<CodeProvider> provider);

  // Functions that are read one by one when asked for. What the names point at must live as long as the provider.
  using ReadFunction = std::function<Function(size_t)>;
  Library(std::vector<std::string_view> names, ReadFunction read, std::vector<FunctionConstant> constants,
          std::shared_ptr<CodeProvider> provider);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Maps the file; a damaged, truncated or foreign one is an error that says which.
  static Result<std::shared_ptr<Library>> open(const std::filesystem::path& path);
  static Result<std::shared_ptr<Library>> from_bytes(std::vector<uint8_t> bytes);

  // In the order of the source. The names cost nothing, functions() reads every function that was not read yet.
  const std::vector<std::string_view>& function_names() const { return names_; }
  const std::vector<Function>& functions() const;
  const std::vector<FunctionConstant>& function_constants() const { return constants_; }

  // Reads that function only; null if there is none of that name.
  const Function* find(std::string_view name) const;
  Result<std::shared_ptr<const Code>> code(std::string_view name) const;

  // What devices look for before they make code themselves. It is added before others use the library; of two with the
  // same key the first counts.
  void add_device_code(std::vector<DeviceCode> code);
  const std::vector<DeviceCode>& device_code() const { return device_code_; }
  const DeviceCode* find_device_code(std::string_view key) const;

  // Produces the code of every function.
  Result<std::vector<uint8_t>> serialise() const;

  // The file appears complete or not at all.
  Status write(const std::filesystem::path& path) const;

 private:
  const Function& function(size_t index) const;
  void index_names();

  mutable std::vector<Function> functions_;  // with `read_`, each is filled in once, under its flag
  ReadFunction read_;
  std::unique_ptr<std::once_flag[]> was_read_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, size_t> index_of_;
  std::vector<FunctionConstant> constants_;
  std::shared_ptr<CodeProvider> provider_;
  std::vector<DeviceCode> device_code_;
  std::unordered_map<std::string, size_t> device_code_by_key_;
};

// One library with the functions of all but those for other files; a name that two of them define is an error.
Result<std::shared_ptr<Library>> merge(const std::vector<std::shared_ptr<Library>>& libraries);

}  // namespace metalloid
