// A peer is a program that runs kernels for a benchmark to compare with. It is a process of its own, so that what it
// needs (PoCL's Clang, OpenMP's threads) does not meet what the benchmark itself is made of.
//
// It says its name, then answers requests on standard input until that ends. A request is a line, some with bytes after
// it; an answer is "ok N" or "error N" and N bytes:
//
//   load N              a program's source, N bytes
//   buffer R N          a new buffer with these N bytes; with R = 1 it gets them back before every run
//   launch ...          adds a launch (launch.hpp) to those of a run
//   run N               runs all launches N times; the answer is the microseconds of each, as text
//   read I              the bytes of buffer I
//   clear               no program, no buffers, no launches
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "launch.hpp"

namespace metalloid::peer {

// What a peer does, whichever way it does it. Failures are exceptions.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual std::string name() const = 0;
  virtual void load(const std::string& source) = 0;
  virtual void add_buffer(std::span<const std::byte> contents) = 0;
  virtual void write_buffer(size_t number, std::span<const std::byte> contents) = 0;
  virtual void read_buffer(size_t number, std::span<std::byte> contents) = 0;
  virtual void add_launch(const Launch& launch) = 0;
  virtual void run() = 0;  // all launches, in order, to the end
  virtual void clear() = 0;
};

// Serves until the input ends, with the runner that `make` returns; if that fails, the reason is the only answer.
int serve(Runner& (*make)());

}  // namespace metalloid::peer
