// The object behind MTL::BinaryArchive: machine code of pipelines by the key that the device gives it, in memory and in
// a file.
//
//   magic      "MTLDARC1"
//   entries    their number, and for each the length of the key, the length of the code, the key, the code
//   checksum   XXH3-64 of all before it
//
// Everything is little-endian. Code is read from a file only if the checksum is right.
#pragma once

#include <Metal/MTLBinaryArchive.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <metalloid/result.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/pipeline.hpp"
#include "metal/device.hpp"

namespace metalloid::metal {

class Archive final : public device::CodeStore {
 public:
  static Result<std::shared_ptr<Archive>> read(const std::filesystem::path& path);
  Status write(const std::filesystem::path& path) const;

  std::optional<std::string> load(std::string_view key) override;
  void store(std::string_view key, std::string_view code) override;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> code_by_key_;
};

class BinaryArchiveObject final : public MTL::BinaryArchive {
 public:
  BinaryArchiveObject(DeviceObject* device, std::shared_ptr<Archive> archive)
      : device(device), archive(std::move(archive)) {}

  DeviceObject* const device;
  const std::shared_ptr<Archive> archive;
  NS::SharedPtr<NS::String> label;

  const char* className() const override { return "MTLBinaryArchive"; }
};

// The archives of a descriptor, to be searched but not added to.
std::vector<std::shared_ptr<device::CodeStore>> archives_to_search(const NS::Array* archives);

}  // namespace metalloid::metal
