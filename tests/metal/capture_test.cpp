// Captures: what the environment and the descriptor allow, and that the trace which comes out is one: JSON, properly
// nested, with the names that the program gave.
#include <unistd.h>

#include <Metal/Metal.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "metal_program.hpp"

namespace {

using nlohmann::json;

struct Slice {
  std::string name, category;
  std::vector<std::string> path;  // the names of the slices around it
  double start = 0, end = 0;
  json arguments;
};

// The slices of all tracks of devices, in the order of their beginnings; fails if they are not properly nested.
std::vector<Slice> slices_of(const json& trace) {
  std::vector<Slice> slices;
  std::map<std::pair<int, int>, std::vector<size_t>> open;
  std::map<std::pair<int, int>, double> now;
  for (const json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase != "B" && phase != "E" && phase != "X") continue;
    const std::pair<int, int> track(event.at("pid"), event.at("tid"));
    std::vector<size_t>& stack = open[track];
    const double time = event.at("ts");
    EXPECT_GE(time, now[track]) << event;
    now[track] = time;
    if (phase == "E") {
      EXPECT_FALSE(stack.empty()) << event;
      if (stack.empty()) continue;
      slices[stack.back()].end = time;
      slices[stack.back()].arguments.update(event.at("args"));
      stack.pop_back();
      continue;
    }
    Slice slice{event.at("name"), event.at("cat"), {}, time, time, event.at("args")};
    for (const size_t around : stack) slice.path.push_back(slices[around].name);
    if (phase == "B") stack.push_back(slices.size());
    if (phase == "X") {
      EXPECT_GE(event.at("dur").get<double>(), 0.0) << event;
      now[track] = slice.end = time + event.at("dur").get<double>();
    }
    slices.push_back(std::move(slice));
  }
  for (const auto& [track, stack] : open) EXPECT_TRUE(stack.empty()) << "a slice does not end";
  return slices;
}

std::vector<std::string> names_of(const std::vector<Slice>& slices, const std::string& category) {
  std::vector<std::string> names;
  for (const Slice& slice : slices)
    if (slice.category == category) names.push_back(slice.name);
  return names;
}

std::vector<std::string> names_of_tracks(const json& trace, const std::string& kind) {
  std::vector<std::string> names;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("ph") == "M" && event.at("name") == kind) names.push_back(event.at("args").at("name"));
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class CaptureProgram : public MetalProgram {
 protected:
  using Strings = std::vector<std::string>;

  MTL::CaptureManager* const manager = MTL::CaptureManager::sharedCaptureManager();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("metalloid_capture_" + std::to_string(getpid()));
  const std::filesystem::path path = folder / "trace.json";

  void SetUp() override {
    std::filesystem::create_directories(folder);
    setenv("MTL_CAPTURE_ENABLED", "1", 1);
  }

  void TearDown() override {
    manager->stopCapture();
    unsetenv("MTL_CAPTURE_ENABLED");
    std::filesystem::remove_all(folder);
  }

  NS::SharedPtr<MTL::CaptureDescriptor> descriptor(NS::Object* object) const {
    auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
    descriptor->setCaptureObject(object);
    descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
    descriptor->setOutputURL(NS::URL::fileURLWithPath(string(path.string())));
    return descriptor;
  }

  void start(NS::Object* object) {
    NS::Error* error = nullptr;
    EXPECT_TRUE(manager->startCapture(descriptor(object).get(), &error)) << text(error);
  }

  MTL::CaptureError refusal(const NS::SharedPtr<MTL::CaptureDescriptor>& descriptor, std::string* reason = nullptr) {
    NS::Error* error = nullptr;
    EXPECT_FALSE(manager->startCapture(descriptor.get(), &error));
    EXPECT_EQ(text(error->domain()), "MTLCaptureErrorDomain");
    if (reason) *reason = text(error);
    return static_cast<MTL::CaptureError>(error->code());
  }

  json trace() const {
    std::ifstream file(path);
    EXPECT_TRUE(file) << "there is no " << path;
    return json::parse(file);
  }

  NS::SharedPtr<MTL::CommandQueue> queue(const std::string& label) {
    auto queue = NS::TransferPtr(device->newCommandQueue());
    queue->setLabel(string(label));
    return queue;
  }

  // A dispatch of a hundred threads.
  MTL::CommandBuffer* dispatch(const NS::SharedPtr<MTL::CommandQueue>& queue, const std::string& label) {
    if (!increment) increment = pipeline(function(library(source), "increment"));
    MTL::CommandBuffer* commands = queue->commandBuffer();
    commands->setLabel(string(label));
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setLabel(string("the encoder"));
    encoder->setComputePipelineState(increment.get());
    encoder->setBuffer(numbers.get(), 0, 0);
    encoder->setThreadgroupMemoryLength(256, 0);
    encoder->dispatchThreads(MTL::Size(100, 1, 1), MTL::Size(32, 1, 1));
    encoder->endEncoding();
    return commands;
  }

  // Runs a test in a process of its own, traced to `path` from its start to its exit.
  void run_traced(const std::string& test) const {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command =
        "METALLOID_TRACE='" + path.string() + "' '" + program + "' --gtest_filter=CaptureProgram." + test;
    ASSERT_EQ(std::system((command + " > /dev/null").c_str()), 0);
  }

  static void run(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
  }

  const std::string source = R"(
    kernel void increment(device int* numbers, threadgroup int* scratch, uint i [[thread_position_in_grid]],
                          uint lane [[thread_index_in_threadgroup]]) {
      scratch[lane] = numbers[i];
      numbers[i] = scratch[lane] + 1;
    })";
  const NS::SharedPtr<MTL::Buffer> numbers = NS::TransferPtr(device->newBuffer(400, MTL::ResourceStorageModeShared));
  NS::SharedPtr<MTL::ComputePipelineState> increment;
};

