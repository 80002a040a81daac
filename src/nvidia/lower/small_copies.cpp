// Structures, and vectors of three or four elements, are copied as bytes. LLVM takes copies of up to eight bytes for
// loads and stores, and keeps memory of a thread for larger ones. Here they become vectors of words as far as that
// goes, which both optimisation and the hardware like; all is read before anything is written.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

constexpr uint64_t most_bytes = 128, word = 4, words_at_once = 4;

void expand(llvm::MemCpyInst& copy, uint64_t bytes) {
  llvm::IRBuilder<> builder(&copy);
  const auto align = [](llvm::MaybeAlign known, uint64_t place) {
    return llvm::commonAlignment(known.valueOrOne(), place);
  };
  llvm::SmallVector<std::pair<uint64_t, llvm::Value*>> parts;
  for (uint64_t place = 0; place < bytes;) {
    const uint64_t words = std::min((bytes - place) / word, words_at_once);
    llvm::Type* const type = llvm::FixedVectorType::get(builder.getInt32Ty(), static_cast<unsigned>(words));
    llvm::Value* const from = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getSource(), place);
    auto* load = builder.CreateAlignedLoad(type, from, align(copy.getSourceAlign(), place));
    load->setAAMetadata(copy.getAAMetadata().adjustForAccess(place, type, copy.getDataLayout()));
    parts.emplace_back(place, load);
    place += words * word;
  }
  for (const auto& [place, part] : parts)
    builder.CreateAlignedStore(part, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getDest(), place),
                               align(copy.getDestAlign(), place));
  copy.eraseFromParent();
}

}  // namespace

void expand_small_copies(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&instruction);
      if (!copy || copy->isVolatile()) continue;
      const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
      if (!bytes || bytes->getZExtValue() > most_bytes || bytes->getZExtValue() <= 2 * word ||
          bytes->getZExtValue() % word != 0)
        continue;
      expand(*copy, bytes->getZExtValue());
    }
}

}  // namespace metalloid::nvidia::lower
