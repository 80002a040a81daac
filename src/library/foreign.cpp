// Most files are told by how they begin. The rest is text, or we do not know.
#include "library/foreign.hpp"

#include <algorithm>
#include <string_view>

namespace metalloid {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view start;  // how its files begin
  std::string_view explanation;
};

constexpr std::string_view apple_library =
    "is a library made by Apple's compiler, whose code only Apple's GPUs can run; compile the Metal source it was made "
    "from with `metalloid compile`";
constexpr std::string_view bitcode =
    "is LLVM bitcode (AIR from Apple's compiler, or another compiler's), not a library; compile the Metal source with "
    "`metalloid compile`";
constexpr std::string_view mach_o =
    "is a Mach-O file (an Apple object or program), not a library; compile the Metal source with `metalloid compile`";

constexpr Kind kinds[] = {
    {"MTLB"sv, apple_library},
    {"\xCB\xFE\xBA\xBE"sv, apple_library},  // for several GPUs at once, in either byte order
    {"\xBE\xBA\xFE\xCB"sv, apple_library},
    {"BC\xC0\xDE"sv, bitcode},
    {"\xDE\xC0\x17\x0B"sv, bitcode},
    {"\xCF\xFA\xED\xFE"sv, mach_o},
    {"\xCE\xFA\xED\xFE"sv, mach_o},
    {"\xCA\xFE\xBA\xBE"sv, mach_o},
    {"\177ELF"sv,
     "is an ELF file (an object or a program), not a library; compile Metal source with `metalloid compile`"},
    {"!<arch>\n"sv,
     "is an archive of objects, not a library; make a library from Metal source with `metalloid compile`"},
    {"\x03\x02\x23\x07"sv, "is SPIR-V, not a library; compile Metal source with `metalloid compile`"},
    {"version https://git-lfs"sv, "is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`"},
    {"\x8fMTLOD\n"sv, "was transferred as text, which damaged it; transfer it as binary, or compile it again"},
};

bool looks_like_text(Bytes content) {
  return std::all_of(content.begin(), content.begin() + std::min<size_t>(content.size(), 4096), [](uint8_t byte) {
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
  });
}

}  // namespace

std::string explain_foreign(Bytes content) {
  if (content.empty()) return "is empty; what was to write it probably failed";
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  for (const Kind& kind : kinds)
    if (text.starts_with(kind.start)) return std::string(kind.explanation);
  if (looks_like_text(content))
    return "is text, not a library; if it is Metal source, compile it with `metalloid compile`";
  return "is not a library that `metalloid compile` made";
}

}  // namespace metalloid
