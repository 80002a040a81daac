#include "mps/libraries/nvidia/cublas_lt.hpp"

#include <fmt/format.h>

#include "nvidia/driver.hpp"

namespace metalloid::mps::nvidia {
namespace {

// A library of CUDA 13 needs a driver of CUDA 13.
std::vector<std::string> files() {
  int version = 0;
  if (const auto& driver = metalloid::nvidia::Driver::shared()) static_cast<void>(driver->get_version(&version));
  if (version >= 13000) return {"libcublasLt.so.13", "libcublasLt.so.12"};
  return {"libcublasLt.so.12"};
}

Result<CublasLt> open() {
  const auto library = SharedLibrary::open(files());
  if (!library) return Error{library.error()};
  CublasLt functions;
  METALLOID_CUBLAS_LT_FUNCTIONS(METALLOID_FIND_FUNCTION)
  functions.path = library->path();
  return functions;
}

}  // namespace

const Result<CublasLt>& CublasLt::shared() {
  static const auto& shared = *new Result<CublasLt>(open());
  return shared;
}

std::string CublasLt::name() const {
  const size_t version = get_version();
  return fmt::format("cuBLASLt {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace metalloid::mps::nvidia
