// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/fault_rules.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace gufunc::gpu_test {
namespace {

// The expected reaction of a plugin to a failing driver function.
enum class Reaction {
  kUsual,           // slots that can fail report the code, and other slots record it
  kReported,        // the slot fails with the status of the code
  kRecorded,        // the slot continues; a code that means device loss is recorded
  kIgnored,         // the slot continues and ignores the code
  kReportedIfLost,  // the slot reports the code if the device is lost, and otherwise ignores it
  kEither,          // any of the reactions above, because the slot calls the function for several
                    // purposes
  kNextImage,       // reported if the plugin has no other image for the device, and otherwise
                    // ignored
  kNotReady,        // the slot returns GUF_NOT_READY
  kOpen             // reported, or a later call may fail because the result is missing
};

struct Rule {
  const char *slot;  // name of a slot, or "*"
  const char *cuda;  // name of a function, or "*"
  const char *hip;
  int code;  // code to which the rule applies, or 0 for every code
  Reaction reaction;
};

// The first rule that matches a call applies. If no rule matches, the expected reaction is kUsual.
constexpr Rule kRules[] = {
    // Every slot makes the device's context current and then restores the previous context. Slots
    // that release objects make the context current a second time. If making a context current
    // fails for one device, shutdown continues with the next device.
    {"shutdown", "cuCtxGetCurrent", "hipGetDevice", 0, Reaction::kRecorded},
    {"shutdown", "cuCtxPushCurrent_v2", "", 0, Reaction::kRecorded},
    {"host_unregister", "cuCtxGetCurrent", "hipGetDevice", 0, Reaction::kRecorded},
    {"host_unregister", "cuCtxPushCurrent_v2", "", 0, Reaction::kRecorded},
    {"capture_end", "cuCtxGetCurrent", "hipGetDevice", 0, Reaction::kEither},
    {"capture_end", "cuCtxPushCurrent_v2", "", 0, Reaction::kEither},
    {"*", "cuCtxGetCurrent", "hipGetDevice", 0, Reaction::kUsual},
    {"*", "cuCtxPushCurrent_v2", "", 0, Reaction::kUsual},
    {"*", "", "hipSetDevice", 0, Reaction::kEither},
    {"*", "cuCtxPopCurrent_v2", "", 0, Reaction::kIgnored},
    {"*", "cuThreadExchangeStreamCaptureMode", "hipThreadExchangeStreamCaptureMode", 0,
     Reaction::kIgnored},
    // Memory is treated as pageable if the driver cannot report its kind.
    {"*", "cuPointerGetAttribute", "hipPointerGetAttributes", 0, Reaction::kIgnored},
    {"*", "cuDriverGetVersion", "hipRuntimeGetVersion", 0, Reaction::kIgnored},
    // With kWrongValue the driver rejects memory that is only partly page-locked, and the plugin
    // then copies the memory in parts.
    {"copy", "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", kWrongValue, Reaction::kEither},
    {"copy", "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", kWrongValue, Reaction::kEither},
    // A device without a memory pool of the driver is usable, unless the failure means that the
    // device is lost.
    {"device_open", "cuMemPoolCreate", "hipMemPoolCreate", 0, Reaction::kReportedIfLost},
    {"device_open", "cuMemPoolSetAttribute", "hipMemPoolSetAttribute", 0,
     Reaction::kReportedIfLost},
    {"device_open", "cuDeviceGetAttribute", "hipDeviceGetAttribute", 0, Reaction::kOpen},
    // For these queries, kNotReady is a regular result and not a failure.
    {"stream_query", "cuStreamQuery", "hipStreamQuery", kNotReady, Reaction::kNotReady},
    {"event_query", "cuEventQuery", "hipEventQuery", kNotReady, Reaction::kNotReady},
    {"event_elapsed", "cuEventElapsedTime", "hipEventElapsedTime", kNotReady, Reaction::kNotReady},
    {"*", "cuStreamQuery", "hipStreamQuery", kNotReady, Reaction::kIgnored},
    {"*", "cuEventQuery", "hipEventQuery", kNotReady, Reaction::kIgnored},
    // Peer access that is already enabled is a success. If an executable graph cannot be updated,
    // the plugin instantiates a new one, and a failure to destroy the old one is only recorded.
    {"peer_enable", "cuCtxEnablePeerAccess", "hipDeviceEnablePeerAccess", kPeerEnabled,
     Reaction::kIgnored},
    {"graph_update", "cuGraphExecUpdate_v2", "hipGraphExecUpdate", kUpdateFailed,
     Reaction::kIgnored},
    {"graph_update", "cuGraphExecDestroy", "hipGraphExecDestroy", 0, Reaction::kRecorded},
    // These functions release the resources of the replaced graph.
    {"graph_update", "cuStreamWaitEvent", "hipStreamWaitEvent", 0, Reaction::kRecorded},
    {"graph_update", "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", 0, Reaction::kRecorded},
    {"graph_update", "cuLaunchHostFunc", "hipLaunchHostFunc", 0, Reaction::kRecorded},
    {"graph_update", "", "hipStreamAddCallback", 0, Reaction::kRecorded},
    {"graph_update", "cuEventDestroy_v2", "hipEventDestroy", 0, Reaction::kRecorded},
    // Status words are allocated in advance. If the allocation fails, launches that need status
    // words report the failure.
    {"kernel_get", "cuMemAlloc_v2", "hipMalloc", kMapFailed, Reaction::kIgnored},
    {"kernel_get", "cuMemHostAlloc", "hipHostMalloc", kMapFailed, Reaction::kIgnored},
    {"kernel_get", "", "hipMalloc", kRuntimeMemory, Reaction::kIgnored},
    {"kernel_get", "", "hipHostMalloc", kRuntimeMemory, Reaction::kIgnored},
    {"*", "cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync", kOutOfMemory, Reaction::kIgnored},
    {"*", "cuMemHostAlloc", "hipHostMalloc", kOutOfMemory, Reaction::kEither},
    {"*", "cuMemHostGetDevicePointer_v2", "hipHostGetDevicePointer", kOutOfMemory,
     Reaction::kIgnored},
    {"memory_alloc", "cuMemAllocManaged", "hipMallocManaged", kOutOfMemory, Reaction::kIgnored},
    {"memory_alloc", "cuMemAlloc_v2", "hipMalloc", kOutOfMemory, Reaction::kIgnored},
    {"*", "cuMemAlloc_v2", "hipMalloc", kOutOfMemory, Reaction::kEither},
    {"module_load", "cuModuleLoadData", "hipModuleLoadData", 0, Reaction::kUsual},
    {"module_load", "cuLibraryLoadData", "", 0, Reaction::kUsual},
    {"module_load", "cuLibraryGetModule", "", 0, Reaction::kUsual},
    // If the driver rejects the machine code of the plugin's own kernels, the plugin loads their
    // PTX.
    {"*", "cuModuleLoadData", "", 200, Reaction::kNextImage},
    {"*", "cuModuleLoadData", "", 209, Reaction::kNextImage},
    {"*", "cuModuleLoadData", "", 218, Reaction::kNextImage},
    {"*", "cuModuleLoadData", "", 221, Reaction::kNextImage},
    {"*", "cuModuleLoadData", "", 222, Reaction::kNextImage},
    {"*", "cuModuleLoadData", "", 223, Reaction::kNextImage},
    {"*", "cuModuleLoadData", "", 300, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 200, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 209, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 218, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 221, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 222, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 223, Reaction::kNextImage},
    {"*", "cuLibraryLoadData", "", 300, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 200, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 209, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 218, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 221, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 222, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 223, Reaction::kNextImage},
    {"*", "cuLibraryGetModule", "", 300, Reaction::kNextImage},
    // kNotFound means that the image lacks a kernel. The call that needs the kernel reports the
    // error.
    {"*", "cuModuleGetFunction", "hipModuleGetFunction", kNotFound, Reaction::kOpen},
    {"*", "cuLibraryGetKernel", "", kNotFound, Reaction::kOpen},
    {"*", "cuKernelGetFunction", "", kNotFound, Reaction::kOpen},
    // If memory_trim cannot free a block, it frees the remaining blocks and reports the first
    // failure. If the plugin can free the memory in another way, or if the driver function frees no
    // memory, memory_trim reports only the loss of the device.
    {"memory_trim", "cuEventCreate", "hipEventCreateWithFlags", 0, Reaction::kReportedIfLost},
    {"memory_trim", "cuEventRecord", "hipEventRecord", 0, Reaction::kReportedIfLost},
    {"memory_trim", "cuStreamDestroy_v2", "hipStreamDestroy", 0, Reaction::kReportedIfLost},
    {"memory_trim", "cuEventQuery", "hipEventQuery", 0, Reaction::kUsual},
    {"memory_trim", "cuStreamIsCapturing", "hipStreamIsCapturing", 0, Reaction::kUsual},
    // memory_alloc frees cached memory with these functions. If a function fails, less memory is
    // available.
    {"*", "cuStreamIsCapturing", "hipStreamIsCapturing", 0, Reaction::kEither},
    {"memory_alloc", "cuStreamSynchronize", "hipStreamSynchronize", 0, Reaction::kEither},
    {"memory_alloc", "cuMemFreeAsync", "hipFreeAsync", 0, Reaction::kRecorded},
    {"memory_alloc", "cuMemFree_v2", "hipFree", 0, Reaction::kRecorded},
    {"memory_alloc", "cuMemPoolTrimTo", "hipMemPoolTrimTo", 0, Reaction::kRecorded},
    // If a slot's caller requested the event, the slot fails. If the event is the plugin's own
    // event, which marks the end of work on freed memory, the slot does not fail.
    {"event_open", "cuEventCreate", "hipEventCreateWithFlags", 0, Reaction::kUsual},
    {"event_record", "cuEventRecord", "hipEventRecord", 0, Reaction::kUsual},
    {"event_query", "cuEventQuery", "hipEventQuery", 0, Reaction::kUsual},
    {"event_synchronize", "cuEventQuery", "hipEventQuery", 0, Reaction::kUsual},
    {"stream_query", "cuStreamQuery", "hipStreamQuery", 0, Reaction::kUsual},
    {"shutdown", "*", "*", 0, Reaction::kRecorded},
    {"stream_synchronize", "*", "*", 0, Reaction::kUsual},
    {"graph_launch", "*", "*", 0, Reaction::kUsual},
    {"*", "cuEventCreate", "hipEventCreateWithFlags", 0, Reaction::kRecorded},
    {"*", "cuEventRecord", "hipEventRecord", 0, Reaction::kRecorded},
    {"*", "cuEventQuery", "hipEventQuery", 0, Reaction::kRecorded},
    {"*", "cuStreamQuery", "hipStreamQuery", 0, Reaction::kEither},
};

// Slots that release objects, and other slots that cannot fail.
constexpr const char *kSilent[] = {"device_close",  "stream_close",  "event_close", "memory_free",
                                   "module_unload", "graph_destroy", "builtins",    "image_score"};
// Slots that do not report a lost device, in addition to kSilent.
constexpr const char *kNotReportingLoss[] = {
    "memory_limit",    "device_native", "stream_native", "event_native", "describe_launch",
    "describe_method", "extension",     "probe",         "shutdown",     "host_unregister"};

template <size_t kCount>
bool is_among(const char *const (&names)[kCount], const char *slot) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char *name) { return std::strcmp(name, slot) == 0; });
}

