#include <exception>

#include "device/commands.hpp"

namespace metalloid::device {

Status LibraryWork::call(LibraryStream* stream) const {
  try {
    return enqueue(stream);
  } catch (const std::exception& thrown) {
    return Error{thrown.what()};
  } catch (...) {
    return Error{std::string(name) + " failed and did not say why"};
  }
}

}  // namespace metalloid::device
