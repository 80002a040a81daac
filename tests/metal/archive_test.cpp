#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "metal_program.hpp"

namespace {

namespace fs = std::filesystem;

const std::string source = R"(
  kernel void kept(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 3 * i; }
  kernel void other(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 5 * i; }
)";

class BinaryArchive : public MetalProgram {
 protected:
  ~BinaryArchive() override { fs::remove_all(folder); }

  const fs::path folder = [] {
    std::string name = (fs::temp_directory_path() / "archive_test.XXXXXX").string();
    return fs::path(mkdtemp(name.data()));
  }();
  const fs::path file = folder / "kernels.archive";
  const NS::SharedPtr<MTL::Library> library = MetalProgram::library(source);

  NS::URL* url() const { return NS::URL::fileURLWithPath(string(file.string())); }

  NS::SharedPtr<MTL::BinaryArchive> archive(NS::URL* url, NS::Error** error) {
    const auto descriptor = NS::TransferPtr(MTL::BinaryArchiveDescriptor::alloc()->init());
    descriptor->setUrl(url);
    return NS::TransferPtr(device->newBinaryArchive(descriptor.get(), error));
  }

  NS::SharedPtr<MTL::ComputePipelineDescriptor> descriptor(const char* name) {
    auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    descriptor->setComputeFunction(function(library, name).get());
    return descriptor;
  }

  NS::SharedPtr<MTL::ComputePipelineState> only_from(const NS::SharedPtr<MTL::BinaryArchive>& archive, const char* name,
                                                     NS::Error** error) {
    const auto wanted = descriptor(name);
    wanted->setBinaryArchives(NS::Array::array(archive.get()));
    return NS::TransferPtr(
        device->newComputePipelineState(wanted.get(), MTL::PipelineOptionFailOnBinaryArchiveMiss, nullptr, error));
  }

  // An archive with one pipeline, written to the file.
  void write_archive() {
    NS::Error* error = nullptr;
    const auto made = archive(nullptr, &error);
    ASSERT_TRUE(made) << text(error);
    ASSERT_TRUE(made->addComputePipelineFunctions(descriptor("kept").get(), &error)) << text(error);
    ASSERT_TRUE(made->serializeToURL(url(), &error)) << text(error);
  }

  std::string content() const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::string refusal_of(const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
    NS::Error* error = nullptr;
    EXPECT_FALSE(archive(url(), &error));
    EXPECT_EQ(error->code(), NS::Integer(MTL::BinaryArchiveErrorInvalidFile));
    EXPECT_TRUE(error->domain()->isEqualToString(MTL::BinaryArchiveDomain));
    return text(error);
  }
};

TEST_F(BinaryArchive, GivesThePipelinesThatWereAddedToIt) {
  NS::Error* error = nullptr;
  const auto archive = this->archive(nullptr, &error);
  ASSERT_TRUE(archive) << text(error);
  EXPECT_FALSE(only_from(archive, "kept", &error));
  EXPECT_NE(text(error).find("'kept'"), std::string::npos) << text(error);
  ASSERT_TRUE(archive->addComputePipelineFunctions(descriptor("kept").get(), &error)) << text(error);
  EXPECT_EQ(error, nullptr);
  const auto state = only_from(archive, "kept", &error);
  ASSERT_TRUE(state) << text(error);
  EXPECT_EQ(run<unsigned>(state, 3), (std::vector{0u, 3u, 6u}));
  EXPECT_FALSE(only_from(archive, "other", &error));
}

TEST_F(BinaryArchive, IsNotChangedByPipelinesThatAreLookedForInIt) {
  NS::Error* error = nullptr;
  const auto archive = this->archive(nullptr, &error);
  const auto wanted = descriptor("other");
  wanted->setBinaryArchives(NS::Array::array(archive.get()));
  EXPECT_TRUE(NS::TransferPtr(device->newComputePipelineState(wanted.get(), 0, nullptr, &error))) << text(error);
  EXPECT_FALSE(only_from(archive, "other", &error));
}

TEST_F(BinaryArchive, ComesBackFromItsFile) {
  write_archive();
  NS::Error* error = nullptr;
  const auto read = archive(url(), &error);
  ASSERT_TRUE(read) << text(error);
  EXPECT_EQ(read->device(), device.get());
  const auto state = only_from(read, "kept", &error);
  ASSERT_TRUE(state) << text(error);
  EXPECT_EQ(run<unsigned>(state, 3), (std::vector{0u, 3u, 6u}));
}

TEST_F(BinaryArchive, ThatIsDamagedAnywhereIsAnError) {
  write_archive();
  const std::string good = content();
  ASSERT_GT(good.size(), 100u);
  for (size_t position : {size_t{8}, size_t{20}, good.size() / 2, good.size() - 1}) {
    std::string damaged = good;
    damaged[position] ^= 0x40;
    EXPECT_NE(refusal_of(damaged).find("damaged"), std::string::npos) << position;
  }
  EXPECT_NE(refusal_of(good.substr(0, good.size() / 2)).find("truncated"), std::string::npos);
  EXPECT_NE(refusal_of("").find("not a binary archive"), std::string::npos);
  EXPECT_NE(refusal_of("MTLB something of Apple's").find("not a binary archive"), std::string::npos);
}

TEST_F(BinaryArchive, OfAFileThatIsNotThereIsAnError) {
  NS::Error* error = nullptr;
  EXPECT_FALSE(archive(url(), &error));
  EXPECT_NE(text(error).find("kernels.archive"), std::string::npos) << text(error);
}

TEST_F(BinaryArchive, ThatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  NS::Error* error = nullptr;
  const auto archive = this->archive(nullptr, &error);
  EXPECT_FALSE(archive->serializeToURL(NS::URL::fileURLWithPath(string((folder / "no/such/folder").string())), &error));
  EXPECT_NE(text(error).find("no/such/folder"), std::string::npos) << text(error);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(BinaryArchive, TakesNoPipelineThatCannotBeMade) {
  NS::Error* error = nullptr;
  const auto archive = this->archive(nullptr, &error);
  const auto empty = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  EXPECT_FALSE(archive->addComputePipelineFunctions(empty.get(), &error));
  EXPECT_EQ(error->code(), NS::Integer(MTL::BinaryArchiveErrorCompilationFailure));
}

}  // namespace
