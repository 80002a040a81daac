// Libraries of NVIDIA's, opened at run time from wherever people have them: where the system looks, CUDA's own folder,
// and the packages that pip brings along with PyTorch. METALLOID_CUDA_LIBRARIES names folders that come first.
#pragma once

#include <metalloid/result.hpp>
#include <string>
#include <vector>

namespace metalloid::mps::nvidia {

class SharedLibrary {
 public:
  // The first of these files that is found, each looked for everywhere before the next. It is never closed. The error
  // says what is missing and how to name its folder.
  static Result<SharedLibrary> open(const std::vector<std::string>& files);

  const std::string& path() const { return path_; }
  void* find(const char* symbol) const;

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::string path_;
};

// Where libraries are looked for, in this order; "" is where the system looks.
std::vector<std::string> library_folders();

// An object of functions, given by a list FUNCTIONS(FUNCTION) of FUNCTION(name, symbol, result, arguments...).
#define METALLOID_DECLARE_FUNCTION(name, symbol, type, ...) type (*name)(__VA_ARGS__) = nullptr;
#define METALLOID_FIND_FUNCTION(name, symbol, type, ...)                              \
  functions.name = reinterpret_cast<decltype(functions.name)>(library->find(symbol)); \
  if (!functions.name) return Error{library->path() + " has no function " symbol "; a newer one is needed"};

}  // namespace metalloid::mps::nvidia
