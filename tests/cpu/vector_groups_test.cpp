// Group functions as vector code against the bodies of the reference engine: every one that the runtime has, with
// constant, uniform and varying operands, for random sets of active lanes, on numbers that include NaN, infinities and
// both zeros; compiled for this processor and for lesser ones.
//
// Equal means bit for bit, with these exceptions: any NaN equals any NaN, 0 equals -0 among results of arithmetic, and
// prefixes and products of matrices of floating-point numbers may differ by some units in the last place of their
// terms, because they are summed in another order or rounded less often.
#include <gtest/gtest.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>

#include "cpu/optimise.hpp"
#include "cpu/reference/group_functions.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {
namespace {

using llvm::Value;

constexpr unsigned lanes = 32;
constexpr size_t component_bytes = lanes * 8, components_at_most = 8;

// A component is an array of all lanes' values, in memory as the reference has them; a bool is a byte.
using Memory = std::array<std::byte, component_bytes * components_at_most>;

std::vector<std::string> group_functions(llvm::StringRef beginning) {
  std::vector<std::string> names;
  for (const auto& [name, body] : RuntimeSymbols::all().addresses())
    if (is_group_function(name) && llvm::StringRef(name).starts_with(beginning)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

// "metal.simd_sum.f32": sum. "metal.simdgroup_load.device.f16": load.
llvm::StringRef operation_of(llvm::StringRef name) {
  return name.drop_front(name.find('_') + 1).split('.').first;
}

llvm::Type* type_named(llvm::LLVMContext& context, llvm::StringRef name) {
  return llvm::StringSwitch<llvm::Type*>(name.rsplit('.').second)
      .Case("f32", llvm::Type::getFloatTy(context))
      .Case("f16", llvm::Type::getHalfTy(context))
      .Case("bf16", llvm::Type::getBFloatTy(context))
      .Cases({"i8", "u8"}, llvm::Type::getInt8Ty(context))
      .Cases({"i16", "u16"}, llvm::Type::getInt16Ty(context))
      .Cases({"i32", "u32"}, llvm::Type::getInt32Ty(context))
      .Cases({"i64", "u64"}, llvm::Type::getInt64Ty(context))
      .Default(nullptr);
}

llvm::FunctionType* signature_of(llvm::LLVMContext& context, llvm::StringRef name) {
  llvm::Type* const boolean = llvm::Type::getInt1Ty(context);
  llvm::Type* const short_type = llvm::Type::getInt16Ty(context);
  llvm::Type* const long_type = llvm::Type::getInt64Ty(context);
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const type = type_named(context, name);
  const llvm::StringRef operation = operation_of(name);
  const auto pair = [&](llvm::Type* of) { return llvm::FixedVectorType::get(of, 2); };
  const auto make = [](llvm::Type* result, std::vector<llvm::Type*> operands) {
    return llvm::FunctionType::get(result, operands, false);
  };
  if (operation == "multiply_accumulate") {
    const auto [rest, b] = name.rsplit('.');
    const auto [rest_of_rest, a] = rest.rsplit('.');
    llvm::Type* const c = type_named(context, rest_of_rest);
    return make(pair(c), {pair(type_named(context, rest)), pair(type), pair(c)});
  }
  if (operation == "load") return make(pair(type), {pointer, long_type, boolean});
  if (operation == "store") return make(llvm::Type::getVoidTy(context), {pair(type), pointer, long_type, boolean});
  if (operation == "ballot") return make(long_type, {boolean});
  if (operation == "active_threads_mask") return make(long_type, {});
  if (operation == "is_first") return make(boolean, {});
  if (operation == "all" || operation == "any") return make(boolean, {boolean});
  if (operation.starts_with("shuffle_and_fill")) return make(type, {type, type, short_type, short_type});
  if (operation == "broadcast" || (operation.starts_with("shuffle"))) return make(type, {type, short_type});
  return make(type, {type});
}

unsigned components_of(llvm::Type* type) {
  if (type->isVoidTy()) return 0;
  return type->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(type)->getNumElements() : 1;
}

unsigned bytes_of(llvm::Type* scalar) {
  return scalar->isPointerTy() ? 8 : std::max(1u, scalar->getScalarSizeInBits() / 8);
}

// How many of its operands are what it works on; the others say how.
unsigned values_of(llvm::StringRef name) {
  return operation_of(name).starts_with("shuffle_and_fill") ? 2 : name.contains("simdgroup") ? 0 : 1;
}

enum class Form { constant, uniform, varying };

// A function in machine code that calls one group function.
struct TestedCall {
  std::string name;
  unsigned width = lanes;
  bool masked = false;
  Form form = Form::varying;       // of all operands but the values that move
  Form transpose = Form::varying;  // of the last operand, of matrices
  std::array<uint64_t, 2> constants = {};
  std::string symbol = {};

  std::string describe() const {
    const char* const forms[] = {"constant", "uniform", "varying"};
    return name + ", width " + std::to_string(width) + (masked ? ", masked, " : ", ") + forms[static_cast<int>(form)] +
           " operands (" + std::to_string(constants[0]) + ", " + std::to_string(constants[1]) + ")";
  }
};

// void (ptr in, ptr out, ptr active): the components of operands and results, and a byte for each lane.
class Maker {
 public:
  Maker(llvm::LLVMContext& context, const llvm::TargetMachine& machine)
      : machine_(machine), module_(std::make_unique<llvm::Module>("groups", context)), builder_(context) {}

  void add(TestedCall& variant) {
    llvm::LLVMContext& context = module_->getContext();
    llvm::Type* const pointer = builder_.getPtrTy();
    llvm::FunctionType* const signature = signature_of(context, variant.name);
    auto* const called = llvm::cast<llvm::Function>(module_->getOrInsertFunction(variant.name, signature).getCallee());
    variant.symbol = "test" + std::to_string(count_++);
    auto* const caller =
        llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, pointer}, false),
                               llvm::GlobalValue::ExternalLinkage, variant.symbol, *module_);
    caller->addFnAttr("target-cpu", machine_.getTargetCPU());
    caller->addFnAttr("target-features", machine_.getTargetFeatureString());
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context, "", caller));

    Emission emission{builder_, variant.width};
    if (variant.masked) emission.active = load(emission, caller->getArg(2), 0, builder_.getInt1Ty());
    std::vector<Operand> operands;
    llvm::SmallVector<bool> is_uniform;
    unsigned component = 0, numbers = 0;
    for (unsigned i = 0; i < signature->getNumParams(); ++i) {
      llvm::Type* const type = signature->getParamType(i);
      Form form = i < values_of(variant.name) || type->isVectorTy() ? Form::varying : variant.form;
      if (type->isIntegerTy(1)) form = variant.transpose;
      Operand operand;
      for (unsigned c = 0; c < components_of(type); ++c)
        operand.lanes.push_back(load(emission, caller->getArg(0), component++, type->getScalarType()));
      if (form == Form::constant) operand.uniform = llvm::ConstantInt::get(type, variant.constants[numbers++]);
      if (form == Form::uniform) operand.uniform = builder_.CreateExtractElement(operand.lanes[0], uint64_t{0});
      if (operand.uniform) operand.lanes = {emission.splat(operand.uniform)};
      is_uniform.push_back(operand.uniform != nullptr);
      operands.push_back(operand);
    }
    Components results = emit_group_call(emission, *called, operands);
    const bool uniform = gives_uniform(variant.name, is_uniform);
    EXPECT_EQ(results.size(), components_of(signature->getReturnType())) << variant.describe();
    for (unsigned c = 0; c < results.size(); ++c) {
      llvm::Type* const scalar = signature->getReturnType()->getScalarType();
      EXPECT_EQ(results[c]->getType(), uniform ? scalar : emission.vector_of(scalar)) << variant.describe();
      Value* result = uniform ? emission.splat(results[c]) : results[c];
      if (scalar->isIntegerTy(1)) result = builder_.CreateZExt(result, emission.vector_of(builder_.getInt8Ty()));
      builder_.CreateAlignedStore(result, at(caller->getArg(1), c), llvm::Align(1));
    }
    builder_.CreateRetVoid();
  }

  std::unique_ptr<llvm::Module> finish() {
    module_->setTargetTriple(machine_.getTargetTriple());
    module_->setDataLayout(machine_.createDataLayout());
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    EXPECT_FALSE(llvm::verifyModule(*module_, &stream)) << problems;
    return std::move(module_);
  }

 private:
  Value* at(Value* base, unsigned component) {
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, component * component_bytes);
  }
  Value* load(const Emission& emission, Value* base, unsigned component, llvm::Type* scalar) {
    llvm::Type* const stored = scalar->isIntegerTy(1) ? builder_.getInt8Ty() : scalar;
    Value* const value = builder_.CreateAlignedLoad(emission.vector_of(stored), at(base, component), llvm::Align(1));
    return stored == scalar ? value : builder_.CreateTrunc(value, emission.vector_of(scalar));
  }

  const llvm::TargetMachine& machine_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> builder_;
  unsigned count_ = 0;
};

