#include "emulated_gpu.hpp"

#include <llvm/IR/IRBuilder.h>

#include <stdexcept>

#include "emulated_simdgroup.hpp"
#include "nvidia/lower/kernel.hpp"

namespace metalloid::nvidia {

namespace emulation {

namespace {

// The threadgroup that runs.
struct Threadgroup {
  device::Size position, size;
  uint32_t arrived = 0, barriers = 0;
  std::vector<std::unique_ptr<Simdgroup>> simdgroups = {};

  uint32_t threads_left() const {
    uint32_t left = 0;
    for (const auto& group : simdgroups) left += static_cast<uint32_t>(std::popcount(group->existing & ~group->ended));
    return left;
  }
};

Threadgroup* threadgroup = nullptr;

uint32_t thread_index() {
  return simdgroup->number * lanes + simdgroup->lane;
}
uint32_t thread_x() {
  return thread_index() % threadgroup->size.x;
}
uint32_t thread_y() {
  return thread_index() / threadgroup->size.x % threadgroup->size.y;
}
uint32_t thread_z() {
  return thread_index() / threadgroup->size.x / threadgroup->size.y;
}
uint32_t threadgroup_x() {
  return threadgroup->position.x;
}
uint32_t threadgroup_y() {
  return threadgroup->position.y;
}
uint32_t threadgroup_z() {
  return threadgroup->position.z;
}

void wait_for_threadgroup(uint32_t) {
  Simdgroup* const own = simdgroup;
  const uint32_t number = threadgroup->barriers;
  ++threadgroup->arrived;
  own->progressed = true;
  while (threadgroup->barriers == number && !own->is_stuck) {
    if (threadgroup->arrived == threadgroup->threads_left()) {
      threadgroup->arrived = 0;
      ++threadgroup->barriers;
      own->progressed = true;
    } else {
      own->let_others_run();
    }
  }
}

Instructions instructions_of_threads() {
  const auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  const std::string special = "llvm.nvvm.read.ptx.sreg.";
  return {{special + "tid.x", address(thread_x)},
          {special + "tid.y", address(thread_y)},
          {special + "tid.z", address(thread_z)},
          {special + "ctaid.x", address(threadgroup_x)},
          {special + "ctaid.y", address(threadgroup_y)},
          {special + "ctaid.z", address(threadgroup_z)},
          {"llvm.nvvm.barrier.cta.sync.aligned.all", address(wait_for_threadgroup)},
          {"llvm.nvvm.barrier.cta.sync.all", address(wait_for_threadgroup)}};
}

}  // namespace

}  // namespace emulation

namespace {

constexpr const char* call_symbol = "call_metalloid_entry";
constexpr uint32_t deepest = 64, most_threadgroup_memory = 224 << 10;

std::string run_threadgroup(emulation::Threadgroup threadgroup, const uint64_t* parameters,
                            void (*call)(const uint64_t*)) {
  using namespace emulation;
  static const auto stacks = std::make_unique<char[]>(1024 * stack_size);
  emulation::threadgroup = &threadgroup;
  const uint32_t threads = static_cast<uint32_t>(threadgroup.size.count());
  for (uint32_t first = 0; first < threads; first += lanes) {
    auto& group = threadgroup.simdgroups.emplace_back(std::make_unique<Simdgroup>());
    group->number = first / lanes;
    group->start(
        threads - first >= lanes ? ~0u : (1u << (threads - first)) - 1, [=] { call(parameters); },
        stacks.get() + first * stack_size);
  }
  bool is_stuck = false;
  while (threadgroup.threads_left() > 0) {
    bool progressed = false;
    for (const auto& group : threadgroup.simdgroups) progressed |= group->take_turn();
    if (progressed) continue;
    if (is_stuck) return "threads wait for each other in vain, whatever they are told";
    is_stuck = true;
    for (const auto& group : threadgroup.simdgroups) group->is_stuck = true;
  }
  return is_stuck ? "threads wait for each other in vain" : "";
}
// The entry's parameters come in an array; instructions of the hardware become functions.
void prepare(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals()))
    if (!variable.hasInitializer()) {
      auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), most_threadgroup_memory);
      auto* memory = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage,
                                              llvm::ConstantAggregateZero::get(type), "", nullptr,
                                              llvm::GlobalValue::NotThreadLocal, variable.getAddressSpace());
      memory->setAlignment(llvm::Align(16));
      variable.replaceAllUsesWith(memory);
      variable.eraseFromParent();
    }
  emulation::use_emulated_instructions(module, emulation::instructions_of_simdgroups());
  emulation::use_emulated_instructions(module, emulation::instructions_of_threads());
  for (const llvm::Function& function : module)
    if (function.getName().starts_with("llvm.nvvm.") && !function.use_empty())
      throw std::runtime_error("there is no emulation of " + function.getName().str());

  llvm::Function* entry = module.getFunction(llvm::StringRef(entry_symbol));
  entry->setCallingConv(llvm::CallingConv::C);
  entry->removeParamAttr(entry->arg_size() - 1, llvm::Attribute::ByVal);
  llvm::IRBuilder<> builder(module.getContext());
  auto* call = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false),
                                      llvm::GlobalValue::ExternalLinkage, call_symbol, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", call));
  llvm::SmallVector<llvm::Value*> parameters;
  for (const llvm::Argument& parameter : entry->args()) {
    llvm::Value* place = builder.CreateConstGEP1_64(builder.getInt64Ty(), call->getArg(0), parameter.getArgNo());
    parameters.push_back(builder.CreateLoad(parameter.getType(), place));
  }
  builder.CreateCall(entry, parameters);
  builder.CreateRetVoid();
}

