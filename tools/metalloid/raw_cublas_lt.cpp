#include "raw_cublas_lt.hpp"

namespace metalloid::tool {

namespace {

using metalloid::nvidia::Driver;
namespace cuda = metalloid::nvidia::cuda;
namespace lt = mps::nvidia::lt;

constexpr size_t workspace_bytes = 32 << 20;

// The context is the calling thread's while it lives.
class Current {
 public:
  explicit Current(cuda::Context context) { Driver::shared()->push_context(context); }
  ~Current() {
    cuda::Context context = nullptr;
    Driver::shared()->pop_context(&context);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

}  // namespace

RawCublasLt::RawCublasLt() {
  const auto& driver = Driver::shared();
  const auto& library = mps::nvidia::CublasLt::shared();
  cuda::Device device = 0;
  if (!driver || !library || driver->get_device(&device, 0) != cuda::Code::success) return;
  if (driver->create_context(&context_, 0, device) != cuda::Code::success) return;
  driver->create_stream(&stream_, cuda::stream_without_default);
  for (cuda::Event& event : events_) driver->create_event(&event, 0);
  if (library->create(&handle_) != lt::Code::success) handle_ = nullptr;
  cuda::Context made = nullptr;
  driver->pop_context(&made);
}

RawCublasLt::~RawCublasLt() {
  if (!context_) return;
  {
    const Current current(context_);
    if (handle_) mps::nvidia::CublasLt::shared()->destroy(handle_);
  }
  Driver::shared()->destroy_context(context_);
}

double RawCublasLt::multiply(size_t n, lt::Type type, size_t times) {
  const Current current(context_);
  const Driver& driver = *Driver::shared();
  const mps::nvidia::CublasLt& library = *mps::nvidia::CublasLt::shared();
  const size_t bytes = n * n * (type == lt::Type::float32 ? 4 : 2);
  std::array<cuda::Address, 4> places = {};
  for (size_t i = 0; i < places.size(); ++i)
    if (driver.allocate(&places[i], i == 3 ? workspace_bytes : bytes) != cuda::Code::success) return 0;
  for (size_t i = 0; i < 3; ++i) driver.fill(places[i], 0x3c, bytes, stream_);  // small positive numbers of any type
  lt::Product product = nullptr;
  lt::Layout layout = nullptr;
  lt::Preference preference = nullptr;
  library.create_product(&product, lt::Compute::float32, lt::Type::float32);
  library.create_layout(&layout, type, n, n, int64_t(n));
  library.create_preference(&preference);
  library.set_preference(preference, lt::PreferenceAttribute::most_workspace, &workspace_bytes, sizeof workspace_bytes);
  lt::Heuristic best;
  int found = 0;
  library.find_algorithms(handle_, product, layout, layout, layout, layout, preference, 1, &best, &found);
  const float one = 1, zero = 0;
  const auto at = [&](size_t i) { return reinterpret_cast<void*>(places[i]); };
  const auto run = [&] {
    return library.multiply(handle_, product, &one, at(0), layout, at(1), layout, &zero, at(2), layout, at(2), layout,
                            &best.algorithm, at(3), workspace_bytes, stream_);
  };
  float milliseconds = 0;
  if (found > 0 && run() == lt::Code::success && run() == lt::Code::success) {
    driver.record_event(events_[0], stream_);
    for (size_t i = 0; i < times; ++i) run();
    driver.record_event(events_[1], stream_);
    driver.synchronize_stream(stream_);
    driver.get_elapsed_time(&milliseconds, events_[0], events_[1]);
  }
  library.destroy_product(product);
  library.destroy_layout(layout);
  library.destroy_preference(preference);
  for (const cuda::Address place : places) driver.free(place);
  return double{milliseconds} * 1000 / double(times);
}

}  // namespace metalloid::tool