TEST_F(CaptureProgram, IsRefusedUnlessTheEnvironmentAllowsIt) {
  unsetenv("MTL_CAPTURE_ENABLED");
  std::string reason;
  EXPECT_EQ(refusal(descriptor(device.get()), &reason), MTL::CaptureErrorNotSupported);
  EXPECT_NE(reason.find("MTL_CAPTURE_ENABLED=1"), std::string::npos) << reason;
  EXPECT_FALSE(manager->supportsDestination(MTL::CaptureDestinationGPUTraceDocument));
  EXPECT_FALSE(manager->isCapturing());

  setenv("METAL_CAPTURE_ENABLED", "1", 1);
  EXPECT_TRUE(manager->supportsDestination(MTL::CaptureDestinationGPUTraceDocument));
  start(device.get());
  unsetenv("METAL_CAPTURE_ENABLED");
}

TEST_F(CaptureProgram, HasNoDeveloperToolsToGoTo) {
  const auto for_xcode = descriptor(device.get());
  for_xcode->setDestination(MTL::CaptureDestinationDeveloperTools);
  EXPECT_EQ(refusal(for_xcode), MTL::CaptureErrorNotSupported);
  EXPECT_FALSE(manager->supportsDestination(MTL::CaptureDestinationDeveloperTools));
}

