#include "differ/child.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

namespace metalloid::differ {

namespace {

[[noreturn]] void work_and_end(const std::function<void(ChildReport&)>& work, int descriptor) {
  ChildReport report(descriptor);
  int status = 0;
  try {
    work(report);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}\n", exception.what());
    status = 1;
  }
  _exit(status);
}

void read_lines(int descriptor, const std::function<void(std::string_view)>& line) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.append(buffer, static_cast<size_t>(count));
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      line(std::string_view(text).substr(0, end));
      text.erase(0, end + 1);
    }
  }
}

}  // namespace

void ChildReport::line(std::string_view text) {
  std::string with_end(text);
  for (char& c : with_end)
    if (c == '\n') c = ' ';
  with_end += '\n';
  for (std::string_view rest = with_end; !rest.empty();) {
    const ssize_t count = write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno != EINTR) _exit(1);  // nobody listens any more
    rest.remove_prefix(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
}

// By the processor's time: where others use the processor too, a child does not work for longer, it only waits. One that
// waits for ever is ended as well.
void ChildReport::expect_a_line_within(unsigned seconds) {
  const itimerval work = {.it_interval = {}, .it_value = {.tv_sec = static_cast<time_t>(seconds), .tv_usec = 0}};
  setitimer(ITIMER_PROF, &work, nullptr);
  alarm(20 * seconds);
}

std::string run_in_child(const std::function<void(ChildReport&)>& work,
                         const std::function<void(std::string_view)>& line) {
  int ends[2];
  if (pipe(ends) != 0) return fmt::format("cannot be started: {}", std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work_and_end(work, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return fmt::format("cannot be started: {}", std::strerror(errno));
  }
  read_lines(ends[0], line);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return signal == SIGALRM || signal == SIGPROF ? "took too long" : strsignal(signal);
  }
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace metalloid::differ
