// SPDX-License-Identifier: Apache-2.0
// Defines the names of result codes, and the vendor-specific properties of this driver.
#include <utility>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_symbols.h"

namespace {

struct Name {
  int code;
  const char *name;
};
constexpr Name kNames[] = {
    {0, "hipSuccess"},
    {1, "hipErrorInvalidValue"},
    {2, "hipErrorOutOfMemory"},
    {3, "hipErrorNotInitialized"},
    {4, "hipErrorDeinitialized"},
    {5, "hipErrorProfilerDisabled"},
    {6, "hipErrorProfilerNotInitialized"},
    {7, "hipErrorProfilerAlreadyStarted"},
    {8, "hipErrorProfilerAlreadyStopped"},
    {9, "hipErrorInvalidConfiguration"},
    {12, "hipErrorInvalidPitchValue"},
    {13, "hipErrorInvalidSymbol"},
    {17, "hipErrorInvalidDevicePointer"},
    {21, "hipErrorInvalidMemcpyDirection"},
    {35, "hipErrorInsufficientDriver"},
    {52, "hipErrorMissingConfiguration"},
    {53, "hipErrorPriorLaunchFailure"},
    {98, "hipErrorInvalidDeviceFunction"},
    {100, "hipErrorNoDevice"},
    {101, "hipErrorInvalidDevice"},
    {200, "hipErrorInvalidImage"},
    {201, "hipErrorInvalidContext"},
    {202, "hipErrorContextAlreadyCurrent"},
    {205, "hipErrorMapFailed"},
    {206, "hipErrorUnmapFailed"},
    {207, "hipErrorArrayIsMapped"},
    {208, "hipErrorAlreadyMapped"},
    {209, "hipErrorNoBinaryForGpu"},
    {210, "hipErrorAlreadyAcquired"},
    {211, "hipErrorNotMapped"},
    {212, "hipErrorNotMappedAsArray"},
    {213, "hipErrorNotMappedAsPointer"},
    {214, "hipErrorECCNotCorrectable"},
    {215, "hipErrorUnsupportedLimit"},
    {216, "hipErrorContextAlreadyInUse"},
    {217, "hipErrorPeerAccessUnsupported"},
    {218, "hipErrorInvalidKernelFile"},
    {219, "hipErrorInvalidGraphicsContext"},
    {300, "hipErrorInvalidSource"},
    {301, "hipErrorFileNotFound"},
    {302, "hipErrorSharedObjectSymbolNotFound"},
    {303, "hipErrorSharedObjectInitFailed"},
    {304, "hipErrorOperatingSystem"},
    {400, "hipErrorInvalidHandle"},
    {401, "hipErrorIllegalState"},
    {500, "hipErrorNotFound"},
    {600, "hipErrorNotReady"},
    {700, "hipErrorIllegalAddress"},
    {701, "hipErrorLaunchOutOfResources"},
    {702, "hipErrorLaunchTimeOut"},
    {704, "hipErrorPeerAccessAlreadyEnabled"},
    {705, "hipErrorPeerAccessNotEnabled"},
    {708, "hipErrorSetOnActiveProcess"},
    {709, "hipErrorContextIsDestroyed"},
    {710, "hipErrorAssert"},
    {712, "hipErrorHostMemoryAlreadyRegistered"},
    {713, "hipErrorHostMemoryNotRegistered"},
    {719, "hipErrorLaunchFailure"},
    {720, "hipErrorCooperativeLaunchTooLarge"},
    {801, "hipErrorNotSupported"},
    {900, "hipErrorStreamCaptureUnsupported"},
    {901, "hipErrorStreamCaptureInvalidated"},
    {902, "hipErrorStreamCaptureMerge"},
    {903, "hipErrorStreamCaptureUnmatched"},
    {904, "hipErrorStreamCaptureUnjoined"},
    {905, "hipErrorStreamCaptureIsolation"},
    {906, "hipErrorStreamCaptureImplicit"},
    {907, "hipErrorCapturedEvent"},
    {908, "hipErrorStreamCaptureWrongThread"},
    {910, "hipErrorGraphExecUpdateFailure"},
    {911, "hipErrorInvalidChannelDescriptor"},
    {912, "hipErrorInvalidTexture"},
    {999, "hipErrorUnknown"},
    {1052, "hipErrorRuntimeMemory"},
    {1053, "hipErrorRuntimeOther"},
};

const char *name_of(int code) {
  for (const Name &one : kNames) {
    if (one.code == code) return one.name;
  }
  return "hipErrorUnknown";
}

}  // namespace

namespace sim {

void describe_driver(Driver &driver) {
  driver.default_arch = "gfx942:sramecc+:xnack-";
  driver.newest_version = 60443484;  // 6.4.43484
  driver.implicit_context = true;
}

const std::vector<Introduced> &introduced_functions() {
  static const std::vector<Introduced> all = {
      {"hipDeviceGetDefaultMemPool", 50200000},
      {"hipFreeAsync", 50200000},
      {"hipGetDevicePropertiesR0600", 60000000},
      {"hipLaunchHostFunc", 50300000},
      {"hipMallocAsync", 50200000},
      {"hipMallocFromPoolAsync", 50200000},
      {"hipMemPoolCreate", 50200000},
      {"hipMemPoolDestroy", 50200000},
      {"hipMemPoolGetAccess", 50200000},
      {"hipMemPoolGetAttribute", 50200000},
      {"hipMemPoolSetAccess", 50200000},
      {"hipMemPoolSetAttribute", 50200000},
      {"hipMemPoolTrimTo", 50200000},
      {"hipStreamGetDevice", 50600000},
      {"hipThreadExchangeStreamCaptureMode", 50200000},
  };
  return all;
}

}  // namespace sim

SIM_EXPORT const char *hipGetErrorName(int code) {
  return name_of(code);
}

SIM_EXPORT const char *hipGetErrorString(int code) {
  return name_of(code);
}

// Returns and clears the last error of this thread.
SIM_EXPORT int hipGetLastError(void) {
  const int failure = std::exchange(sim::last_failure(), 0);
  static sim::Site site("hipGetLastError", sim::kAnyTime);
  site.call([](sim::Driver &, sim::Lock &) { return static_cast<int>(sim::kSuccess); });
  return failure;
}
