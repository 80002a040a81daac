#include <metalloid/compiler.hpp>

#include "metal_program.hpp"

namespace {

const std::string source = R"(
  #include <metal_stdlib>
  using namespace metal;
  constant int factor [[function_constant(0)]];
  constant bool negate [[function_constant(1)]];
  constant float3 weights [[function_constant(2)]];
  constant uint optional [[function_constant(3)]];
  constant uint chosen = is_function_constant_defined(optional) ? optional : 7;
  constant ushort unused [[function_constant(4)]];

  kernel void product(device int* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    const int value = factor * int(i);
    out[i] = negate ? -value : value;
  }
  kernel void weigh(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = weights[i % 3]; }
  kernel void choose(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = chosen; }
  kernel void plain(device int* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }
)";

class Constants : public MetalProgram {
 protected:
  const NS::SharedPtr<MTL::Library> library = MetalProgram::library(source);
  const NS::SharedPtr<MTL::FunctionConstantValues> values =
      NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());

  NS::SharedPtr<MTL::Function> specialised(const char* name, NS::Error** error = nullptr) {
    NS::Error* reason = nullptr;
    auto function = NS::TransferPtr(library->newFunction(string(name), values.get(), error ? error : &reason));
    EXPECT_TRUE(function || error) << text(reason);
    return function;
  }

  std::string refusal(const char* name) {
    NS::Error* error = nullptr;
    EXPECT_FALSE(specialised(name, &error));
    return text(error);
  }

  template <class Value>
  void set(Value value, MTL::DataType type, NS::UInteger index) {
    values->setConstantValue(&value, type, index);
  }
};

TEST_F(Constants, AreListedByTheFunctionsThatUseThem) {
  const auto constants = [&](const char* name) { return function(library, name)->functionConstantsDictionary(); };
  EXPECT_EQ(constants("plain")->count(), 0u);
  ASSERT_EQ(constants("product")->count(), 2u);
  const auto* factor = constants("product")->object<MTL::FunctionConstant>(string("factor"));
  ASSERT_NE(factor, nullptr);
  EXPECT_EQ(text(factor->name()), "factor");
  EXPECT_EQ(factor->index(), 0u);
  EXPECT_EQ(factor->type(), MTL::DataTypeInt);
  EXPECT_TRUE(factor->required());
  const auto* optional = constants("choose")->object<MTL::FunctionConstant>(string("optional"));
  ASSERT_NE(optional, nullptr);
  EXPECT_FALSE(optional->required());
}

TEST_F(Constants, AreSetByIndex) {
  set(5, MTL::DataTypeInt, 0);
  set(true, MTL::DataTypeBool, 1);
  EXPECT_EQ(run<int>(pipeline(specialised("product")), 4), (std::vector{0, -5, -10, -15}));
}

TEST_F(Constants, AreSetByName) {
  const int factor = 3;
  const bool negate = false;
  values->setConstantValue(&factor, MTL::DataTypeInt, string("factor"));
  values->setConstantValue(&negate, MTL::DataTypeBool, string("negate"));
  EXPECT_EQ(run<int>(pipeline(specialised("product")), 4), (std::vector{0, 3, 6, 9}));
}

TEST_F(Constants, AreSetByRange) {
  const int factors[] = {4, 9};
  values->setConstantValues(factors, MTL::DataTypeInt, NS::Range::Make(0, 1));
  set(false, MTL::DataTypeBool, 1);
  EXPECT_EQ(run<int>(pipeline(specialised("product")), 3), (std::vector{0, 4, 8}));
}

TEST_F(Constants, MayBeVectors) {
  const float weights[] = {1.5f, 2.5f, 3.5f};  // no more than its three numbers are read
  values->setConstantValue(weights, MTL::DataTypeFloat3, 2);
  EXPECT_EQ(run<float>(pipeline(specialised("weigh")), 3), (std::vector{1.5f, 2.5f, 3.5f}));
}

TEST_F(Constants, ThatAreOptionalMayBeLeftOut) {
  EXPECT_EQ(run<unsigned>(pipeline(specialised("choose")), 2), (std::vector{7u, 7u}));
  set(42u, MTL::DataTypeUInt, 3);
  EXPECT_EQ(run<unsigned>(pipeline(specialised("choose")), 2), (std::vector{42u, 42u}));
}

