#include "cpu/host_processor.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <regex>

#include "differ/setting.hpp"
#include "run_ir.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

using differ::Setting;

bool is_x86() {
  return processor_architecture().starts_with("x86-64");
}

// So much of an instruction set that every processor of its architecture has it.
const char* least_processor() {
  return is_x86() ? "x86-64" : "generic";
}

TEST(HostProcessor, IsTheOneFoundUnlessTheEnvironmentNamesAnother) {
  const Setting none("METALLOID_PROCESSOR", "");
  const auto found = host_processor();
  ASSERT_TRUE(found) << found.error();
  const Setting least("METALLOID_PROCESSOR", least_processor());
  const auto asked = host_processor();
  ASSERT_TRUE(asked) << asked.error();
  EXPECT_EQ(asked->triple, found->triple);
  EXPECT_EQ(asked->name, least_processor());
  EXPECT_NE(asked->key(), found->key());
}

TEST(HostProcessor, HasNoFeatureThatTheNamedOneLacks) {
  if (!is_x86()) GTEST_SKIP() << "the names are those of x86-64";
  const Setting setting("METALLOID_PROCESSOR", "x86-64");
  const auto processor = host_processor();
  ASSERT_TRUE(processor) << processor.error();
  EXPECT_NE(processor->features.find("+sse2"), std::string::npos) << processor->features;
  EXPECT_NE(processor->features.find("-avx2"), std::string::npos) << processor->features;
  EXPECT_EQ(processor->features.find("+avx"), std::string::npos) << processor->features;
}

TEST(HostProcessor, NamesWhatItLacksForTheOneThatIsAskedFor) {
  if (!is_x86()) GTEST_SKIP() << "the names are those of x86-64";
  const Setting setting("METALLOID_PROCESSOR", "diamondrapids");  // no machine has yet all that this one is to have
  const auto processor = host_processor();
  ASSERT_FALSE(processor);
  EXPECT_NE(processor.error().find("lacks what that one has: "), std::string::npos) << processor.error();
  EXPECT_NE(processor.error().find("amx-avx512"), std::string::npos) << processor.error();
}

TEST(HostProcessor, ThatNobodyKnowsIsAnErrorOfThePipeline) {
  const Setting setting("METALLOID_PROCESSOR", "abacus");
  const Kernel kernel("kernel void f(device int* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }");
  EXPECT_FALSE(kernel.pipeline);
  EXPECT_NE(kernel.error.find("METALLOID_PROCESSOR is 'abacus'"), std::string::npos) << kernel.error;
}

TEST(HostProcessor, MayBeALesserOne) {
  const Setting setting("METALLOID_PROCESSOR", least_processor());
  Kernel kernel("kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = fma(x[i], 2.0f, 1.0f); }");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> x(100, 3);
  EXPECT_EQ(kernel.run({{100, 1, 1}, {64, 1, 1}, {buffer(x)}}), "");
  EXPECT_EQ(x, std::vector<float>(100, 7));
}

TEST(HostProcessor, CanMakeCodeForAnotherArchitecture) {
  const auto machine = make_target_machine({"aarch64-unknown-linux-gnu", "cortex-a72", ""});
  ASSERT_TRUE(machine) << machine.error();
  EXPECT_EQ((*machine)->getTargetTriple().getArchName(), "aarch64");
}

TEST(HostProcessor, HasAPointerForEachArrayOfALoopInsteadOfACommonIndex) {
  if (!is_x86()) GTEST_SKIP() << "it matters to processors of x86-64";
  const auto machine = make_target_machine({"x86_64-unknown-linux-gnu", "sapphirerapids", ""});
  ASSERT_TRUE(machine) << machine.error();
  Ir ir(R"(
define <16 x float> @product(ptr %x, ptr %weights, i64 %steps) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <16 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %x_i = getelementptr [16 x float], ptr %x, i64 %i
  %weights_i = getelementptr [16 x half], ptr %weights, i64 %i
  %a = load <16 x float>, ptr %x_i, align 4
  %halves = load <16 x half>, ptr %weights_i, align 2
  %b = fpext <16 x half> %halves to <16 x float>
  %more = call <16 x float> @llvm.fma.v16f32(<16 x float> %a, <16 x float> %b, <16 x float> %sum)
  %next = add nuw i64 %i, 1
  %again = icmp ult i64 %next, %steps
  br i1 %again, label %loop, label %exit
exit:
  ret <16 x float> %more
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
)");
  ir.module().setTargetTriple((*machine)->getTargetTriple());
  ir.module().setDataLayout((*machine)->createDataLayout());
  llvm::SmallString<4096> assembly;
  llvm::raw_svector_ostream stream(assembly);
  llvm::legacy::PassManager passes;
  ASSERT_FALSE((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(ir.module());
  const std::string text(assembly);
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(vfmadd\w+\s+-?\d*\(%r\w+\))"))) << text;
  EXPECT_FALSE(std::regex_search(text, std::regex(R"(vfmadd\w+\s+-?\d*\(%r\w+,)"))) << text;
}

}  // namespace
}  // namespace metalloid::cpu
