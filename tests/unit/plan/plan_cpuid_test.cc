// SPDX-License-Identifier: Apache-2.0
// Tests that plans are created without the instruction cpuid. A virtual machine traps each cpuid,
// which takes 10 us. With the processor's trap flag, the kernel raises SIGTRAP after each
// instruction of the tested calls.
#include <cpuid.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

volatile int64_t instructions_seen, cpuids_seen;

void count_instruction(int, siginfo_t *, void *context) {
  const auto next = static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP];
  const auto *code = reinterpret_cast<const unsigned char *>(next);
  instructions_seen = instructions_seen + 1;
  if (code[0] == 0x0f && code[1] == 0xa2) cpuids_seen = cpuids_seen + 1;
}

// The stack pointer skips the 128 bytes below it, because the compiler may use them (red zone).
void set_trap_flag() {
  __asm__ volatile("sub $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n add $128, %%rsp" ::
                       : "cc", "memory");
}

void clear_trap_flag() {
  __asm__ volatile("sub $128, %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n add $128, %%rsp" ::
                       : "cc", "memory");
}

// Returns how many cpuid instructions `work` executes on this thread.
template <class Work>
int64_t cpuids_of(const Work &work) {
  struct sigaction action = {}, before = {};
  action.sa_sigaction = count_instruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  instructions_seen = 0;
  cpuids_seen = 0;
  set_trap_flag();
  work();
  clear_trap_flag();
  sigaction(SIGTRAP, &before, nullptr);
  EXPECT_GT(instructions_seen, 10);
  return cpuids_seen;
}

TEST(PlanCpuid, TheInstructionIsSeen) {
  EXPECT_GE(cpuids_of([] {
              unsigned a = 0, b = 0, c = 0, d = 0;
              __get_cpuid(1, &a, &b, &c, &d);
            }),
            1);
}

// The first plan loads the backend, which determines the instruction set.
TEST(PlanCpuid, APlanAfterTheFirstExecutesNone) {
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> z(3);
  Call call("add");
  call.in(view(GUF_F64, x)).in(view(GUF_F64, x)).out(view(GUF_F64, z));
  guf_error error = {};
  error.struct_size = sizeof error;
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &error), GUF_OK) << error.message;
  ASSERT_EQ(guf_plan_release(plan, &error), GUF_OK);
  plan = nullptr;

  const guf_call_args *args = call.ready();
  guf_status status = GUF_E_ARG;
  EXPECT_EQ(cpuids_of([&] { status = guf_plan_create(call.handle, args, &plan, &error); }), 0);
  ASSERT_EQ(status, GUF_OK) << error.message;
  EXPECT_EQ(guf_plan_release(plan, &error), GUF_OK);
}

}  // namespace
}  // namespace gufunc
