// Fibers: stacks that one thread of the host switches between. A fiber can be abandoned at any moment, by never
// switching to it again; reset() then makes it new.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace metalloid::cpu::reference {

class Fiber {
 public:
  using Body = void (*)(void* argument);  // never returns

  // The stack that the thread has by itself.
  Fiber();
  Fiber(std::byte* stack, size_t size, Body body, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Goes on where `to` was left, or at the start of its body; returns when someone switches back to this one.
  void switch_to(Fiber& to);

  // Forgets where it was left: the next switch to it starts the body.
  void reset();

  // Whether an address lies just below the stack, where it would overflow to.
  bool is_guard(const void* address) const;

 private:
  static void start(boost::context::detail::transfer_t transfer);
  static void arrive(boost::context::detail::transfer_t transfer);

  boost::context::detail::fcontext_t context_ = nullptr;
  Fiber* previous_ = nullptr;   // who switched to it last
  std::byte* stack_ = nullptr;  // its lowest address
  size_t size_ = 0;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  [[maybe_unused]] void* sanitizer_state_ = nullptr;
};

// The fibers of one thread of the host, made as they are needed and kept.
class FiberPool {
 public:
  FiberPool(Fiber::Body body, void* argument) : body_(body), argument_(argument) {}
  ~FiberPool();

  Fiber* take();  // null if the system gives no more memory
  void give_back(Fiber& fiber) { idle_.push_back(&fiber); }

 private:
  bool grow();

  Fiber::Body body_;
  void* argument_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::vector<std::byte*> slabs_;
};

}  // namespace metalloid::cpu::reference