TEST_F(CaptureProgram, IsRefusedForADescriptorThatLacksSomething) {
  EXPECT_EQ(refusal(NS::SharedPtr<MTL::CaptureDescriptor>()), MTL::CaptureErrorInvalidDescriptor);
  EXPECT_EQ(refusal(descriptor(nullptr)), MTL::CaptureErrorInvalidDescriptor);
  EXPECT_EQ(refusal(descriptor(string("a string"))), MTL::CaptureErrorInvalidDescriptor);
  auto nowhere = descriptor(device.get());
  nowhere->setOutputURL(nullptr);
  EXPECT_EQ(refusal(nowhere), MTL::CaptureErrorInvalidDescriptor);
  nowhere->setOutputURL(NS::URL::fileURLWithPath(string((folder / "absent" / "trace.json").string())));
  EXPECT_EQ(refusal(nowhere), MTL::CaptureErrorInvalidDescriptor);
  nowhere->setOutputURL(NS::URL::fileURLWithPath(string(folder.string())));
  EXPECT_EQ(refusal(nowhere), MTL::CaptureErrorInvalidDescriptor);
  EXPECT_FALSE(manager->isCapturing());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(CaptureProgram, RunsOneAtATime) {
  start(device.get());
  EXPECT_TRUE(manager->isCapturing());
  EXPECT_EQ(refusal(descriptor(device.get())), MTL::CaptureErrorAlreadyCapturing);
  manager->stopCapture();
  EXPECT_FALSE(manager->isCapturing());
  EXPECT_TRUE(slices_of(trace()).empty());
  start(device.get());
}

TEST_F(CaptureProgram, NestsDispatchesInEncodersInCommandBuffersOnAQueuesTrack) {
  const auto work = queue("the queue");
  start(device.get());
  run(dispatch(work, "the commands"));
  manager->stopCapture();

  const json written = trace();
  EXPECT_TRUE(contains(names_of_tracks(written, "process_name"), text(device->name())));
  EXPECT_TRUE(contains(names_of_tracks(written, "thread_name"), "the queue"));
  const std::vector<Slice> slices = slices_of(written);
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[0].name, "the commands");
  EXPECT_EQ(slices[0].arguments.at("number"), 1);
  EXPECT_EQ(slices[1].name, "the encoder");
  EXPECT_EQ(slices[1].category, "compute encoder");
  EXPECT_EQ(slices[1].path, Strings({"the commands"}));
  EXPECT_EQ(slices[2].name, "increment");
  EXPECT_EQ(slices[2].path, Strings({"the commands", "the encoder"}));
  EXPECT_EQ(slices[2].arguments.at("threads_per_grid"), json({100, 1, 1}));
  EXPECT_EQ(slices[2].arguments.at("threads_per_threadgroup"), json({32, 1, 1}));
  EXPECT_EQ(slices[2].arguments.at("threadgroup_memory"), 256);
  EXPECT_EQ(slices[2].arguments.at("bindings").size(), 2u);
  for (size_t i = 1; i < slices.size(); ++i) {
    EXPECT_LE(slices[i - 1].start, slices[i].start);
    EXPECT_GE(slices[i - 1].end, slices[i].end);
  }
  EXPECT_GT(slices[2].end, slices[2].start);
}

TEST_F(CaptureProgram, ShowsCopiesFillsAndEvents) {
  const auto work = queue("the queue");
  const auto event = NS::TransferPtr(device->newSharedEvent());
  start(work.get());
  MTL::CommandBuffer* commands = work->commandBuffer();
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  encoder->pushDebugGroup(string("a group"));
  encoder->fillBuffer(numbers.get(), NS::Range::Make(0, 200), 7);
  encoder->popDebugGroup();
  encoder->copyFromBuffer(numbers.get(), 0, numbers.get(), 200, 200);
  encoder->endEncoding();
  commands->encodeSignalEvent(event.get(), 5);
  commands->encodeWait(event.get(), 5);
  run(commands);
  manager->stopCapture();

  const std::vector<Slice> slices = slices_of(trace());
  std::map<std::string, Slice> by_name;
  for (const Slice& slice : slices) by_name[slice.name] = slice;
  EXPECT_EQ(by_name.at("fill").arguments.at("bytes"), 200);
  EXPECT_EQ(by_name.at("fill").path.back(), "a group");
  EXPECT_EQ(by_name.at("a group").category, "debug group");
  EXPECT_EQ(by_name.at("copy").arguments.at("bytes"), 200);
  EXPECT_EQ(by_name.at("copy").path, Strings({"command buffer 1", "blit encoder"}));
  EXPECT_EQ(by_name.at("signal event").arguments.at("value"), 5);
  EXPECT_EQ(by_name.at("wait for event").path, Strings({"command buffer 1"}));
}

TEST_F(CaptureProgram, OfAQueueLeavesOtherQueuesOut) {
  const auto one = queue("one"), other = queue("other");
  run(dispatch(one, "too early"));
  start(one.get());
  run(dispatch(one, "mine"));
  run(dispatch(other, "not mine"));
  manager->stopCapture();
  run(dispatch(one, "too late"));
  EXPECT_EQ(names_of(slices_of(trace()), "command buffer"), Strings({"mine"}));
}

TEST_F(CaptureProgram, OfAScopeRunsFromItsBeginToItsEnd) {
  const auto work = queue("the queue");
  const auto scope = NS::TransferPtr(manager->newCaptureScope(work.get()));
  scope->setLabel(string("frame"));
  EXPECT_EQ(text(scope->label()), "frame");
  EXPECT_EQ(scope->commandQueue(), work.get());
  EXPECT_EQ(scope->device(), device.get());
  manager->setDefaultCaptureScope(scope.get());
  EXPECT_EQ(manager->defaultCaptureScope(), scope.get());
  manager->setDefaultCaptureScope(nullptr);

  start(scope.get());
  run(dispatch(work, "before"));
  scope->beginScope();
  run(dispatch(work, "inside"));
  EXPECT_TRUE(manager->isCapturing());
  scope->endScope();
  EXPECT_FALSE(manager->isCapturing());
  run(dispatch(work, "after"));
  EXPECT_EQ(names_of(slices_of(trace()), "command buffer"), Strings({"inside"}));
}

