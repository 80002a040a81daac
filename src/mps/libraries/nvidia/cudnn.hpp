// cuDNN: what is used of its graph interface, declared here, so that building needs nothing of CUDA. Everything there
// is a descriptor: it is created, given attributes, and finalized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <metalloid/result.hpp>
#include <string>

#include "mps/libraries/nvidia/shared_library.hpp"

namespace metalloid::mps::nvidia {

namespace dnn {

enum class Code : int { success = 0 };

using Handle = struct HandleData*;
using Descriptor = void*;

enum class Kind : int {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engine_configuration = 3,
  engine_heuristics = 4,
  execution_plan = 5,
  convolution_forward = 10,
  convolution_backward_filter = 11,
  convolution_backward_data = 12,
  pointwise_operation = 13,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
};

enum class AttributeType : int {
  handle = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  float32 = 4,
  pointer = 6,
  convolution_mode = 7,
  heuristic_mode = 8,
  numerical_note = 11,
  pointwise_mode = 14,
  descriptor = 15,
};

enum class Attribute : int {
  pointwise_mode = 0,
  pointwise_precision = 1,
  convolution_compute_type = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_post_paddings = 104,
  convolution_pre_paddings = 105,
  convolution_spatial_dimensions = 106,
  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,
  configuration_engine = 300,
  plan_handle = 400,
  plan_configuration = 401,
  plan_workspace = 402,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_weights = 703,
  forward_source = 704,
  forward_result = 705,
  backward_data_alpha = 706,
  backward_data_beta = 707,
  backward_data_convolution = 708,
  backward_data_weights = 709,
  backward_data_source = 710,
  backward_data_result = 711,
  backward_filter_alpha = 712,
  backward_filter_beta = 713,
  backward_filter_convolution = 714,
  backward_filter_weights = 715,
  backward_filter_source = 716,
  backward_filter_result = 717,
  pointwise_descriptor = 750,
  pointwise_source = 751,
  pointwise_other = 752,
  pointwise_result = 753,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_sizes = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_is_virtual = 907,
  pack_ids = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  engine_numerical_notes = 1303,
};

enum class Type : int { float32 = 0, float16 = 2 };
enum class ConvolutionMode : int { cross_correlation = 1 };
enum class HeuristicMode : int { fallback = 2, a = 3 };
enum class PointwiseMode : int { add = 0, relu = 100 };

// How an engine's numbers differ from plain sums of floats.
enum class NumericalNote : int {
  tensor_core = 0,
  converts_inputs_down = 1,
  reduces_with_less_precision = 2,
  fft = 3,
  nondeterministic = 4,
  winograd = 5,
  last_winograd = 8,
};

}  // namespace dnn

#define METALLOID_CUDNN_FUNCTIONS(FUNCTION)                                                                           \
  FUNCTION(get_version, "cudnnGetVersion", size_t)                                                                    \
  FUNCTION(get_error_string, "cudnnGetErrorString", const char*, dnn::Code)                                           \
  FUNCTION(create, "cudnnCreate", dnn::Code, dnn::Handle*)                                                            \
  FUNCTION(destroy, "cudnnDestroy", dnn::Code, dnn::Handle)                                                           \
  FUNCTION(set_stream, "cudnnSetStream", dnn::Code, dnn::Handle, void* stream)                                        \
  FUNCTION(create_descriptor, "cudnnBackendCreateDescriptor", dnn::Code, dnn::Kind, dnn::Descriptor*)                 \
  FUNCTION(destroy_descriptor, "cudnnBackendDestroyDescriptor", dnn::Code, dnn::Descriptor)                           \
  FUNCTION(finalize, "cudnnBackendFinalize", dnn::Code, dnn::Descriptor)                                              \
  FUNCTION(set_attribute, "cudnnBackendSetAttribute", dnn::Code, dnn::Descriptor, dnn::Attribute, dnn::AttributeType, \
           int64_t count, const void* elements)                                                                       \
  FUNCTION(get_attribute, "cudnnBackendGetAttribute", dnn::Code, dnn::Descriptor, dnn::Attribute, dnn::AttributeType, \
           int64_t wanted, int64_t* count, void* elements)                                                            \
  FUNCTION(execute, "cudnnBackendExecute", dnn::Code, dnn::Handle, dnn::Descriptor plan, dnn::Descriptor pack)

struct Cudnn {
  // Opened once; the error says why there is none.
  static const Result<Cudnn>& shared();

  METALLOID_CUDNN_FUNCTIONS(METALLOID_DECLARE_FUNCTION)

  std::string path;
  std::string name() const;  // "cuDNN 9.19.0"
  std::string describe(dnn::Code code) const { return get_error_string(code); }
};

}  // namespace metalloid::mps::nvidia
