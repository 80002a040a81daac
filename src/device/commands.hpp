// What a committed command buffer holds: a list of plain commands that a device's queue carries out in order. Encoders
// of the API write it, devices read it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <variant>
#include <vector>

#include "device/event.hpp"
#include "device/pipeline.hpp"
#include "device/size.hpp"

namespace metalloid::device {

// What one slot of a pipeline is given.
struct Argument {
  uint64_t value = 0;   // buffer: its address; texture, sampler, function table: its handle; threadgroup memory: unused
  uint64_t length = 0;  // buffer: bytes from there to its end; threadgroup memory: its bytes
};

struct Dispatch {
  const Pipeline* pipeline = nullptr;
  const Argument* arguments = nullptr;  // one for each slot, kept in the command list's arena
  Size threads_per_grid;                // need not be a multiple of the threadgroup's size
  Size threads_per_threadgroup;
  uint64_t indirect_threadgroups = 0;  // if set: where three uint32 with the number of threadgroups will be
};

// Bytes copied as a box of rows: a range of a buffer is one row, a region of a texture has rows and images.
struct Copy {
  uint64_t source = 0, destination = 0;
  uint64_t row_bytes = 0, rows = 1, images = 1;
  uint64_t source_row_stride = 0, source_image_stride = 0;
  uint64_t destination_row_stride = 0, destination_image_stride = 0;
};

struct Fill {
  uint64_t destination = 0, bytes = 0;
  uint8_t value = 0;
};

struct SignalEvent {
  std::shared_ptr<Event> event;
  uint64_t value = 0;
};

struct WaitEvent {
  std::shared_ptr<Event> event;
  uint64_t value = 0;
};

// Nanoseconds of the device's clock, written to host memory when all before it is done.
struct Timestamp {
  uint64_t* destination = nullptr;
};

// A function of the host, run when all before it is done and before anything after it starts.
struct HostWork {
  std::function<void()> work;
};

// A queue's stream on a device that has such, as math libraries are given it.
struct LibraryStream {
  void* handle = nullptr;  // NVIDIA: a CUstream, whose context is current
  // What a library keeps for its work on this stream, such as handles and scratch memory. It goes with the stream, its
  // context current; if the context has gone before, it is left alone.
  std::shared_ptr<void> kept;
};

// Work of a math library of the device's (BLAS, neural networks), called at its turn. On a device with streams the
// function is given the queue's and puts its work there without waiting: that work comes after the commands before it
// and before the commands after it. Elsewhere it is given null, all before it is done, and so is its own work when it
// returns. If it fails or throws, that sentence is the submission's fault.
//
// While it runs it can neither allocate nor free memory of the device. When another submission's fault has cost the
// device its context, it is called again in a new one.
struct LibraryWork {
  const char* name = nullptr;     // for traces and errors, in the command list's arena
  std::vector<Argument> buffers;  // that it reads or writes: the device sees to it that they are there
  std::function<Status(LibraryStream* stream)> enqueue;

  Status call(LibraryStream* stream) const;  // enqueue(), with what it throws as an error
};

class CommandList;

// Commands that are known only when all before is done (indirect command buffers): the function appends them to a list
// that is carried out in this one's place.
struct Deferred {
  std::function<void(CommandList&)> expand;
};

// Names for traces and errors: commands up to the matching end belong to the encoder or debug group.
struct BeginGroup {
  const char* label = nullptr;    // in the command list's arena
  const char* encoder = nullptr;  // the kind of encoder, such as "blit encoder"; null for a debug group
};
struct EndGroup {};

using Command = std::variant<Dispatch, Copy, Fill, SignalEvent, WaitEvent, Timestamp, HostWork, LibraryWork, Deferred,
                             BeginGroup, EndGroup>;

// Memory that is handed out in order and given back all at once; chunks are reused through reset().
class Arena {
 public:
  void* allocate(size_t bytes, size_t alignment);
  const char* text(std::string_view text);
  void reset();

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, used_ = 0;
};

class CommandList {
 public:
  std::vector<Command> commands;
  Arena arena;
  std::vector<std::shared_ptr<const void>> kept;  // what must live until the commands are done
};

}  // namespace metalloid::device