struct Processor {
  const char* name;
  const char* cpu;       // null: this one
  const char* features;  // without those of this one
  const char* needs;     // of this one
  bool optimise;
};

std::ostream& operator<<(std::ostream& stream, const Processor& processor) {
  return stream << processor.name;
}

class VectorGroups : public testing::TestWithParam<Processor> {
 protected:
  void SetUp() override {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    const Processor& processor = GetParam();
    const llvm::Triple triple(llvm::sys::getProcessTriple());
    std::string features = processor.features;
    const llvm::StringMap<bool> own = llvm::sys::getHostCPUFeatures();
    if (processor.needs && !own.lookup(processor.needs))
      GTEST_SKIP() << "this processor cannot run code for " << processor.name;
    if (!processor.cpu)
      for (const auto& feature : own)
        features +=
            (features.empty() ? "" : ",") + std::string(feature.getValue() ? "+" : "-") + feature.getKey().str();
    std::string problem;
    const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, problem);
    ASSERT_NE(target, nullptr) << problem;
    machine_.reset(target->createTargetMachine(triple, processor.cpu ? processor.cpu : llvm::sys::getHostCPUName(),
                                               features, {}, llvm::Reloc::PIC_, std::nullopt,
                                               llvm::CodeGenOptLevel::Default, true));
    auto jit = llvm::orc::LLJITBuilder()
                   .setLinkProcessSymbolsByDefault(false)
                   .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                   .create();
    ASSERT_TRUE(static_cast<bool>(jit)) << llvm::toString(jit.takeError());
    jit_ = std::move(*jit);
    llvm::orc::SymbolMap symbols;
    for (const auto& [name, address] : RuntimeSymbols::all().addresses())
      if (!is_group_function(name))
        symbols[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                                llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    llvm::cantFail(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
  }

  // Compiles the variants and compares each with the reference on `rounds` sets of operands.
  void compare(std::vector<TestedCall> variants, unsigned rounds,
               const std::function<void(const TestedCall&, Memory&)>& fill) {
    llvm::LLVMContext context;
    Maker maker(context, *machine_);
    for (TestedCall& variant : variants) maker.add(variant);
    std::unique_ptr<llvm::Module> module = maker.finish();
    if (GetParam().optimise) optimise(*module, *machine_);
    const auto object = generate_code(*module, *machine_);
    ASSERT_TRUE(object) << object.error();
    if (auto error = jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object, "groups")))
      FAIL() << llvm::toString(std::move(error));
    for (const TestedCall& variant : variants) {
      auto symbol = jit_->lookup(variant.symbol);
      ASSERT_TRUE(static_cast<bool>(symbol)) << llvm::toString(symbol.takeError());
      const auto call = symbol->toPtr<void (*)(const void*, void*, const void*)>();
      for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
        Memory in;
        fill(variant, in);
        compare(context, variant, call, in);
      }
      if (HasFailure()) return;
    }
  }

  uint32_t random_mask() {
    const uint32_t some = static_cast<uint32_t>(random_());
    switch (random_() % 4) {
      case 0:
        return ~0u;
      case 1:
        return 1u << some % 32;
      case 2:
        return some & static_cast<uint32_t>(random_());
      default:
        return some;
    }
  }

  // A number of a type: whole ones, and of floating point now and then a special one.
  uint64_t random_number(llvm::StringRef type, bool special) {
    const float specials[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0e-7f};
    const float value =
        special && random_() % 8 == 0 ? specials[random_() % 6] : std::uniform_real_distribution<float>(-2, 2)(random_);
    if (type == "f32") return device::float_bits(value);
    if (type == "f16") return reference::Half(value).bits;
    if (type == "bf16") return reference::Bfloat(value).bits;
    const uint64_t bits = uint64_t{random_()} << 32 ^ random_();
    return random_() % 4 == 0 ? bits % 4 : bits;
  }

  static void put(Memory& memory, unsigned component, unsigned lane, unsigned bytes, uint64_t number) {
    std::memcpy(memory.data() + component * component_bytes + lane * bytes, &number, bytes);
  }

  std::mt19937 random_{7};
  // What the memory a store writes to is before and after it.
  std::function<void()> before_ = [] {};
  std::function<std::vector<std::byte>()> after_ = [] { return std::vector<std::byte>(); };

 private:
  void compare(llvm::LLVMContext& context, const TestedCall& variant, void (*call)(const void*, void*, const void*),
               const Memory& in) {
    const uint32_t all = variant.width == 32 ? ~0u : (1u << variant.width) - 1;
    uint32_t active = all;
    if (variant.masked) do
        active = random_mask() & all;
      while (active == 0);
    std::array<uint8_t, lanes> active_lanes;
    for (unsigned lane = 0; lane < lanes; ++lane) active_lanes[lane] = active >> lane & 1;

    llvm::FunctionType* const signature = signature_of(context, variant.name);
    before_();
    Memory out = {};
    call(in.data(), out.data(), active_lanes.data());
    const std::vector<std::byte> written = after_();
    before_();
    const Memory expected = by_reference(signature, variant, active, in);
    EXPECT_EQ(written, after_()) << variant.describe();
    llvm::Type* const scalar = signature->getReturnType()->getScalarType();
    for (unsigned c = 0; c < components_of(signature->getReturnType()); ++c) {
      for (unsigned lane = 0; lane < variant.width; ++lane) {
        if ((active >> lane & 1) == 0) continue;
        uint64_t mine = 0, its = 0;
        std::memcpy(&mine, out.data() + c * component_bytes + lane * bytes_of(scalar), bytes_of(scalar));
        std::memcpy(&its, expected.data() + c * component_bytes + lane * bytes_of(scalar), bytes_of(scalar));
        ASSERT_TRUE(is_equal(variant.name, scalar, mine, its))
            << variant.describe() << " on " << GetParam().name << ": lane " << lane << " of active " << std::hex
            << active << ", component " << c << ": " << mine << " instead of " << its;
      }
    }
  }

  static Memory by_reference(llvm::FunctionType* signature, const TestedCall& variant, uint32_t active,
                             const Memory& in) {
    using Packed = std::array<std::byte, 64>;
    alignas(64) std::array<Packed, lanes> operands = {}, results = {};
    reference::Meeting meeting;
    meeting.active = active;
    const auto for_each_value = [&](llvm::Type* type, unsigned& component, size_t& offset, auto body) {
      const unsigned bytes = bytes_of(type->getScalarType()), count = components_of(type);
      offset = (offset + bytes * count - 1) / (bytes * count) * (bytes * count);
      for (unsigned c = 0; c < count; ++c, offset += bytes) body(component++, offset, bytes);
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned component = 0;
      size_t offset = 0;
      for (llvm::Type* type : signature->params())
        for_each_value(type, component, offset, [&](unsigned c, size_t place, unsigned bytes) {
          std::memcpy(operands[lane].data() + place, in.data() + c * component_bytes + lane * bytes, bytes);
        });
      meeting.operands[lane] = operands[lane].data();
      meeting.results[lane] = results[lane].data();
    }
    reinterpret_cast<reference::Combine>(RuntimeSymbols::all().find(variant.name))(meeting);
    Memory out = {};
    if (signature->getReturnType()->isVoidTy()) return out;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned component = 0;
      size_t offset = 0;
      for_each_value(signature->getReturnType(), component, offset, [&](unsigned c, size_t place, unsigned bytes) {
        std::memcpy(out.data() + c * component_bytes + lane * bytes, results[lane].data() + place, bytes);
      });
    }
    return out;
  }

  static bool is_equal(llvm::StringRef name, llvm::Type* scalar, uint64_t a, uint64_t b) {
    if (a == b) return true;
    const llvm::StringRef operation = operation_of(name);
    if (!scalar->isFloatingPointTy() || operation.starts_with("shuffle") || operation.starts_with("broadcast") ||
        operation == "load")
      return false;
    const auto number = [&](uint64_t bits) -> float {
      if (scalar->isFloatTy()) return device::float_from_bits(static_cast<uint32_t>(bits));
      if (scalar->isBFloatTy()) return device::float_from_bits(static_cast<uint32_t>(bits << 16));
      return device::from_half(static_cast<uint16_t>(bits));
    };
    const float x = number(a), y = number(b);
    if (x == y || (std::isnan(x) && std::isnan(y))) return true;
    if (!operation.starts_with("prefix") && operation != "multiply_accumulate") return false;
    const float unit = scalar->isFloatTy() ? 0x1p-23f : scalar->isHalfTy() ? 0x1p-10f : 0x1p-7f;
    const float terms = operation.ends_with("product") ? std::fabs(y) : 64;  // of absolute values up to 2
    return std::fabs(x - y) <= std::max(unit * std::fabs(y), 32 * 0x1p-23f * terms);
  }

  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

