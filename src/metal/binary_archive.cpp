#include "metal/binary_archive.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include "foundation/string.hpp"
#include "library/bytes.hpp"
#include "library/file.hpp"
#include "metal/compute_pipeline.hpp"
#include "metal/errors.hpp"

namespace metalloid::metal {

struct BinaryArchiveProperties {
  static constexpr const char* class_name = "MTLBinaryArchiveDescriptor";
  Copied<NS::URL> url;
};
PROPERTIES(BinaryArchiveDescriptor, BinaryArchiveProperties)

namespace {

constexpr std::string_view magic = "MTLDARC1";
constexpr size_t checksum_size = 8;

uint64_t checksum(Bytes bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// An archive that a pipeline is looked for in; what had to be compiled is not added.
class Searched final : public device::CodeStore {
 public:
  explicit Searched(std::shared_ptr<Archive> archive) : archive_(std::move(archive)) {}
  std::optional<std::string> load(std::string_view key) override { return archive_->load(key); }
  void store(std::string_view, std::string_view) override {}

 private:
  const std::shared_ptr<Archive> archive_;
};

BinaryArchiveObject* body(MTL::BinaryArchive* archive) {
  return static_cast<BinaryArchiveObject*>(archive);
}
const BinaryArchiveObject* body(const MTL::BinaryArchive* archive) {
  return static_cast<const BinaryArchiveObject*>(archive);
}

bool refuse(NS::Error** error, std::string_view message) {
  report(error, binary_archive_error(MTL::BinaryArchiveErrorUnexpectedElement, message));
  return false;
}

bool refuse_graphics(NS::Error** error) {
  return refuse(error, "render pipelines are not supported; a binary archive here holds compute pipelines");
}

}  // namespace

Result<std::shared_ptr<Archive>> Archive::read(const std::filesystem::path& path) {
  auto file = map_file(path);
  if (!file) return Error{file.error()};
  const auto damaged = [&](std::string_view why) {
    return Error{fmt::format("'{}' {}; make the archive again with BinaryArchive::serializeToURL", path.string(), why)};
  };
  const Bytes all = file->bytes;
  if (ByteReader(all).text(std::min(all.size(), magic.size())) != magic)
    return damaged("is not a binary archive that Metalloid wrote");
  if (all.size() < magic.size() + checksum_size) return damaged("is a truncated binary archive");
  const Bytes checked = all.first(all.size() - checksum_size);
  if (ByteReader(all.last(checksum_size)).fixed64() != checksum(checked))
    return damaged("is a damaged or truncated binary archive");

  auto archive = std::make_shared<Archive>();
  ByteReader reader(checked.subspan(magic.size()));
  for (size_t rest = reader.count(); rest > 0 && !reader.failed(); --rest) {
    const uint64_t key_size = reader.varint(), code_size = reader.varint();
    const std::string_view key = reader.text(key_size);
    archive->code_by_key_.emplace(key, reader.text(code_size));
  }
  if (reader.failed() || !reader.at_end()) return damaged("is a damaged binary archive");
  return archive;
}

Status Archive::write(const std::filesystem::path& path) const {
  ByteWriter writer;
  writer.append(as_bytes(magic));
  {
    std::lock_guard lock(mutex_);
    writer.varint(code_by_key_.size());
    for (const auto& [key, code] : code_by_key_) {
      writer.varint(key.size());
      writer.varint(code.size());
      writer.append(as_bytes(key));
      writer.append(as_bytes(code));
    }
  }
  writer.fixed64(checksum(writer.bytes()));
  return replace_file(path, writer.bytes());
}

std::optional<std::string> Archive::load(std::string_view key) {
  std::lock_guard lock(mutex_);
  const auto found = code_by_key_.find(key);
  return found == code_by_key_.end() ? std::nullopt : std::optional(found->second);
}

void Archive::store(std::string_view key, std::string_view code) {
  std::lock_guard lock(mutex_);
  code_by_key_.insert_or_assign(std::string(key), std::string(code));
}

std::vector<std::shared_ptr<device::CodeStore>> archives_to_search(const NS::Array* archives) {
  std::vector<std::shared_ptr<device::CodeStore>> stores;
  for (NS::UInteger i = 0; i < archives->count(); ++i)
    if (const auto* object = dynamic_cast<const BinaryArchiveObject*>(archives->object(i)))
      stores.push_back(std::make_shared<Searched>(object->archive));
  return stores;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::foundation;
using namespace metalloid::metal;

ALLOC(BinaryArchiveDescriptor)
PROPERTY(BinaryArchiveDescriptor, url, setUrl)

BinaryArchive* Device::newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error) {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  const BinaryArchiveProperties* wanted = properties(descriptor);
  report(error, nullptr);
  if (!wanted || !wanted->url) return new BinaryArchiveObject(self, std::make_shared<Archive>());
  const char* path = wanted->url->fileSystemRepresentation();
  auto archive = path ? Archive::read(path) : metalloid::Error{"the archive's URL is not that of a file"};
  if (!archive) {
    report(error, binary_archive_error(BinaryArchiveErrorInvalidFile, archive.error()));
    return nullptr;
  }
  return new BinaryArchiveObject(self, *std::move(archive));
}

bool BinaryArchive::addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error) {
  BinaryArchiveObject* self = body(this);
  if (!self) return false;
  const ComputePipelineProperties* wanted = properties(descriptor);
  if (!wanted) return refuse(error, "the descriptor of the pipeline is nil");
  auto recipe = pipeline_recipe(*self->device, *wanted, PipelineOptionNone);
  if (recipe) recipe->request.archives = {self->archive};
  const auto pipeline = recipe ? compile_pipeline(*self->device, recipe->request) : metalloid::Error{recipe.error()};
  report(error, pipeline ? nullptr : binary_archive_error(BinaryArchiveErrorCompilationFailure, pipeline.error()));
  return static_cast<bool>(pipeline);
}

bool BinaryArchive::addFunction(const FunctionDescriptor*, const Library*, NS::Error** error) {
  return body(this) && refuse(error,
                              "a visible function is compiled together with the pipelines that link it; add those with "
                              "addComputePipelineFunctions");
}

bool BinaryArchive::addLibrary(const StitchedLibraryDescriptor*, NS::Error** error) {
  return body(this) && refuse(error, "stitched libraries are not supported");
}

bool BinaryArchive::addRenderPipelineFunctions(const RenderPipelineDescriptor*, NS::Error** error) {
  return body(this) && refuse_graphics(error);
}

bool BinaryArchive::addTileRenderPipelineFunctions(const TileRenderPipelineDescriptor*, NS::Error** error) {
  return body(this) && refuse_graphics(error);
}

bool BinaryArchive::addMeshRenderPipelineFunctions(const MeshRenderPipelineDescriptor*, NS::Error** error) {
  return body(this) && refuse_graphics(error);
}

bool BinaryArchive::serializeToURL(const NS::URL* url, NS::Error** error) {
  const BinaryArchiveObject* self = body(this);
  if (!self) return false;
  const char* path = url->fileSystemRepresentation();
  const auto written = path ? self->archive->write(path) : metalloid::Error{"the URL is nil or not that of a file"};
  report(error, written ? nullptr : binary_archive_error(BinaryArchiveErrorInternalError, written.error()));
  return static_cast<bool>(written);
}

Device* BinaryArchive::device() const {
  const BinaryArchiveObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* BinaryArchive::label() const {
  const BinaryArchiveObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void BinaryArchive::setLabel(const NS::String* label) {
  if (BinaryArchiveObject* self = body(this)) self->label = NS::TransferPtr(label->copy());
}

}  // namespace MTL
