// Messages that the kernels of a submission write (os_log): each launch of a kernel that logs has a buffer of its own,
// read when the submission is done, or has failed.
#pragma once

#include <functional>
#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "nvidia/compile.hpp"
#include "nvidia/pinned_pages.hpp"

namespace metalloid::nvidia {

constexpr size_t log_buffer_bytes = 1 << 20;

class KernelLogs {
 public:
  // The address of a new buffer. The sites live until the logs are given back. Allocates memory, which a thread that
  // uses the GPU's context cannot.
  Result<uint64_t> add(PinnedPages& pages, const std::vector<LogSite>& sites, std::string kernel,
                       std::string encoder_label);

  // In the order of launches; of one launch, in the order that its threads wrote in.
  void deliver(const std::function<void(const device::Log&)>& log) const;

  void give_back(PinnedPages& pages);

 private:
  struct Launch {
    std::unique_ptr<device::Memory> buffer;
    const std::vector<LogSite>* sites = nullptr;
    std::string kernel, encoder_label;
  };
  std::vector<Launch> launches_;
};

}  // namespace metalloid::nvidia
