// Runs a fuzz target without libFuzzer, for a bounded and repeatable run in the tests: each iteration mutates one of
// the seed files in a way that depends on its number only. A crash or a hang prints that number; --only runs it again,
// and --save keeps its input.
//
//   library_fuzz [--iterations N] [--seconds N] [--only ITERATION [--save FILE]] SEED_FILE_OR_FOLDER...
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Input = std::vector<uint8_t>;

constexpr unsigned longest_iteration = 30;  // seconds; more is a hang
constexpr size_t largest_input = 1 << 20;

volatile uint64_t current_iteration = 0;

void print_iteration() {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "\nfailed in iteration %llu; repeat it with --only\n",
                                   static_cast<unsigned long long>(current_iteration));
  (void)!::write(STDERR_FILENO, text, static_cast<size_t>(length));
}

void on_signal(int signal) {
  print_iteration();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void watch_for_failure() {
  ::signal(SIGALRM, on_signal);
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(print_iteration);
    return;
  }
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(signal, on_signal);
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& seeds, uint64_t iteration) : seeds_(seeds), random_(iteration) {}

  Input mutate() {
    Input input = any_seed();
    for (size_t changes = 1 + below(8); changes > 0; --changes) change(input);
    if (input.size() > largest_input) input.resize(largest_input);
    return input;
  }

 private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  const Input& any_seed() { return seeds_[below(seeds_.size())]; }

  void change(Input& input) {
    const size_t at = below(input.size() + 1);
    const size_t length = std::min(1 + below(1 + below(64)), input.size() - at);
    const auto place = input.begin() + static_cast<ptrdiff_t>(at);
    switch (below(7)) {
      case 0:  // one bit
        if (length > 0) *place ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:  // a byte, often one that is a limit of something
        if (length > 0) {
          constexpr uint8_t limits[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '(', '}', '<', '"', '\n'};
          *place = below(2) ? limits[below(std::size(limits))] : static_cast<uint8_t>(random_());
        }
        break;
      case 2:  // a run of one byte
        std::fill_n(place, length, static_cast<uint8_t>(random_()));
        break;
      case 3:
        input.erase(place, place + static_cast<ptrdiff_t>(length));
        break;
      case 4: {  // a piece again
        const Input piece(place, place + static_cast<ptrdiff_t>(length));
        const size_t copies = 1 + below(4);
        for (size_t i = 0; i < copies; ++i)
          input.insert(input.begin() + static_cast<ptrdiff_t>(at), piece.begin(), piece.end());
        break;
      }
      case 5: {  // a piece of some seed
        const Input& other = any_seed();
        const size_t from = below(other.size() + 1);
        const size_t taken = std::min(1 + below(256), other.size() - from);
        const auto first = other.begin() + static_cast<ptrdiff_t>(from);
        input.insert(place, first, first + static_cast<ptrdiff_t>(taken));
        break;
      }
      case 6:
        if (below(8) == 0) input.resize(at);
        break;
    }
  }

  const std::vector<Input>& seeds_;
  std::mt19937_64 random_;
};

void add_seeds(std::vector<Input>& seeds, const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t iterations = 1000;
  double seconds = 1e9;
  std::optional<uint64_t> only;
  std::string save;
  std::vector<Input> seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--iterations" && has_value)
      iterations = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--seconds" && has_value)
      seconds = std::strtod(argv[++i], nullptr);
    else if (argument == "--only" && has_value)
      only = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--save" && has_value)
      save = argv[++i];
    else
      add_seeds(seeds, argument);
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds; name files or folders that hold some\n", argv[0]);
    return 2;
  }

  watch_for_failure();
  const auto run = [&](uint64_t iteration) {
    const Input input = iteration < seeds.size() ? seeds[iteration] : Mutator(seeds, iteration).mutate();
    if (!save.empty())
      std::ofstream(save, std::ios::binary)
          .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    current_iteration = iteration;
    ::alarm(longest_iteration);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ::alarm(0);
  };
  if (only) {
    run(*only);
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  uint64_t done = 0;
  while (done < iterations && elapsed() < seconds) run(done++);
  std::printf("%llu iterations over %zu seeds in %.1f s\n", static_cast<unsigned long long>(done), seeds.size(),
              elapsed());
}
