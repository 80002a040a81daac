#include "serve.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace metalloid::peer {

namespace {

class Server {
 public:
  explicit Server(Runner& runner) : runner_(runner) {}

  // The answer to a request.
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string request;
    words >> request;
    size_t number = 0, bytes = 0;
    if (request == "load") {
      words >> bytes;
      runner_.load(read_input(bytes));
    } else if (request == "buffer") {
      words >> number >> bytes;
      add_buffer(read_input(bytes), number == 1);
    } else if (request == "launch") {
      std::string launch;
      std::getline(words, launch);
      runner_.add_launch(decode(launch));
    } else if (request == "run") {
      words >> number;
      return run(number);
    } else if (request == "read") {
      words >> number;
      return read_buffer(number);
    } else if (request == "clear") {
      runner_.clear();
      buffers_.clear();
    } else {
      throw std::runtime_error("unknown request: " + line);
    }
    return "";
  }

 private:
  struct Buffer {
    size_t size;
    std::string restored;  // empty: it is left as it is
  };

  static std::string read_input(size_t bytes) {
    std::string data(bytes, '\0');
    if (!std::cin.read(data.data(), static_cast<std::streamsize>(bytes)))
      throw std::runtime_error("the request is cut short");
    return data;
  }

  void add_buffer(std::string contents, bool restored) {
    runner_.add_buffer(std::as_bytes(std::span(contents)));
    buffers_.push_back({contents.size(), restored ? std::move(contents) : ""});
  }

  std::string run(size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i) {
      for (size_t j = 0; j < buffers_.size(); ++j)
        if (!buffers_[j].restored.empty()) runner_.write_buffer(j, std::as_bytes(std::span(buffers_[j].restored)));
      const auto start = std::chrono::steady_clock::now();
      runner_.run();
      const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
      all += fmt::format("{} ", time.count());
    }
    return all;
  }

  std::string read_buffer(size_t number) {
    std::string bytes(buffers_.at(number).size, '\0');
    runner_.read_buffer(number, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }

  Runner& runner_;
  std::vector<Buffer> buffers_;
};

void send(std::FILE* out, const char* kind, const std::string& text) {
  fmt::print(out, "{} {}\n", kind, text.size());
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace

int serve(Runner& (*make)()) {
  std::ios::sync_with_stdio(false);
  // What others in this process print on standard output is not an answer.
  std::FILE* out = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Runner* runner = nullptr;
  try {
    runner = &make();
  } catch (const std::exception& exception) {
    send(out, "error", exception.what());
    return 1;
  }
  send(out, "ok", runner->name());
  Server server(*runner);
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      send(out, "ok", server.answer(line));
    } catch (const std::exception& exception) {
      send(out, "error", exception.what());
    }
  }
  return 0;
}

}  // namespace metalloid::peer
