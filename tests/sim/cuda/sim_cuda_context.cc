// SPDX-License-Identifier: Apache-2.0
// Implements contexts: primary contexts are reference-counted, and each thread has a context stack.
#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"

using sim::Context;
using sim::kSuccess;

SIM_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  SIM_CALL(cuDevicePrimaryCtxRetain, 0) {
    if (context == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *context = retain_primary(driver, device)->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  SIM_CALL(cuDevicePrimaryCtxRelease_v2, sim::kReleases) {
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    const std::shared_ptr<Context> primary = driver.devices[static_cast<size_t>(device)].primary;
    if (primary == nullptr) return sim::kInvalidContext;
    if (--primary->references == 0) destroy_context(driver, lock, primary);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxCreate_v2(void **context, unsigned, int device) {
  SIM_CALL(cuCtxCreate_v2, 0) {
    if (context == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *context = make_context(driver, device, false)->handle;
    sim::context_stack().push_back(*context);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxDestroy_v2(void *context) {
  SIM_CALL(cuCtxDestroy_v2, sim::kReleases) {
    const std::shared_ptr<Context> found = driver.contexts.find(context);
    if (found == nullptr || found->primary) return sim::kInvalidContext;
    destroy_context(driver, lock, found);
    auto &stack = sim::context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxPushCurrent_v2(void *context) {
  SIM_CALL(cuCtxPushCurrent_v2, 0) {
    if (driver.contexts.find(context) == nullptr) return sim::kInvalidContext;
    sim::context_stack().push_back(context);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxPopCurrent_v2(void **context) {
  SIM_CALL(cuCtxPopCurrent_v2, sim::kReleases) {
    auto &stack = sim::context_stack();
    if (stack.empty()) return sim::kInvalidContext;
    if (context != nullptr) *context = stack.back();
    stack.pop_back();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxGetCurrent(void **context) {
  SIM_CALL(cuCtxGetCurrent, 0) {
    if (context == nullptr) return sim::kInvalidValue;
    const auto &stack = sim::context_stack();
    *context = stack.empty() ? nullptr : stack.back();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxSetCurrent(void *context) {
  SIM_CALL(cuCtxSetCurrent, 0) {
    auto &stack = sim::context_stack();
    if (context != nullptr && driver.contexts.find(context) == nullptr) {
      return sim::kInvalidContext;
    }
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxGetDevice(int *device) {
  SIM_CALL(cuCtxGetDevice, 0) {
    if (device == nullptr) return sim::kInvalidValue;
    const Context *current = current_context(driver);
    if (current == nullptr) return sim::kInvalidContext;
    *device = current->device;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxSynchronize(void) {
  SIM_CALL(cuCtxSynchronize, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    return code != kSuccess ? code : synchronize_context(driver, lock, *current);
  }
  SIM_END;
}

SIM_EXPORT int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
  SIM_CALL(cuCtxEnablePeerAccess, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (flags != 0) return sim::kInvalidValue;
    const std::shared_ptr<Context> found = driver.contexts.find(peer);
    if (found == nullptr) return sim::kInvalidContext;
    if (found->device == current->device) return sim::kInvalidDevice;
    return current->peers.insert(found.get()).second ? kSuccess : sim::kPeerAlreadyEnabled;
  }
  SIM_END;
}
