// Code made ahead of time: the device takes it out of the library, and nothing is compiled.
#include "nvidia/ahead.hpp"

#include "fake_gpu.hpp"

namespace metalloid::nvidia {
namespace {

constexpr Architecture pretended{.capability = 90};

class NvidiaAhead : public FakeGpu {
 protected:
  static std::shared_ptr<Library> from_file(const Library& library) {
    auto bytes = library.serialise();
    EXPECT_TRUE(bytes) << bytes.error();
    auto read = Library::from_bytes(*std::move(bytes));
    EXPECT_TRUE(read) << read.error();
    return *read;
  }

  static std::shared_ptr<Library> compiled() {
    CompileOptions options;
    options.cache = false;
    const CompileResult result = compile(
        "constant int by [[function_constant(0)]];\n"
        "kernel void twice(device int* values, uint i [[thread_position_in_grid]]) { values[i] *= 2; }\n"
        "kernel void times(device int* values, uint i [[thread_position_in_grid]]) { values[i] *= by; }\n",
        options);
    EXPECT_TRUE(result.library) << format(result.diagnostics);
    return from_file(*result.library);
  }

  static std::shared_ptr<Library> with_code_for(const Architecture& architecture, const Assemble& assemble = {}) {
    const auto library = compiled();
    auto code = compile_ahead(library, "twice", architecture, assemble);
    EXPECT_TRUE(code) << code.error();
    library->add_device_code(*std::move(code));
    return from_file(*library);
  }

  Result<std::shared_ptr<device::Pipeline>> make_pipeline(std::shared_ptr<Library> library) {
    device::PipelineRequest request;
    request.kernel = {std::move(library), "twice", {}};
    request.only_from_archives = true;
    return device_->compile(request);
  }
};

TEST_F(NvidiaAhead, ALibraryBringsTheCodeOfAPipeline) {
  const auto pipeline = make_pipeline(with_code_for(pretended));
  EXPECT_TRUE(pipeline) << pipeline.error();
}

TEST_F(NvidiaAhead, CodeForOtherGpusIsNotTaken) {
  EXPECT_FALSE(make_pipeline(with_code_for({.capability = 80})));
  EXPECT_FALSE(make_pipeline(compiled()));
}

TEST_F(NvidiaAhead, MachineCodeIsLoadedInPlaceOfPtx) {
  const auto assembled = [](const std::string& ptx) -> Result<std::string> {
    EXPECT_NE(ptx.find(".target sm_90"), std::string::npos);
    return std::string("machine code with .entry metalloid_entry");
  };
  ASSERT_TRUE(make_pipeline(with_code_for(pretended)));
  EXPECT_EQ(controls_->machine_code, 0u);
  const auto pipeline = make_pipeline(with_code_for(pretended, assembled));
  ASSERT_TRUE(pipeline) << pipeline.error();
  EXPECT_EQ(controls_->machine_code, 1u);
}

TEST_F(NvidiaAhead, DamagedCodeIsAnError) {
  auto library = compiled();
  auto code = compile_ahead(library, "twice", pretended, {});
  ASSERT_TRUE(code) << code.error();
  for (DeviceCode& each : *code) each.read = []() -> Result<std::string> { return Error{"the file is damaged"}; };
  library->add_device_code(*std::move(code));
  const auto pipeline = make_pipeline(library);
  ASSERT_FALSE(pipeline);
  EXPECT_EQ(pipeline.error(), "the file is damaged");
}

TEST_F(NvidiaAhead, KernelsThatMustBeGivenConstantsHaveNone) {
  const auto library = compiled();
  EXPECT_TRUE(*can_be_compiled_ahead(*library, "twice"));
  EXPECT_FALSE(*can_be_compiled_ahead(*library, "times"));
}

TEST(NvidiaArchitectures, AreKnownByTheirNames) {
  EXPECT_EQ(parse_architecture("sm_90")->capability, 90u);
  for (const char* other : {"sm_", "sm_70", "sm_90x", "90", "", "gfx90"})
    EXPECT_FALSE(parse_architecture(other)) << other;
}

}  // namespace
}  // namespace metalloid::nvidia
