// The commands, one kind after the other: what each becomes on the stream.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/texture.hpp"
#include "nvidia/clock.hpp"
#include "nvidia/command_runner.hpp"

namespace metalloid::nvidia {

namespace {

constexpr uint32_t granularity = 16;  // of threadgroup memory

uint32_t groups_in(uint32_t threads, uint32_t per_group) {
  return static_cast<uint32_t>((uint64_t{threads} + per_group - 1) / per_group);
}

bool is_multiple(const device::Size& threads, const device::Size& of) {
  return threads.x % of.x == 0 && threads.y % of.y == 0 && threads.z % of.z == 0;
}

}  // namespace

// What dispatches of the list read that is not in memory of the GPU's.
void CommandRunner::upload_for(const device::CommandList& list) {
  bool is_any = false;
  for (const device::Command& command : list.commands) {
    const auto* dispatch = std::get_if<device::Dispatch>(&command);
    for (size_t i = 0; dispatch && i < dispatch->pipeline->slots.size(); ++i) {
      const device::Slot& slot = dispatch->pipeline->slots[i];
      const auto& [address, length] = dispatch->arguments[i];
      const bool is_read = slot.kind == ParameterKind::buffer && slot.used && address != 0 && length != 0;
      if (!is_read || memory_at(address) || current_->uploads.place_of(address)) continue;
      let_go();
      is_any = true;
      if (Status added = current_->uploads.add(upload_chunks_, address, length); !added) {
        look_for_faults();  // a GPU that has stopped gives no memory, either
        if (broken_by_ == cuda::Code::success) fail(device::FaultKind::out_of_memory, added.error());
        return;
      }
    }
  }
  if (is_any && hold()) check(current_->uploads.send(*use_, stream_->handle()), "take a command's data");
}

void CommandRunner::carry_out(const device::Dispatch& dispatch) {
  if (!works()) return;
  const auto& pipeline = static_cast<const Pipeline&>(*dispatch.pipeline);
  note_work(pipeline.name.c_str());

  const device::Size& threadgroup = dispatch.threads_per_threadgroup;
  device::Size threads = dispatch.threads_per_grid;
  if (dispatch.indirect_threadgroups != 0) {
    const auto groups = indirect_threadgroups(dispatch.indirect_threadgroups);
    if (!groups) return;
    threads = {groups->x * threadgroup.x, groups->y * threadgroup.y, groups->z * threadgroup.z};
  }
  uint32_t threadgroup_memory = 0;
  if (threads.count() == 0 || !place_arguments(dispatch, pipeline, threadgroup_memory)) return;
  const bool are_buffers_apart = pipeline.are_apart(values_, {dispatch.arguments, pipeline.slots.size()});
  launch(pipeline, threads, threadgroup, threadgroup_memory, are_buffers_apart);
}

std::optional<device::Size> CommandRunner::indirect_threadgroups(uint64_t address) {
  device::Size groups;
  send_launches();
  if (!works() || !is_usable(address, sizeof groups) || !hold()) return std::nullopt;
  const auto destination = reinterpret_cast<cuda::Address>(&groups);
  if (!check(gpu_->driver.copy(destination, address, sizeof groups, stream_->handle()),
             "read a number of threadgroups"))
    return std::nullopt;
  drain();
  if (!works()) return std::nullopt;
  return groups;
}

bool CommandRunner::place_arguments(const device::Dispatch& dispatch, const Pipeline& pipeline,
                                    uint32_t& threadgroup_memory) {
  values_.assign(pipeline.slots.size(), 0);
  for (size_t i = 0; i < pipeline.slots.size(); ++i) {
    const device::Slot& slot = pipeline.slots[i];
    const device::Argument& argument = dispatch.arguments[i];
    if (slot.kind == ParameterKind::threadgroup_memory) {
      values_[i] = threadgroup_memory;
      const uint64_t bytes = (argument.length + granularity - 1) / granularity * granularity;
      threadgroup_memory += static_cast<uint32_t>(bytes);
      continue;
    }
    if (!slot.used) continue;
    values_[i] = argument.value;
    if (slot.kind == ParameterKind::buffer && !make_visible(values_[i], argument.length)) return false;
    if (slot.kind == ParameterKind::texture && argument.value != 0) {
      const auto& texture = *reinterpret_cast<const device::TextureDescription*>(argument.value);
      const uint64_t images = std::max(texture.depth, texture.slices);
      if (!is_usable(texture.base, images * texture.level[0].image_bytes)) return false;
    }
  }
  return true;
}

// Data that is the host's alone was brought to the GPU before.
bool CommandRunner::make_visible(uint64_t& address, uint64_t length) {
  if (address == 0 || length == 0) return true;
  if (VisibleMemory* memory = memory_at(address)) return is_usable(*memory, address, length);
  if (const auto place = current_->uploads.place_of(address)) address = *place;
  return true;
}

bool CommandRunner::is_usable(uint64_t address, uint64_t length) {
  VisibleMemory* memory = memory_at(address);
  return !memory || is_usable(*memory, address, length);
}

// A command list keeps what it names, so what was found once stays.
VisibleMemory* CommandRunner::memory_at(uint64_t address) {
  const auto [known, is_new] = memories_.try_emplace(address, nullptr);
  if (is_new) known->second = gpu_->memories.find(address);
  return known->second;
}

// Whether what is there still is. Pages that may be on the host are fetched.
bool CommandRunner::is_usable(VisibleMemory& memory, uint64_t address, uint64_t length) {
  if (memory.is_lost) {
    fail(device::FaultKind::invalid_resource,
         fmt::format("the {} bytes at {:#x} were lost when an earlier command buffer failed: {}; make them anew",
                     memory.size, memory.address, gpu_->driver.describe(gpu_->last_cause())));
    return false;
  }
  if (memory.kind != VisibleMemory::Kind::managed || !memory.may_be_on_host.load(std::memory_order_relaxed))
    return true;
  if (!fetched_ranges_.insert(address).second) return true;
  if (!hold()) return false;
  const uint64_t bytes = std::min(length, memory.address + memory.size - address);
  const cuda::Code code = gpu_->driver.prefetch(address, bytes, gpu_->device, stream_->handle());
  if (breaks_context(code)) return require(code);
  fetched_.push_back(&memory);  // whether it was: a page that stays is fetched when it is touched
  return true;
}

void CommandRunner::launch(const Pipeline& pipeline, const device::Size& threads, const device::Size& threadgroup,
                           uint32_t threadgroup_memory, bool are_buffers_apart) {
  LaunchSize size{.threads_per_grid = threads,
                  .threads_per_threadgroup = threadgroup,
                  .threadgroups_per_grid = {groups_in(threads.x, threadgroup.x), groups_in(threads.y, threadgroup.y),
                                            groups_in(threads.z, threadgroup.z)}};
  device::Size grid = size.threadgroups_per_grid;
  const device::Size& most = gpu_->properties.max_threadgroups;
  if (grid.y > most.y || grid.z > most.z) {
    size.is_row = 1;
    const uint64_t count = grid.count();
    grid = {static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)), 1, 1};
  }
  if (grid.x > most.x)
    return fail(device::FaultKind::internal,
                fmt::format("'{}' was dispatched as {} x {} x {} threadgroups, more than {} can launch", pipeline.name,
                            size.threadgroups_per_grid.x, size.threadgroups_per_grid.y, size.threadgroups_per_grid.z,
                            gpu_->properties.name),
                pipeline.name);
  device::Size block = threadgroup;
  if (threadgroup.z > gpu_->properties.max_threadgroup_depth) {
    size.is_row_of_threads = 1;
    block = {static_cast<uint32_t>(threadgroup.count()), 1, 1};
  }
  if (!hold()) return;
  const bool is_even = !size.is_row && !size.is_row_of_threads && is_multiple(threads, threadgroup);
  const auto code = pipeline.code(*use_, {.is_even = is_even, .are_buffers_apart = are_buffers_apart});
  if (!code) return fail(device::FaultKind::internal, code.error(), pipeline.name);
  threadgroup_memory += code->dynamic_variables;
  if (!code->log_sites->empty()) {
    let_go();
    const char* label = encoder_label();
    const auto log = current_->logs.add(log_pages_, *code->log_sites, pipeline.name, label ? label : "");
    if (!log) return fail(device::FaultKind::out_of_memory, log.error(), pipeline.name);
    size.log = *log;
    if (!hold()) return;
  }

  launches_.add({.pipeline = &pipeline,
                 .code = *code,
                 .grid = grid,
                 .block = block,
                 .threadgroup_memory = threadgroup_memory,
                 .size = size,
                 .encoder_label = encoder_label()},
                values_);
  if (launches_.count() == Launches::most) place_mark();
}

