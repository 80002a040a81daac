#include "cpu/source_place.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu {

namespace {

constexpr llvm::StringLiteral stdlib_folder = "/metal-stdlib";

const llvm::DILocation* location_near(const llvm::Instruction& instruction) {
  for (const llvm::Instruction* near = &instruction; near; near = near->getPrevNode())
    if (const llvm::DILocation* location = near->getDebugLoc(); location && location->getLine() != 0) return location;
  for (const llvm::Instruction* near = &instruction; near; near = near->getNextNode())
    if (const llvm::DILocation* location = near->getDebugLoc(); location && location->getLine() != 0) return location;
  return nullptr;
}

}  // namespace

SourcePlace place_of(const llvm::Instruction& instruction) {
  if (const llvm::DILocation* location = location_near(instruction)) return place_of(llvm::DebugLoc(location));
  return place_of(*instruction.getFunction());
}

SourcePlace place_of(const llvm::Function& function) {
  const llvm::DISubprogram* known = function.getSubprogram();
  return known ? SourcePlace{known->getFilename().str(), known->getLine(), 0} : SourcePlace{};
}

bool is_in_standard_library(const SourcePlace& place) {
  return llvm::StringRef(place.file).starts_with(stdlib_folder);
}

SourcePlace place_of(const llvm::DebugLoc& of) {
  const llvm::DILocation* location = of;
  if (!location) return {};
  while (location->getFilename().starts_with(stdlib_folder) && location->getInlinedAt())
    location = location->getInlinedAt();
  return {location->getFilename().str(), location->getLine(), location->getColumn()};
}

}  // namespace metalloid::cpu
