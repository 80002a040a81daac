#include "bench_train_peers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "bench_train_floor.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

constexpr const char* pytorch_script = R"(
import sys, time
import torch
from torch import nn
network = nn.Sequential(
    nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(),
    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10))
device = sys.stdin.readline().strip()
if device == 'cuda' and not torch.cuda.is_available():
    sys.exit('this PyTorch has no CUDA')
network.to(device)
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
entropy = nn.CrossEntropyLoss()
print(torch.__version__, flush=True)
for line in sys.stdin:
    batch, steps = map(int, line.split())
    images, labels = torch.rand(batch, 1, 28, 28).to(device), torch.randint(0, 10, (batch,)).to(device)
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = entropy(network(images), labels)
        loss.backward()
        optimizer.step()
    loss.item()
    print((time.perf_counter() - start) / steps, flush=True)
)";

std::string python() {
  const char* named = std::getenv("METALLOID_PYTHON");
  return named && *named ? named : "python3";
}

double ask_for_time(LineProcess& process, size_t batch, size_t steps) {
  const std::string answer = process.ask(fmt::format("{} {}", batch, steps));
  return answer.empty() ? -1 : std::strtod(answer.c_str(), nullptr);
}

}  // namespace

template <class Run>
void LineProcess::start(const Run& run) {
  signal(SIGPIPE, SIG_IGN);  // a process that has ended is noticed when its answer is missing
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
    throw Failure{exit_file_error, "there are no pipes left"};
  process_ = fork();
  if (process_ == 0) {
    ::close(requests[1]);
    ::close(answers[0]);
    _exit(run(requests[0], answers[1]));
  }
  ::close(requests[0]);
  ::close(answers[1]);
  to_ = fdopen(requests[1], "w");
  from_ = fdopen(answers[0], "r");
}

LineProcess::LineProcess(int (*serve)(std::FILE* requests, std::FILE* answers)) {
  start([serve](int requests, int answers) { return serve(fdopen(requests, "r"), fdopen(answers, "w")); });
}

LineProcess::LineProcess(const std::string& program, const std::string& argument, const std::string& second) {
  start([&](int requests, int answers) {
    dup2(requests, STDIN_FILENO);
    dup2(answers, STDOUT_FILENO);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    execlp(program.c_str(), program.c_str(), argument.c_str(), second.c_str(), nullptr);
    return 127;
  });
}

LineProcess::~LineProcess() {
  if (to_) std::fclose(to_);
  if (from_) std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string LineProcess::ask(const std::string& line) {
  fmt::print(to_, "{}\n", line);
  std::fflush(to_);
  char answer[256] = "";
  if (!std::fgets(answer, sizeof answer, from_)) return "";
  const std::string words = answer;
  return words.substr(0, words.find('\n'));
}

PyTorch::PyTorch(bool on_gpu)
    : process_(python(), "-c", pytorch_script), version_(process_.ask(on_gpu ? "cuda" : "cpu")) {}

double PyTorch::step_time(size_t batch, size_t steps) {
  return version_.empty() ? -1 : ask_for_time(process_, batch, steps);
}

RawLibrary::RawLibrary() : process_(serve_floor) {}

double RawLibrary::step_time(size_t batch, size_t steps) {
  return ask_for_time(process_, batch, steps);
}

}  // namespace metalloid::tool
