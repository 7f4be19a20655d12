// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/fault_rules.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace gufunc::gpu_test {
namespace {

// The expected reaction of a plugin to a failing driver function.
enum class Fate {
  kUsual,           // slots that can fail report the code, and other slots record it
  kReported,        // the slot fails with the status of the code
  kRecorded,        // the slot continues; a code that means device loss is recorded
  kUnnoticed,       // the slot continues and ignores the code
  kReportedIfLost,  // the slot reports the code if the device is lost, and otherwise ignores it
  kEither,          // any of the fates above, because the slot calls the function for several
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
  Fate fate;
};

// The first rule that matches a call applies. If no rule matches, the fate is kUsual.
constexpr Rule kRules[] = {
    // Every slot makes the device's context current and then restores the previous context. Slots
    // that release objects make the context current a second time. If this fails for one device,
    // shutdown continues with the next device.
    {"shutdown", "cuCtxGetCurrent", "hipGetDevice", 0, Fate::kRecorded},
    {"shutdown", "cuCtxPushCurrent_v2", "", 0, Fate::kRecorded},
    {"host_unregister", "cuCtxGetCurrent", "hipGetDevice", 0, Fate::kRecorded},
    {"host_unregister", "cuCtxPushCurrent_v2", "", 0, Fate::kRecorded},
    {"capture_end", "cuCtxGetCurrent", "hipGetDevice", 0, Fate::kEither},
    {"capture_end", "cuCtxPushCurrent_v2", "", 0, Fate::kEither},
    {"*", "cuCtxGetCurrent", "hipGetDevice", 0, Fate::kUsual},
    {"*", "cuCtxPushCurrent_v2", "", 0, Fate::kUsual},
    {"*", "", "hipSetDevice", 0, Fate::kEither},
    {"*", "cuCtxPopCurrent_v2", "", 0, Fate::kUnnoticed},
    {"*", "cuThreadExchangeStreamCaptureMode", "hipThreadExchangeStreamCaptureMode", 0,
     Fate::kUnnoticed},
    // Memory is treated as pageable if the driver cannot report its kind.
    {"*", "cuPointerGetAttribute", "hipPointerGetAttributes", 0, Fate::kUnnoticed},
    {"*", "cuDriverGetVersion", "hipRuntimeGetVersion", 0, Fate::kUnnoticed},
    // With this code the driver rejects memory that is only partly page-locked, and the plugin then
    // copies the memory in parts.
    {"copy", "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", kWrongValue, Fate::kEither},
    {"copy", "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", kWrongValue, Fate::kEither},
    // A device without a memory pool of the driver is usable, unless the failure means that the
    // device is lost.
    {"device_open", "cuMemPoolCreate", "hipMemPoolCreate", 0, Fate::kReportedIfLost},
    {"device_open", "cuMemPoolSetAttribute", "hipMemPoolSetAttribute", 0, Fate::kReportedIfLost},
    {"device_open", "cuDeviceGetAttribute", "hipDeviceGetAttribute", 0, Fate::kOpen},
    // For these queries, the code is a regular result and not a failure.
    {"stream_query", "cuStreamQuery", "hipStreamQuery", kNotReady, Fate::kNotReady},
    {"event_query", "cuEventQuery", "hipEventQuery", kNotReady, Fate::kNotReady},
    {"event_elapsed", "cuEventElapsedTime", "hipEventElapsedTime", kNotReady, Fate::kNotReady},
    {"*", "cuStreamQuery", "hipStreamQuery", kNotReady, Fate::kUnnoticed},
    {"*", "cuEventQuery", "hipEventQuery", kNotReady, Fate::kUnnoticed},
    // For these codes, the plugin has an alternative to the driver function.
    {"peer_enable", "cuCtxEnablePeerAccess", "hipDeviceEnablePeerAccess", kPeerEnabled,
     Fate::kUnnoticed},
    {"graph_update", "cuGraphExecUpdate_v2", "hipGraphExecUpdate", kUpdateFailed, Fate::kUnnoticed},
    {"graph_update", "cuGraphExecDestroy", "hipGraphExecDestroy", 0, Fate::kRecorded},
    // These functions release the resources of the replaced graph.
    {"graph_update", "cuStreamWaitEvent", "hipStreamWaitEvent", 0, Fate::kRecorded},
    {"graph_update", "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", 0, Fate::kRecorded},
    {"graph_update", "cuLaunchHostFunc", "hipLaunchHostFunc", 0, Fate::kRecorded},
    {"graph_update", "", "hipStreamAddCallback", 0, Fate::kRecorded},
    {"graph_update", "cuEventDestroy_v2", "hipEventDestroy", 0, Fate::kRecorded},
    // Status words are allocated in advance. If the allocation fails, launches that need status
    // words report the failure.
    {"kernel_get", "cuMemAlloc_v2", "hipMalloc", kMapFailed, Fate::kUnnoticed},
    {"kernel_get", "cuMemHostAlloc", "hipHostMalloc", kMapFailed, Fate::kUnnoticed},
    {"kernel_get", "", "hipMalloc", kRuntimeMemory, Fate::kUnnoticed},
    {"kernel_get", "", "hipHostMalloc", kRuntimeMemory, Fate::kUnnoticed},
    {"*", "cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync", kOutOfMemory, Fate::kUnnoticed},
    {"*", "cuMemHostAlloc", "hipHostMalloc", kOutOfMemory, Fate::kEither},
    {"*", "cuMemHostGetDevicePointer_v2", "hipHostGetDevicePointer", kOutOfMemory,
     Fate::kUnnoticed},
    {"memory_alloc", "cuMemAllocManaged", "hipMallocManaged", kOutOfMemory, Fate::kUnnoticed},
    {"memory_alloc", "cuMemAlloc_v2", "hipMalloc", kOutOfMemory, Fate::kUnnoticed},
    {"*", "cuMemAlloc_v2", "hipMalloc", kOutOfMemory, Fate::kEither},
    {"module_load", "cuModuleLoadData", "hipModuleLoadData", 0, Fate::kUsual},
    {"module_load", "cuLibraryLoadData", "", 0, Fate::kUsual},
    {"module_load", "cuLibraryGetModule", "", 0, Fate::kUsual},
    // If the driver rejects the machine code of the plugin's own kernels, the plugin loads their
    // PTX.
    {"*", "cuModuleLoadData", "", 200, Fate::kNextImage},
    {"*", "cuModuleLoadData", "", 209, Fate::kNextImage},
    {"*", "cuModuleLoadData", "", 218, Fate::kNextImage},
    {"*", "cuModuleLoadData", "", 221, Fate::kNextImage},
    {"*", "cuModuleLoadData", "", 222, Fate::kNextImage},
    {"*", "cuModuleLoadData", "", 223, Fate::kNextImage},
    {"*", "cuModuleLoadData", "", 300, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 200, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 209, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 218, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 221, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 222, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 223, Fate::kNextImage},
    {"*", "cuLibraryLoadData", "", 300, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 200, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 209, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 218, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 221, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 222, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 223, Fate::kNextImage},
    {"*", "cuLibraryGetModule", "", 300, Fate::kNextImage},
    // The code means that the image lacks a kernel. The call that needs the kernel reports the
    // error.
    {"*", "cuModuleGetFunction", "hipModuleGetFunction", kNotFound, Fate::kOpen},
    {"*", "cuLibraryGetKernel", "", kNotFound, Fate::kOpen},
    {"*", "cuKernelGetFunction", "", kNotFound, Fate::kOpen},
    // If memory_trim cannot free a block, it frees the remaining blocks and reports the first
    // failure. If the plugin can free the memory in another way, or if the driver function frees no
    // memory, memory_trim reports only the loss of the device.
    {"memory_trim", "cuEventCreate", "hipEventCreateWithFlags", 0, Fate::kReportedIfLost},
    {"memory_trim", "cuEventRecord", "hipEventRecord", 0, Fate::kReportedIfLost},
    {"memory_trim", "cuStreamDestroy_v2", "hipStreamDestroy", 0, Fate::kReportedIfLost},
    {"memory_trim", "cuEventQuery", "hipEventQuery", 0, Fate::kUsual},
    {"memory_trim", "cuStreamIsCapturing", "hipStreamIsCapturing", 0, Fate::kUsual},
    // memory_alloc frees cached memory with these functions. If a function fails, less memory is
    // available.
    {"*", "cuStreamIsCapturing", "hipStreamIsCapturing", 0, Fate::kEither},
    {"memory_alloc", "cuStreamSynchronize", "hipStreamSynchronize", 0, Fate::kEither},
    {"memory_alloc", "cuMemFreeAsync", "hipFreeAsync", 0, Fate::kRecorded},
    {"memory_alloc", "cuMemFree_v2", "hipFree", 0, Fate::kRecorded},
    {"memory_alloc", "cuMemPoolTrimTo", "hipMemPoolTrimTo", 0, Fate::kRecorded},
    // If a slot's caller requested the event, the slot fails. If the event is the plugin's own
    // event, which marks the end of work on freed memory, the slot does not fail.
    {"event_open", "cuEventCreate", "hipEventCreateWithFlags", 0, Fate::kUsual},
    {"event_record", "cuEventRecord", "hipEventRecord", 0, Fate::kUsual},
    {"event_query", "cuEventQuery", "hipEventQuery", 0, Fate::kUsual},
    {"event_synchronize", "cuEventQuery", "hipEventQuery", 0, Fate::kUsual},
    {"stream_query", "cuStreamQuery", "hipStreamQuery", 0, Fate::kUsual},
    {"shutdown", "*", "*", 0, Fate::kRecorded},
    {"stream_synchronize", "*", "*", 0, Fate::kUsual},
    {"graph_launch", "*", "*", 0, Fate::kUsual},
    {"*", "cuEventCreate", "hipEventCreateWithFlags", 0, Fate::kRecorded},
    {"*", "cuEventRecord", "hipEventRecord", 0, Fate::kRecorded},
    {"*", "cuEventQuery", "hipEventQuery", 0, Fate::kRecorded},
    {"*", "cuStreamQuery", "hipStreamQuery", 0, Fate::kEither},
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

Fate fate_of(const Call &call, const std::string &function, const FaultCode &code) {
  Fate fate = Fate::kUsual;
  for (const Rule &rule : kRules) {
    const bool slot = std::strcmp(rule.slot, "*") == 0 || std::strcmp(rule.slot, call.slot) == 0;
    const char *const named = pick(rule.cuda, rule.hip);
    const bool fits = std::strcmp(named, "*") == 0 || function == named;
    if (!slot || !fits || (rule.code != 0 && rule.code != code.code)) continue;
    fate = rule.fate;
    break;
  }
  if (fate == Fate::kUsual) return is_among(kSilent, call.slot) ? Fate::kRecorded : Fate::kReported;
  // If the driver rejects the excerpt for one kernel, the plugin loads the complete text.
  if (fate == Fate::kNextImage && std::strcmp(call.slot, "kernel_get") == 0) {
    return Fate::kUnnoticed;
  }
  if (fate == Fate::kNextImage) return GUFUNC_TEST_IMAGES > 1 ? Fate::kUnnoticed : Fate::kReported;
  if (fate == Fate::kReportedIfLost) return code.lost ? Fate::kReported : Fate::kUnnoticed;
  return fate;
}

std::string text_of(const Call &call) {
  char text[300];
  std::snprintf(text, sizeof(text), "%s gave %d, code %d, '%s'", call.slot, call.status,
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

// Returns the code with the status that the plugin must report. If a stream or context of the
// program is destroyed, the status is GUF_E_HANDLE, and the device is not lost.
FaultCode expected_code(const Trial &run, size_t injected, const FaultCode &code) {
  const std::vector<Call> &calls = run.calls();
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

bool is_reported(const Call &call, guf_status status, const FaultCode &code) {
  const std::string number = "(" + std::to_string(code.code) + ")";
  return call.status == status && call.native_code == code.code &&
         std::strstr(call.message, number.c_str()) != nullptr;
}

bool is_loss_report(const Call &call, const FaultCode &code) {
  return is_reported(call, GUF_E_DEVICE_LOST, code);
}

bool reports_device_loss(const char *slot) {
  return !is_among(kSilent, slot) && !is_among(kNotReportingLoss, slot);
}

// A successful call must leave the error record unchanged.
bool is_silent_success(const Call &call) {
  return call.status == GUF_OK && call.native_code == 0 && call.message[0] == '\0';
}

// Checks the calls after the failing call. If `lost`, calls on the failed device must report the
// loss of the device. All other calls must succeed.
std::string judge_rest(const Trial &run, size_t injected, bool lost, const FaultCode &code) {
  const void *const device = run.calls()[injected].device;
  for (size_t i = injected + 1; i < run.calls().size(); ++i) {
    const Call &call = run.calls()[i];
    const bool lost_here = lost && call.device == device && reports_device_loss(call.slot);
    const bool fine = lost_here ? is_loss_report(call, code) : is_silent_success(call);
    if (!fine) return "later " + text_of(call) + (lost_here ? ", of a lost device" : "");
  }
  return "";
}

std::string compare(const Trial &clean, const Trial &run, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    if (i >= clean.calls().size() || i >= run.calls().size()) return "another number of calls";
    const Call &expected = clean.calls()[i], &found = run.calls()[i];
    if (std::strcmp(expected.slot, found.slot) != 0 || expected.status != found.status ||
        !is_silent_success(found)) {
      return "unlike without a fault, " + text_of(found);
    }
  }
  return "";
}

// Checks the calls from `first` on after a failure that made one or more devices unusable. Each
// call must succeed or report the loss of its device. After the first report for a device, all
// further calls on the device must report the loss, and allocations on `requested` must report it
// even before. Slots that cannot report a loss are exempt.
std::string judge_lost(const Trial &run, size_t first, const void *requested, const FaultCode &code,
                       std::set<const void *> *out_lost) {
  for (size_t i = first; i < run.calls().size(); ++i) {
    const Call &call = run.calls()[i];
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
  const Call &first = run.calls()[injected];
  std::set<const void *> lost;
  const FaultCode meant = expected_code(run, injected, code);
  if (!meant.lost) {
    return is_reported(first, meant.status, meant)
               ? judge_lost(run, injected + 1, nullptr, code, &lost)
               : "sticky: " + text_of(first);
  }
  if (fate_of(first, run.fault().function, code) == Fate::kOpen) return "";
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
  const Call &call = run.calls()[injected];
  if (run.fault().sticky) return judge_sticky(run, injected, fault);
  const FaultCode code = expected_code(run, injected, fault);
  const Fate fate = fate_of(call, run.fault().function, fault);
  if (fate == Fate::kNotReady) {
    if (call.status != GUF_NOT_READY) return "not answered: " + text_of(call);
    return judge_rest(run, injected, false, code);
  }
  const bool may_report = fate == Fate::kReported || fate == Fate::kEither || fate == Fate::kOpen;
  if (may_report && is_reported(call, status_of(run.fault().function, code), code)) {
    return judge_rest(run, injected, code.lost && call.device != nullptr, code);
  }
  const bool goes_on =
      injected < clean.calls().size() && call.status == clean.calls()[injected].status;
  if (fate == Fate::kOpen && call.status == GUF_E_NO_IMAGE) return "";
  if (!goes_on || fate == Fate::kReported) return text_of(call);
  if (fate == Fate::kOpen) return "";
  const std::string lost = judge_rest(run, injected, true, code);
  if (code.lost && fate == Fate::kRecorded) return lost;
  if (code.lost && fate == Fate::kEither && lost.empty()) return "";
  return compare(clean, run, injected, std::max(clean.calls().size(), run.calls().size()));
}

std::string judge_late(const Trial &run, const FaultCode &code, bool must_report) {
  std::set<const void *> lost;
  const std::string wrong = judge_lost(run, 0, nullptr, code, &lost);
  return wrong.empty() && must_report && lost.empty() ? "no call reported the failure" : wrong;
}

}  // namespace gufunc::gpu_test