void CommandRunner::send_launches() {
  if (launches_.count() == 0) return;
  if (!hold()) return launches_.clear();
  const bool is_first = !std::exchange(current_->has_begun, true);
  const auto refused = launches_.send(*use_, stream_->handle());
  if (is_first && current_->started_at != 0) current_->started_at = now();  // a GPU that waits begins within the call
  if (!refused) return;
  if (breaks_context(refused->code)) return static_cast<void>(require(refused->code));
  const Launch& launch = refused->launch;
  const device::Size& threadgroup = launch.size.threads_per_threadgroup;
  current_->outcome.faults.push_back(
      {kind_of(refused->code),
       fmt::format("'{}' cannot be launched with threadgroups of {} x {} x {} threads and {} bytes of dynamic "
                   "threadgroup memory: {}",
                   launch.pipeline->name, threadgroup.x, threadgroup.y, threadgroup.z, launch.threadgroup_memory,
                   gpu_->driver.describe(refused->code)),
       launch.pipeline->name, launch.encoder_label ? launch.encoder_label : ""});
}

cuda::Event CommandRunner::record_event() {
  send_launches();
  return hold() ? stream_->record_event(*use_) : nullptr;
}

void CommandRunner::carry_out(const device::Copy& copy) {
  if (!works() || copy.row_bytes == 0) return;
  // A copy is the only command that can read what timestamps were written to.
  const auto is_timestamp = [](const Step& step) { return step.kind == Step::Kind::timestamp; };
  if (std::ranges::any_of(current_->steps, is_timestamp)) drain();
  if (!works() || !is_usable(copy.source, copy.row_bytes) || !is_usable(copy.destination, copy.row_bytes) || !hold())
    return;
  const bool is_box =
      copy.rows > 1 && copy.source_row_stride >= copy.row_bytes && copy.destination_row_stride >= copy.row_bytes;
  const bool is_one_piece =
      is_box && copy.source_row_stride == copy.row_bytes && copy.destination_row_stride == copy.row_bytes;
  for (uint64_t image = 0; image < copy.images && works(); ++image) {
    const cuda::Address source = copy.source + image * copy.source_image_stride;
    const cuda::Address destination = copy.destination + image * copy.destination_image_stride;
    if (is_one_piece) {
      check(gpu_->driver.copy(destination, source, copy.row_bytes * copy.rows, stream_->handle()), "copy");
    } else if (is_box) {
      cuda::Copy2D box;
      box.source = source;
      box.source_pitch = copy.source_row_stride;
      box.destination = destination;
      box.destination_pitch = copy.destination_row_stride;
      box.row_bytes = copy.row_bytes;
      box.rows = copy.rows;
      check(gpu_->driver.copy_2d(&box, stream_->handle()), "copy");
    } else {
      for (uint64_t row = 0; row < copy.rows && works(); ++row)
        check(gpu_->driver.copy(destination + row * copy.destination_row_stride, source + row * copy.source_row_stride,
                                copy.row_bytes, stream_->handle()),
              "copy");
    }
    current_->has_begun = true;
  }
}

