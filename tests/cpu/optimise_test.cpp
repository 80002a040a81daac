#include "cpu/optimise.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include "cpu/host_processor.hpp"

namespace metalloid::cpu {
namespace {

// More vectors than a processor has registers, loaded before the first is stored.
std::string function_that_spills() {
  constexpr int count = 40;
  std::string text = "define void @f(ptr %p) {\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "%a" + n + " = getelementptr <16 x float>, ptr %p, i64 " + n + "\n%v" + n +
            " = load volatile <16 x float>, ptr %a" + n + "\n";
  }
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "store volatile <16 x float> %v" + n + ", ptr %a" + n + "\n";
  }
  return text + "ret void\n}";
}

TEST(Optimise, RegistersWaitOnTheStackWithinALineOfTheCache) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(function_that_spills(), problem, context);
  ASSERT_TRUE(module) << problem.getMessage().str();
  const auto machine = make_target_machine({"x86_64-pc-linux-gnu", "skylake-avx512", ""});
  ASSERT_TRUE(machine) << machine.error();
  retarget(*module, **machine);
  const auto object = generate_code(*module, **machine);
  ASSERT_TRUE(object) << object.error();
  EXPECT_NE(object->find("\x48\x83\xe4\xc0"), std::string::npos) << "there is no `and rsp, -64`";
}

}  // namespace
}  // namespace metalloid::cpu
