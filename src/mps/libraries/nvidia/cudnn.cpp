#include "mps/libraries/nvidia/cudnn.hpp"

#include <fmt/format.h>

#include "mps/libraries/nvidia/cublas_lt.hpp"

namespace metalloid::mps::nvidia {
namespace {

// It uses cuBLASLt, and finds the one that is open already.
Result<Cudnn> open() {
  static_cast<void>(CublasLt::shared());
  const auto library = SharedLibrary::open({"libcudnn.so.9"});
  if (!library) return Error{library.error()};
  Cudnn functions;
  METALLOID_CUDNN_FUNCTIONS(METALLOID_FIND_FUNCTION)
  functions.path = library->path();
  return functions;
}

}  // namespace

const Result<Cudnn>& Cudnn::shared() {
  static const auto& shared = *new Result<Cudnn>(open());
  return shared;
}

std::string Cudnn::name() const {
  const size_t version = get_version();
  return fmt::format("cuDNN {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace metalloid::mps::nvidia