Reaction expected_reaction(const SlotCall &call, const std::string &function,
                           const FaultCode &code) {
  Reaction reaction = Reaction::kUsual;
  for (const Rule &rule : kRules) {
    const bool slot = std::strcmp(rule.slot, "*") == 0 || std::strcmp(rule.slot, call.slot) == 0;
    const char *const named = pick(rule.cuda, rule.hip);
    const bool fits = std::strcmp(named, "*") == 0 || function == named;
    if (!slot || !fits || (rule.code != 0 && rule.code != code.code)) continue;
    reaction = rule.reaction;
    break;
  }
  if (reaction == Reaction::kUsual)
    return is_among(kSilent, call.slot) ? Reaction::kRecorded : Reaction::kReported;
  // If the driver rejects the excerpt of the PTX for one kernel, the plugin loads the complete PTX.
  if (reaction == Reaction::kNextImage && std::strcmp(call.slot, "kernel_get") == 0) {
    return Reaction::kIgnored;
  }
  if (reaction == Reaction::kNextImage)
    return GUFUNC_TEST_IMAGES > 1 ? Reaction::kIgnored : Reaction::kReported;
  if (reaction == Reaction::kReportedIfLost)
    return code.lost ? Reaction::kReported : Reaction::kIgnored;
  return reaction;
}

