// Runs a piece of work on a thread with a large stack: Clang recurses as deeply as the source nests.
#pragma once

#include <clang/Basic/Stack.h>
#include <llvm/Support/thread.h>

#include <utility>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

template <class Work>
auto on_big_stack(Work&& work) {
  constexpr unsigned stack_bytes = 256 << 20;  // reserved, not used, unless the source needs it
  std::optional<decltype(work())> result;
  llvm::thread thread(std::optional<unsigned>(stack_bytes), [&] {
    clang::noteBottomOfStack();
    result.emplace(work());
  });
  thread.join();
  return std::move(*result);
}

}  // namespace metalloid::msl
