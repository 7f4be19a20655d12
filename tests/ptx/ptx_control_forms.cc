// SPDX-License-Identifier: Apache-2.0
// Branches, returns, barriers and fences. PTX ISA, "Control Flow Instructions" and "Parallel
// Synchronization and Communication Instructions". Memory is sequentially consistent, so fences do
// nothing.
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

void trap(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  warp.fail(instruction, static_cast<uint32_t>(std::countr_zero(lanes)), "the kernel traps");
}

Form flow_of(Flow flow, std::string_view slots = "", uint8_t mode = 0) {
  Form form{&do_nothing, slots_of(slots)};
  form.flow = flow;
  form.mode = mode;
  return form;
}

}  // namespace

void add_control_forms(Forms *forms) {
  forms->add("bra", flow_of(Flow::kBranch, "label"));
  forms->add("bra.uni", flow_of(Flow::kBranch, "label"));
  forms->add("ret", flow_of(Flow::kReturn));
  forms->add("ret.uni", flow_of(Flow::kReturn));
  forms->add("exit", flow_of(Flow::kExit));
  forms->add("trap", {&trap, {}});
  for (const char *name :
       {"bar.sync", "bar.cta.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned"}) {
    forms->add(name, flow_of(Flow::kBarrier, "b32 b32?", kAligned));
  }
  for (const char *name : {"barrier.sync", "barrier.cta.sync"}) {
    forms->add(name, flow_of(Flow::kBarrier, "b32 b32?"));
  }
  for (const char *name :
       {"membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta", "fence.acq_rel.gpu",
        "fence.acq_rel.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys"}) {
    forms->add(name, {&do_nothing, {}});
  }
  forms->add("nanosleep.u32", {&do_nothing, slots_of("u32")});
}

}  // namespace ptx