TEST_F(Constants, ThatTheFunctionDoesNotUseDoNotMatter) {
  set(1.0f, MTL::DataTypeFloat, 0);
  set(1.0f, MTL::DataTypeFloat, 77);
  EXPECT_TRUE(specialised("plain"));
}

TEST_F(Constants, ThatAreMissingAreNamed) {
  set(5, MTL::DataTypeInt, 0);
  const std::string message = refusal("product");
  EXPECT_NE(message.find("'negate' (bool, index 1)"), std::string::npos) << message;
  EXPECT_EQ(message.find("factor"), std::string::npos) << message;
}

TEST_F(Constants, OfAnotherTypeAreAnErrorThatNamesBoth) {
  set(5.0f, MTL::DataTypeFloat, 0);
  set(true, MTL::DataTypeBool, 1);
  const std::string message = refusal("product");
  EXPECT_NE(message.find("'factor'"), std::string::npos) << message;
  EXPECT_NE(message.find("int"), std::string::npos) << message;
  EXPECT_NE(message.find("float"), std::string::npos) << message;
}

TEST_F(Constants, AreNeededAtTheLatestByThePipeline) {
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newComputePipelineState(function(library, "product").get(), &error), nullptr);
  EXPECT_NE(text(error).find("'factor'"), std::string::npos) << text(error);
}

TEST_F(Constants, AreForgottenByReset) {
  set(5, MTL::DataTypeInt, 0);
  set(true, MTL::DataTypeBool, 1);
  const auto copy = NS::TransferPtr(values->copy());
  values->reset();
  EXPECT_NE(refusal("product").find("'factor'"), std::string::npos);
  NS::Error* error = nullptr;
  EXPECT_TRUE(NS::TransferPtr(library->newFunction(string("product"), copy.get(), &error))) << text(error);
}

TEST_F(Constants, GiveDifferentPipelinesFromOneFunction) {
  set(false, MTL::DataTypeBool, 1);
  set(2, MTL::DataTypeInt, 0);
  const auto two = pipeline(specialised("product"));
  set(10, MTL::DataTypeInt, 0);
  const auto ten = pipeline(specialised("product"));
  EXPECT_EQ(run<int>(two, 3), (std::vector{0, 2, 4}));
  EXPECT_EQ(run<int>(ten, 3), (std::vector{0, 10, 20}));
}

// As those of MLX's two kinds of attention.
TEST_F(Constants, OfOneNameAreEachLibrarysOwnWhenLibrariesAreMerged) {
  const auto source = [](const std::string& name, int index) {
    return "constant bool masked [[function_constant(" + std::to_string(index) + ")]];\n" + "kernel void " + name +
           "(device int* out [[buffer(0)]], device int* mask [[buffer(1), function_constant(masked)]],\n"
           "uint i [[thread_position_in_grid]]) { out[i] = masked ? 1 : 2; }";
  };
  std::vector<std::shared_ptr<metalloid::Library>> libraries;
  for (const auto& [name, index] : {std::pair{"first", 20}, std::pair{"second", 300}})
    libraries.push_back(metalloid::compile(source(name, index)).library);
  const auto merged = metalloid::merge(libraries);
  ASSERT_TRUE(merged) << merged.error();
  const auto bytes = (*merged)->serialise();
  ASSERT_TRUE(bytes) << bytes.error();
  dispatch_data_t data = dispatch_data_create(bytes->data(), bytes->size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(device->newLibrary(data, &error));
  dispatch_release(data);
  ASSERT_TRUE(library) << text(error);
  for (const auto& [name, index] : {std::pair{"first", 20}, std::pair{"second", 300}}) {
    values->reset();
    set(false, MTL::DataTypeBool, static_cast<NS::UInteger>(index));
    const auto function = NS::TransferPtr(library->newFunction(string(name), values.get(), &error));
    ASSERT_TRUE(function) << text(error);
    EXPECT_EQ(function->functionConstantsDictionary()->count(), 1u);
    EXPECT_EQ(run<int>(pipeline(function), 2), (std::vector{2, 2}));
  }
}

}  // namespace