llvm::StringRef type_word(llvm::StringRef name) {
  return name.rsplit('.').second;
}

std::vector<unsigned> widths_of(const std::string& name) {
  return works_in_quads(name) ? std::vector<unsigned>{32, 16, 8} : std::vector<unsigned>{32};
}

TEST_P(VectorGroups, reductions_prefixes_and_votes_equal_the_reference) {
  std::vector<TestedCall> variants;
  for (const std::string& name : group_functions("metal."))
    if (!llvm::StringRef(name).contains("shuffle") && !llvm::StringRef(name).contains("broadcast") &&
        !llvm::StringRef(name).contains("simdgroup"))
      for (unsigned width : widths_of(name))
        for (bool masked : {false, true}) variants.push_back({.name = name, .width = width, .masked = masked});
  ASSERT_GT(variants.size(), 400u);
  compare(variants, 12, [&](const TestedCall& variant, Memory& in) {
    const llvm::StringRef type = type_word(variant.name);
    const bool special = random_() % 2;
    const bool vote = type.contains('_');
    const unsigned bytes = vote || type.ends_with("8") ? 1 : type.ends_with("16") ? 2 : type.ends_with("32") ? 4 : 8;
    const unsigned likely = random_() % 3;
    for (unsigned lane = 0; lane < lanes; ++lane)
      put(in, 0, lane, bytes, vote ? likely == 0 || (likely == 1 && random_() % 2) : random_number(type, special));
  });
}

