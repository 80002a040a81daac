#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "sample_library.hpp"

namespace metalloid {
namespace {

using sample::reseal;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(testing::TempDir() + "metalloid_library_XXXXXX") { (void)!mkdtemp(path_.data()); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return std::filesystem::path(path_) / name; }
  size_t entries() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::string path_;
};

void expect_same(const Library& a, const Library& b) {
  EXPECT_EQ(a.functions(), b.functions());
  EXPECT_EQ(a.function_constants(), b.function_constants());
  for (std::string_view name : a.function_names()) EXPECT_EQ(**a.code(name), **b.code(name)) << name;
  ASSERT_EQ(a.device_code().size(), b.device_code().size());
  for (const DeviceCode& code : a.device_code()) {
    const DeviceCode* other = b.find_device_code(code.key);
    ASSERT_TRUE(other) << code.key;
    EXPECT_EQ(code.function, other->function);
    EXPECT_EQ(code.device + code.form, other->device + other->form);
    EXPECT_EQ(*code.read(), *other->read());
  }
}

std::string error_of(std::vector<uint8_t> file) {
  const auto library = Library::from_bytes(std::move(file));
  return library ? "" : library.error();
}

// Opens and reads all there is. True if all went well and is what the rich library has.
bool reads_as_the_original(std::vector<uint8_t> file, const Library& original) {
  const auto library = Library::from_bytes(std::move(file));
  if (!library) {
    EXPECT_FALSE(library.error().empty());
    return false;
  }
  if ((*library)->functions() != original.functions()) return false;
  if ((*library)->function_constants() != original.function_constants()) return false;
  for (std::string_view name : original.function_names()) {
    const auto code = (*library)->code(name);
    if (!code || **code != **original.code(name)) return false;
  }
  if ((*library)->device_code().size() != original.device_code().size()) return false;
  for (const DeviceCode& code : original.device_code()) {
    const DeviceCode* other = (*library)->find_device_code(code.key);
    if (!other || other->function != code.function || other->device != code.device || other->form != code.form)
      return false;
    const auto content = other->read();
    if (!content || *content != *code.read()) return false;
  }
  return true;
}

TEST(FileFormat, ALibraryReadsBackAsItWasWritten) {
  const auto library = sample::rich_library();
  const auto read = Library::from_bytes(sample::rich_file());
  ASSERT_TRUE(read) << read.error();
  expect_same(*library, **read);
}

TEST(FileFormat, AFileReadsBackAndOverwritesAnOlderOne) {
  const TemporaryFolder folder;
  const auto path = folder / "rich.metallib";
  const auto library = sample::rich_library();
  ASSERT_TRUE(Library(std::vector<Function>{}, {}, nullptr).write(path));
  const auto older = Library::open(path);
  ASSERT_TRUE(older) << older.error();
  ASSERT_TRUE(library->write(path));
  const auto read = Library::open(path);
  ASSERT_TRUE(read) << read.error();
  expect_same(*library, **read);
  EXPECT_TRUE((*older)->functions().empty());
  EXPECT_EQ(folder.entries(), 1u) << "a temporary file was left behind";
}

TEST(FileFormat, ALibraryThatWasReadWritesTheSameBytes) {
  const auto file = sample::rich_file();
  EXPECT_EQ(*(*Library::from_bytes(file))->serialise(), file);
}

TEST(FileFormat, AnEmptyLibraryIsALibrary) {
  const auto file = Library(std::vector<Function>{}, {}, nullptr).serialise();
  ASSERT_TRUE(file);
  const auto read = Library::from_bytes(*file);
  ASSERT_TRUE(read) << read.error();
  EXPECT_TRUE((*read)->functions().empty());
}

TEST(FileFormat, EqualModulesAreKeptOnce) {
  const auto file_with = [](uint8_t second_content) {
    std::vector<uint8_t> noise(20'000);
    for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(XXH3_64bits(&i, sizeof i));
    Code first{"f", noise, 0, {}, {}}, second{"g", noise, 0, {}, {}};
    for (uint8_t& byte : second.bitcode) byte ^= second_content;
    return Library({sample::simple("f", 1), sample::simple("g", 2)}, {},
                   std::make_shared<sample::GivenCode>(std::vector<Code>{first, second}))
        .serialise();
  };
  EXPECT_LT(file_with(0)->size(), 21'000u);
  EXPECT_GT(file_with(1)->size(), 39'000u);
}

TEST(FileFormat, EveryTruncationIsAnError) {
  const auto file = sample::rich_file();
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string error = error_of({file.begin(), file.begin() + static_cast<ptrdiff_t>(size)});
    EXPECT_NE(error.find(size == 0 ? "empty" : "truncated"), error.npos) << size << ": " << error;
  }
}

TEST(FileFormat, NoSingleByteCanBeDamagedUnnoticed) {
  const auto original = sample::rich_library();
  const auto file = sample::rich_file();
  for (size_t i = 0; i < file.size(); ++i)
    for (int change : {0x01, 0x80, 0xff}) {
      auto damaged = file;
      damaged[i] ^= static_cast<uint8_t>(change);
      EXPECT_FALSE(reads_as_the_original(std::move(damaged), *original)) << "byte " << i;
    }
}

TEST(FileFormat, DamageMadeOnPurposeNeverCrashesTheReader) {
  const auto original = sample::rich_library();
  const auto file = sample::rich_file();
  for (size_t i = 0; i < file.size(); ++i)
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff, file[i] + 1, file[i] - 1}) {
      auto damaged = file;
      damaged[i] = static_cast<uint8_t>(value);
      reseal(damaged);
      reads_as_the_original(std::move(damaged), *original);
    }
}

TEST(FileFormat, BytesAfterTheEndAreNoticed) {
  auto file = sample::rich_file();
  file.push_back(0);
  EXPECT_NE(error_of(file).find("damaged"), std::string::npos);
}

TEST(FileFormat, DamagedCodeIsAnErrorOnlyForTheFunctionThatIsAskedFor) {
  auto file = sample::rich_file();
  ByteReader code_section(Bytes(file).subspan(format::header_size + format::section_entry_size));
  ASSERT_EQ(code_section.padded_text(format::section_name_width), format::code_section);
  file[code_section.fixed64()] ^= 1;
  const auto library = Library::from_bytes(file);
  ASSERT_TRUE(library) << library.error();
  EXPECT_NE((*library)->find("copy"), nullptr);
  const auto code = (*library)->code("copy");
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().find("the code of 'copy'"), std::string::npos) << code.error();
}