std::string text_of(const SlotCall &call) {
  char text[300];
  std::snprintf(text, sizeof(text), "%s returned %d, code %d, '%s'", call.slot, call.status,
                call.native_code, call.message);
  return text;
}

// The status of a failed allocation of host memory for a device is GUF_E_NO_MEMORY, and not
// GUF_E_DEVICE_MEMORY.
guf_status status_of(const std::string &function, const FaultCode &code) {
  static const std::set<std::string> kHost = {
      "cuMemHostAlloc",          "cuMemHostGetDevicePointer_v2",
      "cuMemHostRegister_v2",    "hipHostMalloc",
      "hipHostGetDevicePointer", "hipHostRegister",
      "cuMemAllocManaged",       "hipMallocManaged"};
  return kHost.contains(function) && code.status == GUF_E_DEVICE_MEMORY
             ? guf_status{GUF_E_NO_MEMORY}
             : code.status;
}

// Returns the code with the status that the plugin must report. If the code means that a stream or
// context that the program owns is destroyed, the status is GUF_E_HANDLE, and the device is not
// lost.
FaultCode expected_code(const Trial &run, size_t injected, const FaultCode &code) {
  const std::vector<SlotCall> &calls = run.calls();
  const auto is = [&](size_t i, const char *slot) { return std::strcmp(calls[i].slot, slot) == 0; };
  bool is_adopted = is(injected, "stream_open") &&
                    run.fault().function == pick("cuStreamGetCtx", "hipStreamGetDevice");
  // device_open queries a context only if it adopts the context. The scenarios that adopt a context
  // call device_native before device_open.
  for (size_t i = 0; i < injected && is(injected, "device_open"); ++i) {
    is_adopted = is_adopted || is(i, "device_native");
  }
  if (!is_adopted || code.code != kContextDestroyed) return code;
  return {code.code, GUF_E_HANDLE, false};
}

