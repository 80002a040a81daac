#include "nvidia/kernel_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "device/log_format.hpp"

namespace metalloid::nvidia {

namespace {

constexpr uint64_t unreadable_address = 1;

// The slots of a record, which is `words` without its head: those of strings have their place in the record
// (compile.hpp) and get their address. A string that does not end in the record cannot be read.
std::vector<uint64_t> slots_of(const LogSite& site, std::span<const uint64_t> words) {
  std::vector<uint64_t> slots(words.begin(), words.end());
  for (const uint32_t number : device::string_slots(site.format.c_str())) {
    if (number >= slots.size() || slots[number] == 0) continue;
    const uint64_t place = slots[number] - 1;
    if (place <= number || place >= words.size()) {
      slots[number] = unreadable_address;
      continue;
    }
    slots.resize(std::min<size_t>(slots.size(), place));
    const auto* text = reinterpret_cast<const char*>(words.data() + place);
    const bool ends = std::memchr(text, 0, (words.size() - place) * sizeof(uint64_t)) != nullptr;
    slots[number] = ends ? reinterpret_cast<uint64_t>(text) : unreadable_address;
  }
  return slots;
}

}  // namespace

Result<uint64_t> KernelLogs::add(PinnedPages& pages, const std::vector<LogSite>& sites, std::string kernel,
                                 std::string encoder_label) {
  auto buffer = pages.take();
  if (!buffer) return Error{buffer.error()};
  const LogBuffer empty{.capacity = static_cast<uint32_t>((log_buffer_bytes - sizeof empty) / sizeof(uint64_t))};
  std::memcpy((*buffer)->host, &empty, sizeof empty);
  const uint64_t address = (*buffer)->address;
  launches_.push_back({*std::move(buffer), &sites, std::move(kernel), std::move(encoder_label)});
  return address;
}

// A kernel may have written over its own buffer: nothing in it is believed that would lead out of it.
void KernelLogs::deliver(const std::function<void(const device::Log&)>& log) const {
  for (const Launch& launch : launches_) {
    LogBuffer head;
    std::memcpy(&head, launch.buffer->host, sizeof head);
    const auto* first =
        reinterpret_cast<const uint64_t*>(static_cast<const std::byte*>(launch.buffer->host) + sizeof head);
    std::span<const uint64_t> records(first,
                                      std::min<size_t>(head.used, (log_buffer_bytes - sizeof head) / sizeof(uint64_t)));
    while (!records.empty()) {
      const auto site = static_cast<uint32_t>(records[0]);
      const uint64_t words = records[0] >> 32;
      if (site >= launch.sites->size() || words >= records.size()) break;
      const LogSite& call = (*launch.sites)[site];
      device::Log message;
      message.level = call.level;
      message.subsystem = call.subsystem;
      message.category = call.category;
      const std::vector<uint64_t> slots = slots_of(call, records.subspan(1, words));
      message.message =
          device::format_log(call.format.c_str(), slots.data(), static_cast<uint32_t>(slots.size() * sizeof(uint64_t)));
      message.kernel = launch.kernel;
      message.encoder_label = launch.encoder_label;
      log(message);
      records = records.subspan(words + 1);
    }
    if (head.lost == 0) continue;
    device::Log message;
    message.level = 4;
    message.message = fmt::format("{} more messages of this kernel did not fit into its log", head.lost);
    message.kernel = launch.kernel;
    message.encoder_label = launch.encoder_label;
    log(message);
  }
}

void KernelLogs::give_back(PinnedPages& pages) {
  for (Launch& launch : launches_) pages.give_back(std::move(launch.buffer));
  launches_.clear();
}

}  // namespace metalloid::nvidia
