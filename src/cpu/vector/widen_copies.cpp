// Copies (copies.hpp): each lane's piece is loaded and stored as it is, and those of lanes that lie side by side in
// both places together, a register at most.
#include "cpu/vector/copies.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr int64_t longest_piece = 64;  // bytes

bool is_plain(const Shape& shape) {
  return shape.is_known() && shape.guards.empty();
}

// How many lanes, a power of two, have their pieces side by side from `first` on.
unsigned lanes_of_piece(const Shape& from, const Shape& to, unsigned first, int64_t bytes) {
  const auto width = static_cast<unsigned>(from.offsets.size());
  const auto continues = [&](const Shape& shape, unsigned lane) {
    return shape.step(lane) - shape.step(lane - 1) == bytes && shape.factor_step(lane) == shape.factor_step(lane - 1);
  };
  unsigned lanes = 1;
  while (first + lanes < width && continues(from, first + lanes) && continues(to, first + lanes)) ++lanes;
  return std::min(llvm::bit_floor(lanes), static_cast<unsigned>(std::max<int64_t>(1, longest_piece / bytes)));
}

}  // namespace

// Whether the load begins a copy, which is then on its way.
bool Widener::start_copy(llvm::LoadInst& load, const Shape& from) {
  if (mask_ || variant_.streams || !is_plain(from)) return false;
  const auto copy = find_copy(load, layout_);
  if (!copy) return false;
  auto& store = llvm::cast<llvm::StoreInst>(*copy->stores.members.front().access);
  const Shape to = shapes_.shape(store.getPointerOperand());
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  if (!is_plain(to) || to.is_uniform() || runs_of(to, access.bytes(), false).size() <= most_runs) return false;

  const unsigned count = copy->loads.count;
  CopyUnderWay under_way{&store, copy->stores.distance, {}};
  llvm::Value* first = scalar(load.getPointerOperand());
  for (unsigned lane = 0; lane < width_;) {
    const unsigned lanes = lanes_of_piece(from, to, lane, count * access.bytes());
    llvm::Value* address = behind(lane_address(first, from, lane), copy->loads.distance);
    auto* type = llvm::FixedVectorType::get(access.scalar, lanes * count);
    under_way.pieces.push_back({lane, builder_.CreateAlignedLoad(type, address, access.alignment)});
    lane += lanes;
  }
  for (const auto& member : copy->loads.members) copied_.insert(member.access);
  for (const auto& member : copy->stores.members) copied_.insert(member.access);
  copies_.try_emplace(copy->stores.members.back().access, std::move(under_way));
  return true;
}

void Widener::finish_copy(const CopyUnderWay& copy) {
  const Shape shape = shapes_.shape(copy.store->getPointerOperand());
  const Access access = access_of(copy.store->getValueOperand()->getType(), copy.store->getAlign(), layout_);
  llvm::Value* first = scalar(copy.store->getPointerOperand());
  for (const auto& [lane, piece] : copy.pieces)
    builder_.CreateAlignedStore(piece, behind(lane_address(first, shape, lane), copy.distance), access.alignment);
}

}  // namespace metalloid::cpu::vector
