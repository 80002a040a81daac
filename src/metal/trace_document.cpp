#include "metal/trace_document.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace metalloid::metal {

static Error failure(const std::filesystem::path& path, int code) {
  return Error{fmt::format("cannot write the trace '{}': {}", path.string(), std::strerror(code))};
}

Result<std::unique_ptr<TraceDocument>> TraceDocument::create(const std::filesystem::path& destination) {
  std::error_code ignored;
  if (std::filesystem::is_directory(destination, ignored)) return failure(destination, EISDIR);
  std::filesystem::path partial = destination;
  partial += fmt::format(".{}.partial", getpid());
  std::FILE* file = std::fopen(partial.c_str(), "wx");
  if (!file) return failure(destination, errno);
  std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", file);
  return std::unique_ptr<TraceDocument>(new TraceDocument(destination, std::move(partial), file));
}

TraceDocument::TraceDocument(std::filesystem::path destination, std::filesystem::path partial, std::FILE* file)
    : destination_(std::move(destination)), partial_(std::move(partial)), file_(file) {}

TraceDocument::~TraceDocument() {
  if (!file_) return;
  std::fclose(file_);
  std::remove(partial_.c_str());
}

void TraceDocument::append(std::string_view events) {
  std::lock_guard lock(mutex_);
  if (file_) std::fwrite(events.data(), 1, events.size(), file_);
}

// The list ends with an event of its own, since JSON wants no comma after the last one.
Status TraceDocument::finish() {
  std::lock_guard lock(mutex_);
  if (!file_) return success();
  std::fputs(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"host"}})"
             "\n]}\n",
             file_);
  const bool failed = std::ferror(file_) != 0;
  const bool unwritten = std::fclose(file_) != 0;
  file_ = nullptr;
  if (!failed && !unwritten && std::rename(partial_.c_str(), destination_.c_str()) == 0) return success();
  const int code = errno;
  std::remove(partial_.c_str());
  return failure(destination_, code);
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(uint64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

}  // namespace metalloid::metal
