#include "cpu/optimise.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/CodeGen/CodeGenTargetMachineImpl.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/SchedulerRegistry.h>
#include <llvm/CodeGen/SelectionDAG.h>
#include <llvm/CodeGen/SelectionDAGISel.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetLoweringObjectFile.h>

#include "bitcode/analyses.hpp"
#include "bitcode/private_arrays.hpp"

namespace metalloid::cpu {

namespace {

// Metal's compiler may take it that loops end; a program that finds an endless one wants to be told.
void expect_endless_loops(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::MustProgress);
  function.removeFnAttr(llvm::Attribute::WillReturn);
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* last = block.getTerminator();
    if (llvm::MDNode* loop = last->getMetadata(llvm::LLVMContext::MD_loop))
      last->setMetadata(llvm::LLVMContext::MD_loop, llvm::makePostTransformationMetadata(
                                                        function.getContext(), loop, {"llvm.loop.mustprogress"}, {}));
  }
}

bool is_product(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::fmuladd && call->getType()->isVectorTy();
}

// Where instructions had better stay in the order they have. Of products of tiles in registers, as of simdgroup
// matrices, a scheduler would begin so many at once that their sums no longer fit into registers; and what it looks at
// grows with the square of a block's length.
bool keeps_order(const llvm::Module& module) {
  constexpr unsigned many_products = 64, long_block = 1500;
  for (const llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function)
      if (block.size() >= long_block || llvm::count_if(block, is_product) >= many_products) return true;
  return false;
}

// The usual order of instructions keeps so many values alive in the longest blocks, of a few products of complex
// numbers, that finding registers for them takes a second.
llvm::ScheduleDAGSDNodes* make_scheduler(llvm::SelectionDAGISel* selection, llvm::CodeGenOptLevel level) {
  constexpr size_t many_nodes = 5000;
  return selection->CurDAG->allnodes_size() > many_nodes ? llvm::createBURRListDAGScheduler(selection, level)
                                                         : llvm::createDefaultScheduler(selection, level);
}
const llvm::RegisterScheduler scheduler("metalloid", "The usual one, but of long blocks", make_scheduler);

// LLVM has these for the whole process only.
void set_options() {
  [[maybe_unused]] static const bool are_set = [] {
    auto& options = llvm::cl::getRegisteredOptions();
    const auto set = [&](llvm::StringRef option, llvm::StringRef value) {
      if (const auto found = options.find(option); found != options.end())
        found->second->addOccurrence(0, option, value);
    };
    // CodeGenPrepare begins again at the function's start whenever it changes how blocks are connected, but in
    // functions that it takes to be huge, where it goes on from there. Vector code has blocks for many of its accesses.
    set("cgpp-huge-func", "100");
    set("pre-RA-sched", "metalloid");
    return true;
  }();
}

}  // namespace

void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("probe-stack", "inline-asm");  // a large frame does not step over the guard page
    // Registers that wait in memory do so within a line of the cache; LLVM would leave it to chance.
    function.addFnAttr(llvm::Attribute::getWithStackAlignment(function.getContext(), llvm::Align(64)));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    expect_endless_loops(function);
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  bitcode::Analyses analyses(builder);
  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(bitcode::GuardPrivateArrays());
  });
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
}

Result<std::string> generate_code(llvm::Module& module, llvm::TargetMachine& machine) {
  set_options();
  auto& generator = static_cast<llvm::CodeGenTargetMachineImpl&>(machine);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&generator);  // the pass manager's, like all it is given
  llvm::TargetPassConfig* steps = generator.createPassConfig(passes);
  if (keeps_order(module))
    for (llvm::AnalysisID scheduler :
         {&llvm::MachineSchedulerID, &llvm::PostRASchedulerID, &llvm::PostMachineSchedulerID})
      steps->disablePass(scheduler);
  passes.add(steps);
  passes.add(functions);
  if (steps->addISelPasses()) return Error{"LLVM cannot generate code for this processor"};
  steps->addMachinePasses();
  steps->setInitialized();
  llvm::MCContext& context = functions->getMMI().getContext();
  generator.getObjFileLowering()->Initialize(context, generator);
  if (generator.addAsmPrinter(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile, context))
    return Error{"LLVM cannot generate code for this processor"};
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return std::string(object);
}

}  // namespace metalloid::cpu