bool is_reported(const SlotCall &call, guf_status status, const FaultCode &code) {
  const std::string number = "(" + std::to_string(code.code) + ")";
  return call.status == status && call.native_code == code.code &&
         std::strstr(call.message, number.c_str()) != nullptr;
}

bool is_loss_report(const SlotCall &call, const FaultCode &code) {
  return is_reported(call, GUF_E_DEVICE_LOST, code);
}

bool reports_device_loss(const char *slot) {
  return !is_among(kSilent, slot) && !is_among(kNotReportingLoss, slot);
}

// A successful call must leave the error record unchanged.
bool is_silent_success(const SlotCall &call) {
  return call.status == GUF_OK && call.native_code == 0 && call.message[0] == '\0';
}

// Checks the calls after the failing call. If `lost`, calls on the failed device must report the
// loss of the device. All other calls must succeed.
std::string judge_rest(const Trial &run, size_t injected, bool lost, const FaultCode &code) {
  const void *const device = run.calls()[injected].device;
  for (size_t i = injected + 1; i < run.calls().size(); ++i) {
    const SlotCall &call = run.calls()[i];
    const bool lost_here = lost && call.device == device && reports_device_loss(call.slot);
    const bool fine = lost_here ? is_loss_report(call, code) : is_silent_success(call);
    if (!fine) return "later " + text_of(call) + (lost_here ? ", of a lost device" : "");
  }
  return "";
}

std::string compare(const Trial &clean, const Trial &run, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    if (i >= clean.calls().size() || i >= run.calls().size()) return "another number of calls";
    const SlotCall &expected = clean.calls()[i], &found = run.calls()[i];
    if (std::strcmp(expected.slot, found.slot) != 0 || expected.status != found.status ||
        !is_silent_success(found)) {
      return "unlike without a fault, " + text_of(found);
    }
  }
  return "";
}

