#include <os/log.h>

#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>

struct os_log_s {
  const char* subsystem;
  const char* category;
  bool enabled;
};

os_log_s _os_log_default = {"", "", true};
os_log_s _os_log_disabled = {"", "", false};

namespace {

const char* name_of(os_log_type_t type) {
  switch (type) {
    case OS_LOG_TYPE_INFO:
      return "info: ";
    case OS_LOG_TYPE_DEBUG:
      return "debug: ";
    case OS_LOG_TYPE_ERROR:
      return "error: ";
    case OS_LOG_TYPE_FAULT:
      return "fault: ";
    default:
      return "";
  }
}

// As printf wants it: without what stands in braces after a percent sign.
std::string plain_format(const char* format) {
  std::string plain;
  for (const char* at = format; *at; ++at) {
    plain += *at;
    if (*at != '%' || !at[1]) continue;
    if (at[1] == '{')
      while (at[1] && *at != '}') ++at;
    else if (at[1] == '%')
      plain += *++at;
  }
  return plain;
}

std::string formatted(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return format;
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  return text;
}

}  // namespace

os_log_t os_log_create(const char* subsystem, const char* category) {
  static auto& mutex = *new std::mutex;
  static auto& logs = *new std::map<std::pair<std::string, std::string>, os_log_s>;
  const std::lock_guard lock(mutex);
  const auto [entry, created] = logs.try_emplace({subsystem, category});
  if (created) entry->second = {entry->first.first.c_str(), entry->first.second.c_str(), true};
  return &entry->second;
}

bool os_log_type_enabled(os_log_t log, os_log_type_t) {
  return log && log->enabled;
}

void os_log_with_type(os_log_t log, os_log_type_t type, const char* format, ...) {
  if (!os_log_type_enabled(log, type)) return;
  va_list arguments;
  va_start(arguments, format);
  const std::string message = formatted(plain_format(format).c_str(), arguments);
  va_end(arguments);
  const bool named = *log->subsystem || *log->category;
  const std::string origin = named ? std::string("[") + log->subsystem + ":" + log->category + "] " : "";
  std::fprintf(stderr, "%s%s%s\n", origin.c_str(), name_of(type), message.c_str());
}
