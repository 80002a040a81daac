// Steps on their way through a device: while it works on one, the host prepares the next, in another of a few places.
// Steps are done in the order in which they were sent.
#pragma once

#include <Metal/Metal.hpp>
#include <functional>
#include <vector>

namespace metalloid::training {

class StepsUnderWay {
 public:
  // `consume` is told the place whose step is done, by free_place() and finish(), on their thread.
  explicit StepsUnderWay(std::function<void(size_t)> consume) : consume_(std::move(consume)) {}
  ~StepsUnderWay();
  StepsUnderWay(const StepsUnderWay&) = delete;
  StepsUnderWay& operator=(const StepsUnderWay&) = delete;

  static constexpr size_t places = 3;

  // The place of the next step, when the step that had it is done. Throws a Failure if the device failed there.
  size_t free_place();
  // The step of that place.
  void send(MTL::CommandBuffer* commands);
  // Waits for all that are on their way.
  void finish();

 private:
  void arrive(size_t place);

  const std::function<void(size_t)> consume_;
  std::vector<NS::SharedPtr<MTL::CommandBuffer>> commands_{places};  // null: the place is free
  size_t next_ = 0;
};

}  // namespace metalloid::training
