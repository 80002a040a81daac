#include "metal/absent.hpp"

#include <cstdio>
#include <mutex>
#include <set>

namespace metalloid::metal {

std::string refuse(std::string_view what, Call call) {
  static std::mutex mutex;
  static std::set<std::string> refused;
  const std::string message =
      name_of(call) + ": Metalloid implements Metal for compute and has no " + std::string(what);
  std::lock_guard lock(mutex);
  if (refused.insert(message).second) std::fprintf(stderr, "metalloid: %s\n", message.c_str());
  return message;
}

}  // namespace metalloid::metal
