// Accesses of lanes whose scalars lie in segments of memory, in another order (segments.hpp).
#include "cpu/vector/segments.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

// Bytes from a lane's address to each of its scalars, in the order of the members.
llvm::SmallVector<int64_t> distances_of(const Neighbours& neighbours, const Access& access) {
  llvm::SmallVector<int64_t> distances;
  if (access.count > 1)
    for (unsigned i = 0; i < access.count; ++i) distances.push_back(i * access.scalar_bytes);
  else
    for (const auto& member : neighbours.members)
      distances.push_back(neighbours.distance + member.place * access.scalar_bytes);
  return distances;
}

}  // namespace

unsigned Widener::scalars_of_register(const Access& access) const {
  return static_cast<unsigned>((has_mask_registers_ ? 64 : 32) / access.scalar_bytes);
}

// None: they lie otherwise, or shuffles of so small scalars take too long.
std::optional<Segments> Widener::segments_for(const Shape& shape, const Access& access,
                                              const Neighbours& neighbours) const {
  if (mask_ || !shape.is_known() || access.scalar_bytes < (has_mask_registers_ ? 2 : 4)) return std::nullopt;
  return segments_of(shape, access, distances_of(neighbours, access), scalars_of_register(access));
}

// No two lanes store to the same place.
std::optional<Segments> Widener::segments_to_store(const Shape& shape, const Access& access,
                                                   const Neighbours& neighbours) const {
  auto segments = segments_for(shape, access, neighbours);
  if (segments && !segments->has_each_once) return std::nullopt;
  return segments;
}

Components Widener::load_segments(llvm::LoadInst& load, const Segments& segments) {
  const Access access = access_of(load.getType(), load.getAlign(), layout_);
  const Shape shape = shapes_.shape(load.getPointerOperand());
  const unsigned in_register = scalars_of_register(access), length = std::min(segments.length, in_register);
  llvm::Value* first = scalar(load.getPointerOperand());
  llvm::SmallVector<llvm::Value*> pieces;
  for (const Segments::Start& start : segments.starts)
    for (unsigned place = 0; place < segments.length; place += length) {
      llvm::Value* address =
          behind(lane_address(first, shape, start.lane), start.distance + place * access.scalar_bytes);
      pieces.push_back(
          builder_.CreateAlignedLoad(llvm::FixedVectorType::get(access.scalar, length), address, access.alignment));
    }
  llvm::SmallVector<llvm::Value*> registers;
  const size_t pieces_of_register = std::min<size_t>(pieces.size(), in_register / length);
  for (size_t i = 0; i < pieces.size(); i += pieces_of_register)
    registers.push_back(concatenated({pieces.begin() + i, pieces.begin() + i + pieces_of_register}));
  Components result;
  for (const auto& places : segments.places) result.push_back(selected(registers, places, in_register));
  return result;
}

void Widener::store_segments(const Neighbours& neighbours, const Segments& segments) {
  auto& store = llvm::cast<llvm::StoreInst>(*neighbours.members.front().access);
  const Access access = access_of(store.getValueOperand()->getType(), store.getAlign(), layout_);
  const Shape shape = shapes_.shape(store.getPointerOperand());
  const unsigned lanes_of_part = std::min(width_, scalars_of_register(access));
  llvm::SmallVector<llvm::Value*> parts;
  const auto add_parts = [&](llvm::Value* all) {
    for (unsigned lane = 0; lane < width_; lane += lanes_of_part) parts.push_back(part_of(all, lane, lanes_of_part));
  };
  if (access.count > 1)
    for (llvm::Value* all : lanes(store.getValueOperand())) add_parts(all);
  else
    for (const auto& member : neighbours.members)
      add_parts(vector(llvm::cast<llvm::StoreInst>(member.access)->getValueOperand()));

  llvm::SmallVector<int> sources(segments.places.size() * width_);
  for (size_t number = 0; number < segments.places.size(); ++number)
    for (unsigned lane = 0; lane < width_; ++lane)
      sources[static_cast<size_t>(segments.places[number][lane])] = static_cast<int>(number * width_ + lane);
  llvm::Value* first = scalar(store.getPointerOperand());
  llvm::Value* all = selected(parts, sources, scalars_of_register(access));
  for (size_t i = 0; i < segments.starts.size(); ++i) {
    const Segments::Start& start = segments.starts[i];
    const auto place = static_cast<unsigned>(i) * segments.length;
    builder_.CreateAlignedStore(builder_.CreateShuffleVector(all, every(segments.length, 1, place)),
                                behind(lane_address(first, shape, start.lane), start.distance), access.alignment);
  }
}

// The scalars at some places of vectors, all of one length, that follow one another: so many at a time.
llvm::Value* Widener::selected(llvm::ArrayRef<llvm::Value*> from, llvm::ArrayRef<int> places, unsigned at_a_time) {
  llvm::SmallVector<llvm::Value*> parts;
  for (size_t first = 0; first < places.size(); first += at_a_time)
    parts.push_back(selected(from, places.slice(first, std::min<size_t>(at_a_time, places.size() - first))));
  return concatenated(std::move(parts));
}

// Two vectors at a time are shuffled to where their scalars belong; then these come together.
llvm::Value* Widener::selected(llvm::ArrayRef<llvm::Value*> from, llvm::ArrayRef<int> places) {
  const int length = static_cast<int>(llvm::cast<llvm::FixedVectorType>(from[0]->getType())->getNumElements());
  llvm::SmallVector<int> sources;
  for (const int place : places)
    if (!llvm::is_contained(sources, place / length)) sources.push_back(place / length);
  llvm::Value* whole = nullptr;
  for (size_t i = 0; i < sources.size(); i += 2) {
    const int a = sources[i], b = i + 1 < sources.size() ? sources[i + 1] : -1;
    llvm::SmallVector<int> taken, blend;
    for (size_t lane = 0; lane < places.size(); ++lane) {
      const int source = places[lane] / length, place = places[lane] % length;
      taken.push_back(source == a ? place : source == b ? length + place : -1);
      blend.push_back(static_cast<int>(taken.back() < 0 ? lane : places.size() + lane));
    }
    llvm::Value* other = b < 0 ? llvm::PoisonValue::get(from[0]->getType()) : from[static_cast<size_t>(b)];
    llvm::Value* part = builder_.CreateShuffleVector(from[static_cast<size_t>(a)], other, taken);
    whole = whole ? builder_.CreateShuffleVector(whole, part, blend) : part;
  }
  return whole;
}

}  // namespace metalloid::cpu::vector