TEST(FileFormat, DamagedDeviceCodeIsAnErrorWhenItIsRead) {
  auto file = sample::rich_file();
  file.back() ^= 1;
  const auto library = Library::from_bytes(file);
  ASSERT_TRUE(library) << library.error();
  EXPECT_TRUE((*library)->find_device_code("12")->read());
  const auto code = (*library)->find_device_code("13")->read();
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().find("the PTX of 'scale'"), std::string::npos) << code.error();
  EXPECT_EQ((*library)->find_device_code("14"), nullptr);
}

TEST(FileFormat, ANewerFormatSaysWhoWroteItAndWhatToDo) {
  auto file = sample::rich_file();
  file[8] = 7;
  const std::string error = error_of(file);
  EXPECT_NE(error.find("format 7, written by Metalloid"), error.npos) << error;
  EXPECT_NE(error.find("update Metalloid"), error.npos) << error;
}

TEST(FileFormat, SectionsOfAnUnknownNameAreSkipped) {
  const auto file = sample::rich_file();
  const auto at = [&](size_t offset) { return file.begin() + static_cast<ptrdiff_t>(offset); };
  const uint8_t sections = file[12];
  const size_t table_end = format::header_size + sections * format::section_entry_size;

  std::vector<uint8_t> extended(file.begin(), at(table_end));
  extended[12] = sections + 1;
  for (size_t entry = format::header_size; entry < table_end; entry += format::section_entry_size) {
    const uint64_t offset = ByteReader(Bytes(file).subspan(entry + 8)).fixed64() + format::section_entry_size;
    for (size_t i = 0; i < 8; ++i) extended[entry + 8 + i] = static_cast<uint8_t>(offset >> (8 * i));
  }
  ByteWriter added;
  added.padded_text("ptx", format::section_name_width);
  added.fixed64(file.size() + format::section_entry_size);
  added.fixed64(4);
  added.fixed64(0);
  extended.insert(extended.end(), added.bytes().begin(), added.bytes().end());
  extended.insert(extended.end(), at(table_end), file.end());
  extended.insert(extended.end(), {'.', 'p', 't', 'x'});
  reseal(extended);

  const auto library = Library::from_bytes(extended);
  ASSERT_TRUE(library) << library.error();
  expect_same(*sample::rich_library(), **library);
}

