# Writes a C++ file that defines metalloid::builtins::bitcode() with the bytes of INPUT.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"builtins/builtins.hpp\"

namespace metalloid::builtins {

alignas(4) static const uint8_t bytes[] = {${bytes}};

std::span<const uint8_t> bitcode() { return bytes; }

}  // namespace metalloid::builtins
")