TEST_P(VectorGroups, moves_between_lanes_equal_the_reference) {
  std::vector<TestedCall> variants;
  for (const std::string& name : group_functions("metal.")) {
    if (!llvm::StringRef(name).contains("shuffle") && !llvm::StringRef(name).contains("broadcast")) continue;
    // Bits move, whatever they mean: signed integers as unsigned ones.
    const bool in_every_form = operation_of(name) != "broadcast_first" && !type_word(name).starts_with("i");
    for (unsigned width : widths_of(name)) {
      const unsigned size = works_in_quads(name) ? 4 : 32;
      for (bool masked : {false, true}) {
        variants.push_back({.name = name, .width = width, .masked = masked});
        if (!in_every_form || width < 32) continue;
        variants.push_back({.name = name, .width = width, .masked = masked, .form = Form::uniform});
        for (uint64_t constant : {uint64_t{random_() % size}, uint64_t{random_() % (2 * size)}})
          variants.push_back({.name = name,
                              .width = width,
                              .masked = masked,
                              .form = Form::constant,
                              .constants = {constant, random_() % 2 ? size : random_() % (size + 2)}});
      }
    }
  }
  ASSERT_GT(variants.size(), 1000u);
  compare(variants, 4, [&](const TestedCall& variant, Memory& in) {
    const llvm::StringRef type = type_word(variant.name);
    const unsigned bytes = type.ends_with("8") ? 1 : type.ends_with("16") ? 2 : type.ends_with("32") ? 4 : 8;
    const unsigned size = works_in_quads(variant.name) ? 4 : 32;
    const unsigned values = values_of(variant.name);
    const bool wild = random_() % 4 == 0;
    std::array<uint64_t, 2> numbers = {};
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned c = 0; c < values; ++c) put(in, c, lane, bytes, random_number(type, true));
      if (variant.form == Form::constant) numbers = variant.constants;
      if (variant.form == Form::varying || (variant.form == Form::uniform && lane == 0))
        for (uint64_t& number : numbers) number = wild ? random_() % 65536 : random_() % (size + size / 4);
      for (unsigned i = 0; i < 2; ++i) put(in, values + i, lane, 2, numbers[i]);
    }
  });
}