TEST_F(CaptureProgram, HasTheCommandBuffersThatRunWhenItStops) {
  const auto work = queue("the queue");
  start(device.get());
  for (int i = 0; i < 20; ++i) dispatch(work, "commands " + std::to_string(i))->commit();
  manager->stopCapture();
  EXPECT_EQ(names_of(slices_of(trace()), "dispatch").size(), 20u);
}

TEST_F(CaptureProgram, CanBeStoppedByAHandler) {
  const auto work = queue("the queue");
  start(device.get());
  MTL::CommandBuffer* commands = dispatch(work, "the last");
  commands->addCompletedHandler([this](MTL::CommandBuffer*) { manager->stopCapture(); });
  run(commands);
  EXPECT_EQ(names_of(slices_of(trace()), "command buffer"), Strings({"the last"}));
}

TEST_F(CaptureProgram, SaysWhyACommandBufferFailed) {
  const auto work = queue("the queue");
  start(device.get());
  MTL::CommandBuffer* commands = work->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));  // without a pipeline
  encoder->endEncoding();
  run(commands);
  manager->stopCapture();
  ASSERT_TRUE(commands->error());
  const std::vector<Slice> slices = slices_of(trace());
  ASSERT_EQ(names_of(slices, "command buffer").size(), 1u);
  EXPECT_EQ(slices[0].arguments.at("error"), text(commands->error()));
}

TEST_F(CaptureProgram, KeepsLabelsAsTheyAre) {
  const std::string label = "\"quoted\" \\ back\nline é 計算";
  const auto work = queue(label);
  start(device.get());
  run(dispatch(work, label));
  manager->stopCapture();
  const json written = trace();
  EXPECT_EQ(names_of(slices_of(written), "command buffer"), Strings({label}));
  EXPECT_TRUE(contains(names_of_tracks(written, "thread_name"), label));
}

TEST_F(CaptureProgram, LosesNothingOfALongCommandBuffer) {
  const auto work = queue("the queue");
  dispatch(work, "to compile the kernel");
  start(device.get());
  MTL::CommandBuffer* commands = work->commandBuffer();
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  for (int i = 0; i < 20000; ++i) encoder->fillBuffer(numbers.get(), NS::Range::Make(0, 4), 1);
  encoder->endEncoding();
  run(commands);
  manager->stopCapture();
  EXPECT_EQ(names_of(slices_of(trace()), "fill").size(), 20000u);
}

TEST_F(CaptureProgram, IsWholeHoweverManyThreadsCommitWhenItStartsAndStops) {
  dispatch(queue("to compile the kernel"), "");
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      const auto work = queue("queue " + std::to_string(i));
      while (!done) {
        const auto loop_pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
        dispatch(work, "commands")->commit();
      }
    });
  for (int i = 0; i < 4; ++i) {
    start(device.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    manager->stopCapture();
    for (const Slice& slice : slices_of(trace()))
      if (slice.category == "command buffer") {
        EXPECT_FALSE(slice.arguments.contains("error"));
      }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CaptureProgram, LeavesOnlyTheTraceBehind) {
  const auto work = queue("the queue");
  start(device.get());
  run(dispatch(work, "commands"));
  EXPECT_FALSE(std::filesystem::exists(path));
  manager->stopCapture();
  const std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

// What another test runs in a process of its own.
TEST_F(CaptureProgram, IsNotNeededForTheEnvironmentsTrace) {
  run(dispatch(queue("a queue"), "of the process"));
}

TEST_F(CaptureProgram, OfAWholeProcessNeedsOnlyTheEnvironment) {
  run_traced("IsNotNeededForTheEnvironmentsTrace");
  EXPECT_EQ(names_of(slices_of(trace()), "command buffer"), Strings({"of the process"}));
}

TEST_F(CaptureProgram, DoesNotDisturbTheTraceOfTheWholeProcess) {
  run_traced("OfAQueueLeavesOtherQueuesOut");
  const Strings all = {"too early", "mine", "not mine", "too late"};
  EXPECT_EQ(names_of(slices_of(trace()), "command buffer"), all);
}

}  // namespace
