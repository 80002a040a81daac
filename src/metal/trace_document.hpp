// A file of trace events (JSON) that grows while it is written and gets its name when it is whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <metalloid/result.hpp>
#include <mutex>
#include <string>
#include <string_view>

namespace metalloid::metal {

class TraceDocument {
 public:
  static Result<std::unique_ptr<TraceDocument>> create(const std::filesystem::path& destination);
  ~TraceDocument();  // of a document that was not finished nothing is left

  // Events, each followed by ",\n". May be called by any thread; those that come too late are dropped.
  void append(std::string_view events);

  Status finish();

 private:
  TraceDocument(std::filesystem::path destination, std::filesystem::path partial, std::FILE* file);

  const std::filesystem::path destination_, partial_;
  std::mutex mutex_;
  std::FILE* file_;  // null once it is finished
};

// A string as JSON has it, quotes included. Bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

// A time or a duration as trace events have it: microseconds.
std::string microseconds(uint64_t nanoseconds);

}  // namespace metalloid::metal
