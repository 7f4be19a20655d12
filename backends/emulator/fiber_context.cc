// SPDX-License-Identifier: Apache-2.0
#include "backends/emulator/fiber_context.h"

#include <cstdint>
#include <cstring>

#if !defined(GUFUNC_EMULATOR_UCONTEXT)

// Saves the registers on the current stack and stores the stack pointer in *from.
// Then loads the stack pointer `to` and restores the registers from its stack.
extern "C" __attribute__((visibility("hidden"))) void gufunc_emulator_switch(void **from, void *to);
// The start of a new fiber. Calls main(argument). The addresses of main and its argument are in
// registers that the switch restored.
extern "C" __attribute__((visibility("hidden"))) void gufunc_emulator_start();

#if defined(__x86_64__)
asm(R"(
.pushsection .text.gufunc_emulator_switch, "ax", @progbits
.globl gufunc_emulator_switch
.hidden gufunc_emulator_switch
.type gufunc_emulator_switch, @function
.p2align 4
gufunc_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gufunc_emulator_switch, .-gufunc_emulator_switch
.globl gufunc_emulator_start
.hidden gufunc_emulator_start
.type gufunc_emulator_start, @function
.p2align 4
gufunc_emulator_start:
  xorl %ebp, %ebp
  movq %r12, %rdi
  callq *%rbx
  ud2
.size gufunc_emulator_start, .-gufunc_emulator_start
.popsection
)");

namespace gufunc::emulator {
namespace {

// The stack layout that gufunc_emulator_switch pops, lowest address first.
struct SavedFrame {
  uint32_t mxcsr;
  uint16_t x87_control;
  uint16_t unused;
  uint64_t r15, r14, r13, r12, rbx, rbp;
  uint64_t return_address;
};

void fill_frame(SavedFrame &frame, void (*main)(void *), void *argument) {
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(frame.mxcsr), "=m"(frame.x87_control));
  frame.rbx = reinterpret_cast<uint64_t>(main);
  frame.r12 = reinterpret_cast<uint64_t>(argument);
  frame.return_address = reinterpret_cast<uint64_t>(&gufunc_emulator_start);
}

}  // namespace
}  // namespace gufunc::emulator

#else  // aarch64
asm(R"(
.pushsection .text.gufunc_emulator_switch, "ax", @progbits
.globl gufunc_emulator_switch
.hidden gufunc_emulator_switch
.type gufunc_emulator_switch, @function
.p2align 4
gufunc_emulator_switch:
  sub sp, sp, #176
  mrs x9, fpcr
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
  str x9, [sp, #160]
  mov x10, sp
  str x10, [x0]
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
  ldr x9, [sp, #160]
  msr fpcr, x9
  add sp, sp, #176
  ret
.size gufunc_emulator_switch, .-gufunc_emulator_switch
.globl gufunc_emulator_start
.hidden gufunc_emulator_start
.type gufunc_emulator_start, @function
.p2align 4
gufunc_emulator_start:
  mov x29, xzr
  mov x30, xzr
  mov x0, x20
  blr x19
  brk #1
.size gufunc_emulator_start, .-gufunc_emulator_start
.popsection
)");

namespace gufunc::emulator {
namespace {

// The stack layout that gufunc_emulator_switch loads, lowest address first.
struct SavedFrame {
  uint64_t x19, x20, x21_to_x28[8];
  uint64_t x29, x30;
  uint64_t d8_to_d15[8];
  uint64_t fpcr, unused;
};
static_assert(sizeof(SavedFrame) == 176);

void fill_frame(SavedFrame &frame, void (*main)(void *), void *argument) {
  asm volatile("mrs %0, fpcr" : "=r"(frame.fpcr));
  frame.x19 = reinterpret_cast<uint64_t>(main);
  frame.x20 = reinterpret_cast<uint64_t>(argument);
  frame.x30 = reinterpret_cast<uint64_t>(&gufunc_emulator_start);
}

}  // namespace
}  // namespace gufunc::emulator
#endif

namespace gufunc::emulator {

void make_context(Context &context, char *stack, size_t bytes, void (*main)(void *),
                  void *argument) {
  // Above the frame, the stack pointer is a multiple of 16, which the ABI requires before a call.
  static_assert(sizeof(SavedFrame) % 16 == 0);
  const uintptr_t top = (reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t{15};
  const uintptr_t place = top - sizeof(SavedFrame);
  SavedFrame frame = {};
  fill_frame(frame, main, argument);
  context.stack_pointer = reinterpret_cast<void *>(place);
  std::memcpy(context.stack_pointer, &frame, sizeof(frame));
}

GUFUNC_EMULATOR_NO_RACE_CHECK void switch_context(Context &from, const Context &to) {
  gufunc_emulator_switch(&from.stack_pointer, to.stack_pointer);
}

}  // namespace gufunc::emulator

#else

namespace gufunc::emulator {
namespace {

// makecontext passes arguments of type int, so each pointer is passed as two halves.
void start_ucontext(unsigned main_high, unsigned main_low, unsigned high, unsigned low) {
  const auto join = [](unsigned upper, unsigned lower) {
    return static_cast<uintptr_t>((uint64_t{upper} << 32) | lower);
  };
  reinterpret_cast<void (*)(void *)>(join(main_high, main_low))(
      reinterpret_cast<void *>(join(high, low)));
}

}  // namespace

void make_context(Context &context, char *stack, size_t bytes, void (*main)(void *),
                  void *argument) {
  getcontext(&context.registers);
  context.registers.uc_stack.ss_sp = stack;
  context.registers.uc_stack.ss_size = bytes;
  context.registers.uc_link = nullptr;
  const uint64_t code = reinterpret_cast<uintptr_t>(main);
  const uint64_t data = reinterpret_cast<uintptr_t>(argument);
  makecontext(&context.registers, reinterpret_cast<void (*)()>(&start_ucontext), 4,
              static_cast<unsigned>(code >> 32), static_cast<unsigned>(code),
              static_cast<unsigned>(data >> 32), static_cast<unsigned>(data));
}

GUFUNC_EMULATOR_NO_RACE_CHECK void switch_context(Context &from, const Context &to) {
  swapcontext(&from.registers, &to.registers);
}

}  // namespace gufunc::emulator

#endif