// Checks the calls from `first` on after a failure that made one or more devices unusable. Each
// call must succeed or report the loss of its device. After the first report for a device, all
// further calls on the device must report the loss, and allocations on the device `requested` must
// report the loss even before the first report. Slots that cannot report a loss are exempt.
std::string judge_lost(const Trial &run, size_t first, const void *requested, const FaultCode &code,
                       std::set<const void *> *out_lost) {
  for (size_t i = first; i < run.calls().size(); ++i) {
    const SlotCall &call = run.calls()[i];
    const bool is_loss = is_loss_report(call, code);
    if (!is_loss && call.status != GUF_OK) return "sticky: " + text_of(call);
    if (call.device == nullptr || !reports_device_loss(call.slot)) continue;
    const bool is_allocation =
        call.device == requested && std::strcmp(call.slot, "memory_alloc") == 0;
    if (!is_loss && (is_allocation || out_lost->count(call.device) != 0)) {
      return "sticky: not lost, " + text_of(call);
    }
    if (is_loss) out_lost->insert(call.device);
  }
  return "";
}

// Checks a run with a permanent error: the driver returns the code for every later call.
std::string judge_sticky(const Trial &run, size_t injected, const FaultCode &code) {
  const SlotCall &first = run.calls()[injected];
  std::set<const void *> lost;
  const FaultCode meant = expected_code(run, injected, code);
  if (!meant.lost) {
    return is_reported(first, meant.status, meant)
               ? judge_lost(run, injected + 1, nullptr, code, &lost)
               : "sticky: " + text_of(first);
  }
  if (expected_reaction(first, run.fault().function, code) == Reaction::kOpen) return "";
  if (first.status != GUF_OK && !is_loss_report(first, code)) return "sticky: " + text_of(first);
  if (first.status != GUF_OK) lost.insert(first.device);
  return judge_lost(run, injected + 1, first.device, code, &lost);
}

}  // namespace

std::string judge(const Trial &clean, const Trial &run, const FaultCode &fault) {
  size_t injected = 0;
  while (injected < run.calls().size() && !run.calls()[injected].injected) ++injected;
  if (injected == run.calls().size()) return "the fault was not injected";
  const std::string before = compare(clean, run, 0, injected);
  if (!before.empty()) return "before the fault: " + before;
  const SlotCall &call = run.calls()[injected];
  if (run.fault().sticky) return judge_sticky(run, injected, fault);
  const FaultCode code = expected_code(run, injected, fault);
  const Reaction reaction = expected_reaction(call, run.fault().function, fault);
  if (reaction == Reaction::kNotReady) {
    if (call.status != GUF_NOT_READY) return "not answered: " + text_of(call);
    return judge_rest(run, injected, false, code);
  }
  const bool may_report = reaction == Reaction::kReported || reaction == Reaction::kEither ||
                          reaction == Reaction::kOpen;
  if (may_report && is_reported(call, status_of(run.fault().function, code), code)) {
    return judge_rest(run, injected, code.lost && call.device != nullptr, code);
  }
  const bool goes_on =
      injected < clean.calls().size() && call.status == clean.calls()[injected].status;
  if (reaction == Reaction::kOpen && call.status == GUF_E_NO_IMAGE) return "";
  if (!goes_on || reaction == Reaction::kReported) return text_of(call);
  if (reaction == Reaction::kOpen) return "";
  const std::string lost = judge_rest(run, injected, true, code);
  if (code.lost && reaction == Reaction::kRecorded) return lost;
  if (code.lost && reaction == Reaction::kEither && lost.empty()) return "";
  return compare(clean, run, injected, std::max(clean.calls().size(), run.calls().size()));
}

std::string judge_late(const Trial &run, const FaultCode &code, bool must_report) {
  std::set<const void *> lost;
  const std::string wrong = judge_lost(run, 0, nullptr, code, &lost);
  return wrong.empty() && must_report && lost.empty() ? "no call reported the failure" : wrong;
}

}  // namespace gufunc::gpu_test
