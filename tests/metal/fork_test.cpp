// A child of fork() has its parent's objects without the threads behind them. It must be able to end, and must not wait
// for what will never come.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>

#include "command_program.hpp"

namespace {

class Fork : public CommandProgram {
 protected:
  // How the child ended, as waitpid() tells it. One that hangs is ended by SIGALRM. The parent's threads have gone to
  // sleep before: it is in the child that nobody can wake them.
  static int status_of_child(const std::function<void()>& work) {
    constexpr unsigned patience = 20;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      work();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
};

TEST_F(Fork, AChildEndsWhateverThreadsItsParentHas) {
  finish(queue->commandBuffer());
  std::promise<void> compiled;
  device->newLibrary(string("kernel void k() {}"), nullptr, [&](MTL::Library*, NS::Error*) { compiled.set_value(); });
  compiled.get_future().wait();
  const int status = status_of_child([] { std::exit(0); });
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
}

TEST_F(Fork, AChildReleasesTheQueuesOfItsParent) {
  auto other = NS::TransferPtr(device->newCommandQueue());
  {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    finish(other->commandBuffer());
  }
  EXPECT_EQ(status_of_child([&] { other.reset(); }), 0);
  finish(other->commandBuffer());
}

TEST_F(Fork, ACommandBufferOfTheParentsQueueFailsInTheChild) {
  finish(queue->commandBuffer());
  const int status = status_of_child([&] {
    bool told = false;
    MTL::CommandBuffer* commands = queue->commandBuffer();
    commands->enqueue();
    commands->addCompletedHandler([&](MTL::CommandBuffer*) { told = true; });
    commands->commit();
    commands->waitUntilCompleted();
    const bool says_why = text(commands->error()).find("made before fork()") != std::string::npos;
    _exit(told && says_why ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  finish(queue->commandBuffer());
}

}  // namespace
