#include "cpu/validation/site_table_builder.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

#include <map>

namespace metalloid::cpu::validation {

namespace {

// "shared" of a variable that C++ calls reverse(...)::shared.
std::string name_in_source(llvm::StringRef symbol) {
  std::string name = llvm::demangle(symbol.split('.').first.str());
  if (const size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  return name;
}

// Constants of the table's structs.
class ConstantWriter {
 public:
  explicit ConstantWriter(llvm::Module& module) : module_(module), builder_(module.getContext()) {}

  llvm::Constant* number(uint32_t value) { return builder_.getInt32(value); }
  llvm::Constant* large_number(uint64_t value) { return builder_.getInt64(value); }

  llvm::Constant* text(const std::string& text) {
    llvm::Constant*& known = texts_[text];
    if (!known) {
      auto* bytes = llvm::ConstantDataArray::getString(module_.getContext(), text);
      known = new llvm::GlobalVariable(module_, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes);
    }
    return known;
  }

  llvm::Constant* structure(llvm::ArrayRef<llvm::Constant*> members) { return llvm::ConstantStruct::getAnon(members); }

  // Where the elements are; null if there are none.
  llvm::Constant* array(llvm::ArrayRef<llvm::Constant*> elements) {
    if (elements.empty()) return llvm::ConstantPointerNull::get(builder_.getPtrTy());
    auto* type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
    return new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(type, elements));
  }

 private:
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  std::map<std::string, llvm::Constant*> texts_;
};

}  // namespace

uint32_t SiteTableBuilder::add(const llvm::Instruction& at, uint32_t flags, uint32_t alignment,
                               llvm::ArrayRef<Root> roots) {
  sites_.push_back(
      {place_of(at), flags, alignment, static_cast<uint32_t>(roots_.size()), static_cast<uint32_t>(roots.size())});
  roots_.insert(roots_.end(), roots.begin(), roots.end());
  return static_cast<uint32_t>(sites_.size() - 1);
}

void SiteTableBuilder::write(llvm::Module& module, const lower::ThreadgroupLayout& layout) {
  ConstantWriter writer(module);
  std::vector<llvm::Constant*> sites, roots, threadgroup_variables, constant_variables;
  for (const SiteRecord& site : sites_)
    sites.push_back(
        writer.structure({writer.text(site.place.file), writer.number(site.place.line),
                          writer.number(site.place.column), writer.number(site.flags), writer.number(site.alignment),
                          writer.number(site.first_root), writer.number(site.root_count)}));
  for (const Root& root : roots_)
    roots.push_back(writer.structure({writer.number(static_cast<uint32_t>(root.kind)), writer.number(root.index)}));
  for (const lower::ThreadgroupLayout::Variable& variable : layout.variables)
    threadgroup_variables.push_back(
        writer.structure({writer.text(name_in_source(variable.name)), writer.large_number(variable.offset),
                          writer.large_number(variable.bytes), writer.large_number(variable.is_initialised)}));
  for (llvm::GlobalVariable* variable : provenance_.constant_variables)
    constant_variables.push_back(writer.structure(
        {writer.text(name_in_source(variable->getName())),
         llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(variable, llvm::PointerType::get(module.getContext(), 0)),
         writer.large_number(module.getDataLayout().getTypeAllocSize(variable->getValueType()))}));
  llvm::Constant* table =
      writer.structure({writer.large_number(sites.size()), writer.array(sites), writer.array(roots),
                        writer.large_number(threadgroup_variables.size()), writer.array(threadgroup_variables),
                        writer.large_number(constant_variables.size()), writer.array(constant_variables)});
  new llvm::GlobalVariable(module, table->getType(), true, llvm::GlobalValue::ExternalLinkage, table,
                           llvm::StringRef(site_table_symbol));
}

}  // namespace metalloid::cpu::validation