void CommandRunner::carry_out(const device::Fill& fill) {
  if (!works() || fill.bytes == 0 || !is_usable(fill.destination, fill.bytes) || !hold()) return;
  check(gpu_->driver.fill(fill.destination, fill.value, fill.bytes, stream_->handle()), "fill memory");
  current_->has_begun = true;
}

void CommandRunner::carry_out(const device::SignalEvent& signal) {
  if (!hold()) return;
  cuda::Event recorded = record_event();
  if (!place_mark()) return;
  if (recorded) gpu_->signals.add(*signal.event, signal.value, recorded);
  current_->steps.push_back({.mark = stream_->last_mark(),
                             .kind = Step::Kind::signal,
                             .event = signal.event,
                             .value = signal.value,
                             .recorded = recorded});
}

void CommandRunner::carry_out(const device::WaitEvent& wait) {
  if (wait.event->value() >= wait.value || !hold()) return;
  if (const auto value = gpu_->signals.wait(gpu_->driver, stream_->handle(), *wait.event, wait.value)) {
    // The signal is its queue's to give; that this one comes after it must be seen on the host, too.
    current_->steps.push_back(
        {.mark = stream_->last_mark() + 1, .kind = Step::Kind::await_signal, .event = wait.event, .value = wait.value});
    return;
  }
  drain();
  let_go();
  if (broken_by_ == cuda::Code::success) wait.event->wait(wait.value);
}

void CommandRunner::carry_out(const device::Timestamp& timestamp) {
  if (!hold()) return;
  current_->steps.push_back({.mark = stream_->last_mark() + 1,
                             .kind = Step::Kind::timestamp,
                             .destination = timestamp.destination,
                             .recorded = record_event()});
}

void CommandRunner::carry_out(const device::HostWork& host) {
  drain();
  if (broken_by_ != cuda::Code::success) return;
  let_go();
  host.work();
}

void CommandRunner::carry_out(const device::LibraryWork& work) {
  if (!works()) return;
  for (const device::Argument& buffer : work.buffers)
    if (!is_usable(buffer.value, buffer.length)) return;
  if (!hold()) return;
  note_work(work.name);
  current_->has_begun = true;
  if (const Status enqueued = work.call(&stream_->for_libraries()); !enqueued)
    fail(device::FaultKind::internal, enqueued.error());
}

void CommandRunner::carry_out(const device::Deferred& deferred) {
  if (!works()) return;
  drain();
  if (!works()) return;
  let_go();
  device::CommandList& list = current_->deferred.emplace_back();
  deferred.expand(list);
  upload_for(list);
  for (const device::Command& command : list.commands)
    if (broken_by_ == cuda::Code::success) carry_out_one(command);
}

void CommandRunner::carry_out(const device::BeginGroup& group) {
  current_->groups.push_back(group);
}

void CommandRunner::carry_out(const device::EndGroup&) {
  if (!current_->groups.empty()) current_->groups.pop_back();
}

}  // namespace metalloid::nvidia
