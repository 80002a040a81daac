// Functions that a source declares with the symbols of Apple's intermediate code.
#include "compile_source.hpp"

namespace metalloid {
namespace {

std::string waiting_with(const std::string& symbol, const std::string& parameters = "int, thread void**") {
  return "\nvoid wait(" + parameters + ") __asm(\"" + symbol + "\");\n" +
         "kernel void k() { thread void* event = nullptr; $wait(1, &event); }";
}

std::string without_mark(std::string source) {
  source.erase(source.find('$'), 1);
  return source;
}

TEST(AirSymbols, AKnownSymbolIsAFunctionOfTheHeaders) {
  const auto library = library_of(without_mark(waiting_with("air.wait_simdgroup_events")));
  ASSERT_TRUE(library);
  EXPECT_TRUE(mentions(code_of(*library, "k"), "metal.simdgroup_barrier"));
}

TEST(AirSymbols, AByteOfOneMayStandBeforeTheSymbol) {
  const auto library = library_of(without_mark(waiting_with("\\1air.wait_simdgroup_events")));
  ASSERT_TRUE(library);
  EXPECT_TRUE(mentions(code_of(*library, "k"), "metal.simdgroup_barrier"));
}

TEST(AirSymbols, AnUnknownSymbolIsAFunctionWithoutADefinition) {
  expect_error(waiting_with("air.wait_for_the_bus"), "'wait' is declared but has no definition");
}

TEST(AirSymbols, OtherParametersThanTheKnownFunctionsAreAnError) {
  const auto library = library_of(without_mark(waiting_with("air.wait_simdgroup_events", "long, thread void**")));
  ASSERT_TRUE(library);
  const auto code = library->code("k");
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().find("'k' calls 'air.wait_simdgroup_events', which has no definition"), std::string::npos)
      << code.error();
}

}  // namespace
}  // namespace metalloid
