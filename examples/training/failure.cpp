#include "failure.hpp"

#include <fmt/format.h>

namespace metalloid::training {

void fail_at_loss(size_t epoch, size_t step, double rate, const std::filesystem::path& checkpoint) {
  const std::string left = std::filesystem::exists(checkpoint)
                               ? fmt::format("; '{}' is as it was before this epoch", checkpoint.string())
                               : "";
  throw Failure(exit_failed, fmt::format("the loss is no number any more in step {} of epoch {}, with --rate {}: try a "
                                         "smaller one, such as {:.2g}{}",
                                         step + 1, epoch + 1, rate, rate / 10, left));
}

}  // namespace metalloid::training
