#include "bench_peer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace metalloid::tool {

Peer::Peer(const std::string& program) : program_(program) {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
  signal(SIGPIPE, SIG_IGN);  // a peer that has died is noticed when its answer is missing
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
    why_not_ = "there are no pipes left";
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, requests[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
  char* const arguments[] = {program_.data(), nullptr};
  const int error = posix_spawn(&process_, path.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(requests[0]);
  close(answers[1]);
  to_ = fdopen(requests[1], "w");
  from_ = fdopen(answers[0], "r");
  if (error != 0) {
    process_ = -1;
    why_not_ = fmt::format("there is no {} beside metalloid", program);
    return;
  }
  try {
    name_ = receive();
  } catch (const std::runtime_error& failure) {
    why_not_ = failure.what();
  }
}

Peer::~Peer() {
  if (to_) std::fclose(to_);
  if (from_) std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void Peer::load(std::string_view source) {
  ask(fmt::format("load {}", source.size()), source);
}

void Peer::add_buffer(std::span<const std::byte> contents, bool restored) {
  ask(fmt::format("buffer {} {}", restored ? 1 : 0, contents.size()),
      {reinterpret_cast<const char*>(contents.data()), contents.size()});
}

void Peer::add_launch(const peer::Launch& launch) {
  ask("launch " + encode(launch));
}

std::vector<double> Peer::run(size_t times) {
  std::istringstream answer(ask(fmt::format("run {}", times)));
  std::vector<double> microseconds;
  for (double value; answer >> value;) microseconds.push_back(value);
  if (microseconds.size() != times) throw std::runtime_error(program_ + " did not run as often as asked");
  return microseconds;
}

std::string Peer::read_buffer(size_t number) {
  return ask(fmt::format("read {}", number));
}

void Peer::clear() {
  ask("clear");
}

std::string Peer::ask(const std::string& line, std::string_view bytes) {
  std::fwrite(line.data(), 1, line.size(), to_);
  std::fputc('\n', to_);
  std::fwrite(bytes.data(), 1, bytes.size(), to_);
  std::fflush(to_);
  return receive();
}

std::string Peer::receive() {
  char kind[8] = "";
  size_t size = 0;
  if (std::fscanf(from_, "%7s %zu", kind, &size) != 2 || std::fgetc(from_) != '\n')
    throw std::runtime_error(program_ + " ended without an answer");
  std::string text(size, '\0');
  if (std::fread(text.data(), 1, size, from_) != size) throw std::runtime_error(program_ + " ended within an answer");
  if (std::string_view(kind) != "ok") throw std::runtime_error(text);
  return text;
}

}  // namespace metalloid::tool
