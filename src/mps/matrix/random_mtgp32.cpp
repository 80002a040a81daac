// MTGP32: the parameters of seven twisters, and their states, which the kernel finds and leaves on the device.
#include <cstring>

#include "mps/core/data_type.hpp"
#include "mps/matrix/random.hpp"

namespace metalloid::mps {
namespace {

// As kernels/random_mtgp32.metal has them.
struct Parameters {
  uint32_t position, shift_1, shift_2;
  uint32_t recursion[4], tempering[4];
};
struct Shape {
  uint32_t streams, sets, columns, rows, matrices, blocks, is_dense;
  uint64_t row, matrix;
  KernelDistribution distribution;
};

constexpr size_t words = 351, streams = 32, block_numbers = 128;

// The first of those that Saito and Matsumoto's Dynamic Creator found for the exponent 11213. Their tables of 16
// numbers are the sums, without carry, of four.
constexpr Parameters parameters[] = {
    {19, 13, 4, {0x4f909277, 0xd506358c, 0xecc00000, 0x00009fd9}, {0x007c4132, 0x2b4020ed, 0x000240a5, 0x00414015}},
    {36, 13, 4, {0x04e7bdd9, 0xbd4135d8, 0xf0c00015, 0x0000e79e}, {0x007802fe, 0x0084013b, 0x00060156, 0x0004001a}},
    {3, 13, 4, {0x7f1f322e, 0xd937af30, 0x0940002c, 0x00001134}, {0x824a98bb, 0x24000749, 0x49208c71, 0x0cd00f55}},
    {26, 13, 4, {0x62e3424e, 0xefb75beb, 0x40100039, 0x000028cd}, {0x2047d296, 0x600c0c1f, 0x3022e17a, 0x0003c01d}},
    {32, 13, 4, {0x477707e5, 0x4312f2cf, 0x7c10004e, 0x0000fcc0}, {0x600c0cde, 0x000c9193, 0x4000d35f, 0x10408219}},
    {40, 13, 4, {0x16f2897a, 0x078f68af, 0xe1100050, 0x00005520}, {0x6006f596, 0x00a6008a, 0x2002a409, 0x2001e8ee}},
    {92, 13, 4, {0xa236b2f7, 0x673cd97c, 0x0740006f, 0x0000a23f}, {0x0003441a, 0x1002681f, 0x2000b20d, 0x2000001b}},
};
constexpr size_t sets = std::size(parameters);

// As the authors seed a state.
void seed_state(uint32_t* state, const Parameters& set, uint32_t seed) {
  const uint32_t hidden = set.recursion[2] ^ (set.recursion[3] << 16);
  uint32_t filler = hidden + (hidden >> 16);
  filler += filler >> 8;
  std::memset(state, int(filler & 0xff), words * sizeof(uint32_t));
  state[0] = seed;
  state[1] = hidden;
  for (uint32_t i = 1; i < words; ++i) state[i] ^= 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

// Buffers of one generator; a copy has its own.
struct TwisterStates {
  NS::SharedPtr<MTL::Buffer> states, sets_of_parameters;

  TwisterStates() = default;
  TwisterStates(const TwisterStates& other) { *this = other; }
  TwisterStates& operator=(const TwisterStates& other) {
    sets_of_parameters = other.sets_of_parameters;
    if (other.states)
      states = NS::TransferPtr(other.states->device()->newBuffer(other.states->contents(), other.states->length(),
                                                                 MTL::ResourceStorageModeShared));
    return *this;
  }
};

}  // namespace

class TwisterPart : public MatrixRandomPart {
 public:
  TwisterStates generator;

  bool seed_states() {
    generator.states =
        NS::TransferPtr(device->newBuffer(streams * words * sizeof(uint32_t), MTL::ResourceStorageModeShared));
    generator.sets_of_parameters =
        NS::TransferPtr(device->newBuffer(parameters, sizeof(parameters), MTL::ResourceStorageModeShared));
    if (!generator.states || !generator.sets_of_parameters) return false;
    auto* first = static_cast<uint32_t*>(generator.states->contents());
    const auto folded = uint32_t(seed ^ (seed >> 32));
    for (uint32_t i = 0; i < streams; ++i) seed_state(first + i * words, parameters[i % sets], folded + i + 1);
    return true;
  }

  void encode_numbers(Encoding& encoding, const RandomPlace& place) override {
    const size_t count = place.columns * place.rows * place.matrices, turn = streams * block_numbers;
    const bool rows_follow = place.rows == 1 || place.strides.row == place.columns;
    const bool is_dense = rows_follow && (place.matrices == 1 || place.strides.matrix == place.rows * place.columns);
    const Shape shape{streams,
                      sets,
                      uint32_t(place.columns),
                      uint32_t(place.rows),
                      uint32_t(place.matrices),
                      uint32_t((count + turn - 1) / turn),
                      is_dense,
                      place.strides.row,
                      place.strides.matrix,
                      distribution.numbers};
    encoding.dispatch({fmt::format("random_mtgp32_{}", metal_name_of(type)), {uint32_t(distribution.type)}},
                      MTL::Size(32 * streams, 1, 1), MTL::Size(32, 1, 1), place.first, Operand{generator.states.get()},
                      Operand{generator.sets_of_parameters.get()}, shape);
  }
};

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixRandomMTGP32* MatrixRandomMTGP32::alloc() {
  return new mps::Object<MatrixRandomMTGP32, TwisterPart>("MPSMatrixRandomMTGP32");
}

MatrixRandomMTGP32* MatrixRandomMTGP32::init(MTL::Device* device) {
  return init(device, DataTypeUInt32, 0);
}

MatrixRandomMTGP32* MatrixRandomMTGP32::init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed) {
  return init(device, destinationDataType, seed, MatrixRandomDistributionDescriptor::defaultDistributionDescriptor());
}

MatrixRandomMTGP32* MatrixRandomMTGP32::init(MTL::Device* device, DataType destinationDataType, NS::UInteger seed,
                                             const MatrixRandomDistributionDescriptor* distributionDescriptor) {
  constexpr const char* call =
      "-[MPSMatrixRandomMTGP32 initWithDevice:destinationDataType:seed:distributionDescriptor:]";
  if (!init_random<TwisterPart>(this, device, destinationDataType, seed, distributionDescriptor, call)) return nullptr;
  if (part_of<TwisterPart>(this)->seed_states()) return this;
  foundation::report_misuse(call, "there is no memory for the states of the generator");
  return foundation::failed_init(this);
}

// States are in shared memory: they are visible when the commands are done.
void MatrixRandomMTGP32::synchronizeState(MTL::CommandBuffer*) {}

}  // namespace MPS
