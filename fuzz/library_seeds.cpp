// Writes the library fuzzer's seeds into a folder, so that they are always of the current format.
#include <cstdio>

#include "../tests/library/sample_library.hpp"

int main(int argc, char** argv) {
  using namespace metalloid;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const Library empty(std::vector<Function>{}, {}, nullptr);
  const Library small({sample::simple("copy", 1)}, {},
                      std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("copy", 7)}));
  for (const auto& written : {empty.write(folder / "empty.metallib"), small.write(folder / "small.metallib"),
                              sample::rich_library()->write(folder / "rich.metallib")})
    if (!written) {
      std::fprintf(stderr, "%s\n", written.error().c_str());
      return 1;
    }
}
