// The objects that a command buffer uses: each is retained once, however often it is used, until the commands are done.
#pragma once

#include <cstdint>
#include <vector>

#include "foundation/object.hpp"

namespace metalloid::metal {

class KeptObjects {
 public:
  KeptObjects() = default;
  KeptObjects(KeptObjects&&) = default;
  KeptObjects& operator=(KeptObjects&&) = default;
  ~KeptObjects() { release_all(); }

  void keep(NS::Object* object) {
    if (!object || object == last_) return;
    last_ = object;
    insert(object);
  }

  // Keeps the memory of the table.
  void release_all();

 private:
  void insert(NS::Object* object);
  void grow();
  size_t place_of(const NS::Object* object) const;  // where it is, or belongs

  std::vector<NS::Object*> table_;  // open addressing; its size is a power of two
  std::vector<uint32_t> used_;      // places in the table
  NS::Object* last_ = nullptr;
};

}  // namespace metalloid::metal
