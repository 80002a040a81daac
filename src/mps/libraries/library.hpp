// The math libraries of a device: OpenBLAS and oneDNN on CPUs, cuBLASLt and cuDNN on NVIDIA's GPUs. Each operation is
// described by a plain struct; a library that has it makes a primitive, which is kept by the kernel object and run any
// number of times, and answers null for what it does not have, which our own kernels do then.
#pragma once

#include <memory>
#include <metalloid/result.hpp>
#include <span>
#include <string>

#include "device/device.hpp"

namespace metalloid::mps {

struct Convolution;
struct MatrixDecomposition;
struct MatrixProduct;
struct TriangularSystem;

// An operation made ready for one description. It may be run by several threads at once.
class Primitive {
 public:
  virtual ~Primitive() = default;

  // Enqueues on `stream` or, where that is null, does the work. What the places are is said with the description.
  virtual Status run(device::LibraryStream* stream, std::span<void* const> places) = 0;
};

class MathLibrary {
 public:
  virtual ~MathLibrary() = default;

  virtual std::string name() const = 0;  // "OpenBLAS 0.3.21, oneDNN 2.6.3"
  virtual std::shared_ptr<Primitive> matrix_product(const MatrixProduct& product) const = 0;
  virtual std::shared_ptr<Primitive> matrix_decomposition(const MatrixDecomposition& decomposition) const = 0;
  virtual std::shared_ptr<Primitive> triangular_system(const TriangularSystem& system) const = 0;
  virtual std::shared_ptr<Primitive> convolution(const Convolution& convolution) const = 0;
};

// The library of a device; null where none can be opened, or METALLOID_MPS_LIBRARIES=0 forbids it.
const MathLibrary* math_library(const device::Info& device);

// Why libraries of the device's are missing, for people to read; empty if none is.
std::string missing_math_libraries(const device::Info& device);

// Switches all libraries off, and on again: tests compare both ways.
void allow_math_libraries(bool allowed);

}  // namespace metalloid::mps