TEST_P(VectorGroups, products_of_matrices_equal_the_reference) {
  std::vector<TestedCall> variants;
  for (const std::string& name : group_functions("metal.simdgroup_multiply_accumulate"))
    for (bool masked : {false, true}) variants.push_back({.name = name, .masked = masked});
  ASSERT_EQ(variants.size(), 54u);
  compare(variants, 20, [&](const TestedCall& variant, Memory& in) {
    llvm::SmallVector<llvm::StringRef, 5> words;
    llvm::StringRef(variant.name).split(words, '.');
    const bool special = random_() % 2;
    for (unsigned c = 0; c < 6; ++c) {
      const llvm::StringRef type = words[c / 2 == 0 ? 3 : c / 2 == 1 ? 4 : 2];
      for (unsigned lane = 0; lane < lanes; ++lane)
        put(in, c, lane, type == "f32" ? 4 : 2, random_number(type, special));
    }
  });
}

// A page between two that cannot be touched.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* const all = mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    first_ = static_cast<std::byte*>(all) + size_;
    mprotect(first_, size_, PROT_READ | PROT_WRITE);
  }
  ~GuardedPage() { munmap(first_ - size_, 3 * size_); }
  GuardedPage(const GuardedPage&) = delete;

  std::span<std::byte> bytes() const { return {first_, size_}; }

 private:
  size_t size_;
  std::byte* first_;
};