TEST(FileFormat, ATypeThatIsNestedTooDeeplyIsNotWritten) {
  Type type = sample::scalar(DataType::float1, 4);
  for (unsigned i = 0; i < format::deepest_type; ++i) type = sample::array_of(type, 1);
  Function function = sample::simple("deep", 1);
  function.parameters[0].type = type;
  const auto provider = std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("deep", 1)});
  const auto file = Library({function}, {}, provider).serialise();
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().find("'deep' has a type nested more than"), std::string::npos) << file.error();

  function.parameters[0].type = type.element.front();
  EXPECT_TRUE(Library({function}, {}, provider).serialise());
}

TEST(FileFormat, TwoFunctionsOfOneNameAreNotWritten) {
  const auto provider =
      std::make_shared<sample::GivenCode>(std::vector<Code>{sample::code("f", 1), sample::code("f", 1)});
  const auto file = Library({sample::simple("f", 1), sample::simple("f", 2)}, {}, provider).serialise();
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().find("two functions named 'f'"), std::string::npos);
}

TEST(FileFormat, CodeThatCannotBeProducedIsWhyNothingIsWritten) {
  const TemporaryFolder folder;
  const Library library({sample::simple("f", 1)}, {}, std::make_shared<sample::GivenCode>(std::vector<Code>(1)));
  const Status written = library.write(folder / "f.metallib");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().find("this function has no code"), std::string::npos) << written.error();
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(FileFormat, PathsThatCannotBeReadOrWrittenAreNamedWithTheReason) {
  const TemporaryFolder folder;
  const auto missing = Library::open(folder / "missing.metallib");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().find("missing.metallib': No such file"), std::string::npos) << missing.error();
  const auto directory = Library::open(folder / ".");
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().find("Is a directory"), std::string::npos) << directory.error();
  const Status nowhere = sample::rich_library()->write(folder / "no_such_folder/a.metallib");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().find("no_such_folder/a.metallib': No such file"), std::string::npos) << nowhere.error();
  const Status onto_directory = sample::rich_library()->write(folder / ".");
  ASSERT_FALSE(onto_directory);
  EXPECT_NE(onto_directory.error().find("Is a directory"), std::string::npos) << onto_directory.error();
}

TEST(FileFormat, ASymbolicLinkIsWrittenThroughAndADeviceDirectly) {
  const TemporaryFolder folder;
  ASSERT_TRUE(sample::rich_library()->write(folder / "real.metallib"));
  std::filesystem::create_symlink("real.metallib", folder / "link.metallib");
  ASSERT_TRUE(sample::rich_library()->write(folder / "link.metallib"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.metallib"));
  EXPECT_TRUE(Library::open(folder / "link.metallib"));
  ASSERT_TRUE(sample::rich_library()->write("/dev/null"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

struct Foreign {
  std::string content, expected;
};

TEST(FileFormat, ForeignFilesAreCalledWhatTheyAre) {
  const Foreign cases[] = {
      {"", "is empty"},
      {std::string("MTLB\x01\x80\x02\0", 8), "Apple's compiler"},
      {"BC\xC0\xDE\x35", "LLVM bitcode"},
      {std::string("\xDE\xC0\x17\x0B\0\0", 6), "LLVM bitcode"},
      {"\xCF\xFA\xED\xFE\x07", "Mach-O"},
      {"\x7F"
       "ELF\x02",
       "ELF"},
      {"#include <metal_stdlib>\nkernel void f() {}\n", "is text"},
      {"// caf\xC3\xA9\n", "is text"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {std::string("\x01\x02\0\x03", 4), "not a library"},
      {"\x8fMTLOD\n\x01", "transferred as text"},
  };
  const TemporaryFolder folder;
  const auto path = folder / "given.metallib";
  for (const auto& [content, expected] : cases) {
    std::ofstream(path, std::ios::binary) << content;
    const auto library = Library::open(path);
    ASSERT_FALSE(library) << expected;
    EXPECT_NE(library.error().find("given.metallib'"), std::string::npos) << library.error();
    EXPECT_NE(library.error().find(expected), std::string::npos) << library.error();
  }
}

}  // namespace
}  // namespace metalloid
