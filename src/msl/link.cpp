// Brings the functions together that files call of each other. Code is linked when it is asked for, from modules as
// they were compiled, and then finished like that of one file.
#include <llvm/ADT/StringSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Linker/Linker.h>

#include <map>
#include <metalloid/compiler.hpp>

#include "msl/diagnostics.hpp"
#include "msl/finish.hpp"

namespace metalloid {

namespace {

std::string in_words(const std::string& symbol) {
  return msl::in_metal_words(llvm::demangle(symbol));
}

std::string place_of(const Function& function) {
  return function.location.file + ":" + std::to_string(function.location.line);
}

Result<std::unique_ptr<llvm::Module>> parse(const Code& code, llvm::LLVMContext& context) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code.bitcode.data()), code.bitcode.size());
  auto module = llvm::parseBitcodeFile({bytes, code.entry}, context);
  if (!module)
    return Error{"the code of '" + in_words(code.entry) + "' is damaged: " + llvm::toString(module.takeError())};
  return std::move(*module);
}

class LinkedCode final : public CodeProvider {
 public:
  LinkedCode(std::shared_ptr<Library> merged, const std::vector<std::shared_ptr<Library>>& libraries)
      : merged_(std::move(merged)) {
    for (const auto& library : libraries)
      for (const std::string_view name : library->function_names())
        if (library->find(name)->kind == FunctionKind::external) defined_in_[std::string(name)].push_back(library);
  }

  const Library& merged() const { return *merged_; }

  Result<std::shared_ptr<const Code>> code(size_t function) override {
    auto code = merged_->code(merged_->function_names()[function]);
    if (!code || (*code)->undefined.empty()) return code;
    auto linked = link(**code);
    if (!linked) return Error{linked.error()};
    return std::make_shared<const Code>(std::move(*linked));
  }

 private:
  Result<Code> link(const Code& code) const {
    llvm::LLVMContext context;
    auto module = parse(code, context);
    if (!module) return Error{module.error()};
    std::vector<FunctionConstant> constants = code.function_constants;
    std::vector<std::string> wanted = code.undefined;
    llvm::StringSet<> found;
    while (!wanted.empty()) {
      const std::string symbol = std::move(wanted.back());
      wanted.pop_back();
      if (!found.insert(symbol).second) continue;
      const auto definition = find(symbol, code.entry);
      if (!definition) return Error{definition.error()};
      for (const FunctionConstant& constant : (*definition)->function_constants)
        if (auto added = add(constants, constant); !added) return Error{"'" + code.entry + added.error()};
      auto other = parse(**definition, context);
      if (!other) return Error{other.error()};
      if (llvm::Linker::linkModules(**module, std::move(*other)))
        return Error{"internal error: '" + in_words(symbol) + "' could not be linked to '" + code.entry + "'"};
      wanted.insert(wanted.end(), (*definition)->undefined.begin(), (*definition)->undefined.end());
    }
    return msl::finish(**module, code.entry, constants, {});
  }

  // A header's function is in every file that includes it.
  Result<std::shared_ptr<const Code>> find(const std::string& symbol, const std::string& caller) const {
    const auto found = defined_in_.find(symbol);
    if (found == defined_in_.end())
      return Error{"'" + caller + "' calls '" + in_words(symbol) + "', which no file defines; link the one that does"};
    const Library& first = *found->second.front();
    auto code = first.code(symbol);
    for (const auto& library : found->second) {
      const std::string here = place_of(*first.find(symbol)), there = place_of(*library->find(symbol));
      if (here == there) continue;
      auto other = library->code(symbol);
      if (code && other && (*code)->bitcode != (*other)->bitcode)
        return Error{"'" + caller + "' calls '" + in_words(symbol) + "', which is defined at " + here + " and at " +
                     there + "; rename one, or make it static"};
    }
    return code;
  }

  static Status add(std::vector<FunctionConstant>& constants, const FunctionConstant& added) {
    for (const FunctionConstant& constant : constants) {
      if (constant.index != added.index) continue;
      if (constant.name == added.name && constant.data_type == added.data_type) return success();
      return Error{"' and what it calls use function constants '" + constant.name + "' and '" + added.name +
                   "', which both have index " + std::to_string(added.index)};
    }
    constants.push_back(added);
    return success();
  }

  const std::shared_ptr<Library> merged_;
  std::map<std::string, std::vector<std::shared_ptr<Library>>> defined_in_;
};

}  // namespace

Result<std::shared_ptr<Library>> link(const std::vector<std::shared_ptr<Library>>& libraries) {
  auto merged = merge(libraries);
  if (!merged) return merged;
  const auto code = std::make_shared<LinkedCode>(*merged, libraries);
  const auto read = [code](size_t i) { return *code->merged().find(code->merged().function_names()[i]); };
  auto linked = std::make_shared<Library>((*merged)->function_names(), read, (*merged)->function_constants(), code);
  linked->add_device_code((*merged)->device_code());
  return linked;
}

}  // namespace metalloid