TEST_P(VectorGroups, matrices_are_loaded_and_stored_as_the_reference_does_and_nothing_around_them_is_touched) {
  const GuardedPage page;
  std::vector<std::byte> content(page.bytes().size());
  for (std::byte& byte : content) byte = static_cast<std::byte>(random_());
  before_ = [&] { std::copy(content.begin(), content.end(), page.bytes().begin()); };
  after_ = [&] { return std::vector<std::byte>(page.bytes().begin(), page.bytes().end()); };

  std::vector<TestedCall> variants;
  for (const std::string& name : group_functions("metal.simdgroup_")) {
    if (operation_of(name) == "multiply_accumulate") continue;
    for (bool masked : {false, true}) {
      for (uint64_t transpose : {0, 1})
        variants.push_back({.name = name,
                            .masked = masked,
                            .form = Form::uniform,
                            .transpose = Form::constant,
                            .constants = {transpose}});
      variants.push_back({.name = name, .masked = masked, .form = Form::uniform, .transpose = Form::uniform});
      variants.push_back({.name = name, .masked = masked});
    }
  }
  ASSERT_EQ(variants.size(), 120u);
  compare(variants, 12, [&](const TestedCall& variant, Memory& in) {
    const llvm::StringRef type = type_word(variant.name);
    const unsigned bytes = type == "f32" ? 4 : 2;
    const bool loads = operation_of(variant.name) == "load";
    const unsigned first = loads ? 0 : 2;
    const bool at_end = random_() % 2;
    uint64_t address = 0, stride = 0, transpose = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned c = 0; c < first; ++c) put(in, c, lane, bytes, random_number(type, true));
      // Lanes that store go to one matrix: where they write to the same place, any of them may be the last.
      if (lane == 0 || (variant.form == Form::varying && loads)) {
        stride = 8 + random_() % 60;
        const uint64_t size = (7 * stride + 8) * bytes;
        address = reinterpret_cast<uint64_t>(page.bytes().data()) + (at_end ? page.bytes().size() - size : 0);
        transpose = variant.transpose == Form::constant ? variant.constants[0] : random_() % 2;
      }
      put(in, first, lane, 8, address);
      put(in, first + 1, lane, 8, stride);
      put(in, first + 2, lane, 1, transpose);
    }
  });
}

constexpr Processor processors[] = {
    {"this_processor", nullptr, "", nullptr, true},
#ifdef __x86_64__
    {"haswell", "haswell", "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt", "avx2", false},
    {"nehalem", "nehalem", "+sse4.2,+popcnt", nullptr, false},
#endif
};

INSTANTIATE_TEST_SUITE_P(On, VectorGroups, testing::ValuesIn(processors),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TargetFeatures, the_last_setting_of_a_feature_counts) {
  llvm::LLVMContext context;
  llvm::Module module("features", context);
  auto* const function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                                llvm::GlobalValue::ExternalLinkage, "function", module);
  EXPECT_FALSE(has_feature(*function, "avx2"));
  function->addFnAttr("target-features", "+avx,-avx2,+avx512f,-avx512f,+avx512vl");
  EXPECT_TRUE(has_feature(*function, "avx"));
  EXPECT_FALSE(has_feature(*function, "avx2"));
  EXPECT_FALSE(has_feature(*function, "avx512f"));
  EXPECT_TRUE(has_feature(*function, "avx512vl"));
}

}  // namespace
}  // namespace metalloid::cpu::vector
