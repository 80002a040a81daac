#include "interruption.hpp"

namespace metalloid::training {

namespace {

volatile std::sig_atomic_t requested = 0;

void request(int) {
  requested = 1;
}

}  // namespace

Interruption::Interruption() {
  requested = 0;
  struct sigaction action = {};
  action.sa_handler = request;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool Interruption::is_requested() const {
  return requested != 0;
}

}  // namespace metalloid::training
