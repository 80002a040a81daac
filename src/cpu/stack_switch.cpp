#include "cpu/stack_switch.hpp"

#include <stdint.h>

extern "C" void metalloid_start_stack();

#if defined(__x86_64__)

asm(R"(
.text
.globl metalloid_switch_stack
.hidden metalloid_switch_stack
.type metalloid_switch_stack, @function
metalloid_switch_stack:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size metalloid_switch_stack, . - metalloid_switch_stack

.type metalloid_start_stack, @function
metalloid_start_stack:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size metalloid_start_stack, . - metalloid_start_stack
)");

namespace {

constexpr size_t saved_words = 7, argument_word = 3, body_word = 2, return_word = 6;

}  // namespace

#elif defined(__aarch64__)

asm(R"(
.text
.globl metalloid_switch_stack
.hidden metalloid_switch_stack
.type metalloid_switch_stack, %function
metalloid_switch_stack:
  .cfi_startproc
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .cfi_endproc
.size metalloid_switch_stack, . - metalloid_switch_stack

.type metalloid_start_stack, %function
metalloid_start_stack:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #0
  .cfi_endproc
.size metalloid_start_stack, . - metalloid_start_stack
)");

namespace {

constexpr size_t saved_words = 20, argument_word = 0, body_word = 1, return_word = 11;

}  // namespace

#else
#error "switching stacks is written for x86-64 and AArch64"
#endif

namespace metalloid::cpu {

StackPointer make_stack(void* top, void (*body)(void*), void* argument) {
  constexpr size_t alignment = 16;
  auto* words = reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(top) / alignment * alignment) - saved_words;
  for (size_t i = 0; i < saved_words; ++i) words[i] = 0;
  words[argument_word] = reinterpret_cast<uintptr_t>(argument);
  words[body_word] = reinterpret_cast<uintptr_t>(body);
  words[return_word] = reinterpret_cast<uintptr_t>(metalloid_start_stack);
  return words;
}

}  // namespace metalloid::cpu