template <class T>
T checked(Result<T> value) {
  if (!value) throw std::runtime_error(value.error());
  return std::move(*value);
}

}  // namespace

EmulatedGpu::EmulatedGpu(const std::shared_ptr<const Library>& library, const std::string& kernel,
                         const Architecture& architecture) {
  device::PipelineRequest request;
  request.kernel = {library, kernel, {}};
  slots_ = device::argument_slots(*library->find(kernel), {});
  auto machine = checked(lower::make_machine(architecture));
  auto context = std::make_unique<llvm::LLVMContext>();
  auto lowered = checked(lower::lower_kernel(*context, request, slots_, architecture, {}, *machine));
  kernel_ = std::move(lowered.kernel);
  prepare(*lowered.module);

  jit_.set_target(*lowered.module);
  jit_.add(std::move(lowered.module), std::move(context));
  call_ = jit_.find<void(const uint64_t*)>(call_symbol);
}

differ::Remains EmulatedGpu::run(const differ::KernelCase& kernel, const differ::Launch& launch, uint64_t log) const {
  differ::Remains remains;
  std::vector<uint64_t> parameters;
  uint64_t threadgroup_memory = 0;
  remains.memory.reserve(kernel.arguments.size());
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    remains.memory.push_back(differ::initial_bytes(kernel, kernel.arguments[i], i, launch.grid.count()));
    parameters.push_back(reinterpret_cast<uint64_t>(remains.memory.back().data()));
    if (const auto* memory = std::get_if<differ::ThreadgroupArgument>(&kernel.arguments[i])) {
      parameters.back() = threadgroup_memory;
      threadgroup_memory += memory->bytes;
    }
  }
  LaunchSize size;
  size.threads_per_grid = launch.grid;
  size.threads_per_threadgroup = launch.threadgroup;
  size.log = log;
  device::Size launched = launch.threadgroup;
  if (launched.z > deepest) {
    size.is_row_of_threads = 1;
    launched = {static_cast<uint32_t>(launched.count()), 1, 1};
  }
  const auto groups = [](uint32_t all, uint32_t one) { return (all + one - 1) / one; };
  size.threadgroups_per_grid = {groups(launch.grid.x, launch.threadgroup.x),
                                groups(launch.grid.y, launch.threadgroup.y),
                                groups(launch.grid.z, launch.threadgroup.z)};
  parameters.push_back(reinterpret_cast<uint64_t>(&size));
  const device::Size& end = size.threadgroups_per_grid;
  for (uint32_t z = 0; z < end.z; ++z)
    for (uint32_t y = 0; y < end.y; ++y)
      for (uint32_t x = 0; x < end.x && remains.fault.empty(); ++x)
        remains.fault = run_threadgroup({{x, y, z}, launched}, parameters.data(), call_);
  return remains;
}

}  // namespace metalloid::nvidia
