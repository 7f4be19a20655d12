// SPDX-License-Identifier: Apache-2.0
// A code marks the device as lost if HIP refuses all calls for the device after a call has returned
// this code. A page fault has no code, because the runtime ends the process.
#include "backends/roc/hip_codes.h"

#include <algorithm>

namespace gufunc::roc {
namespace {

using gpu::ErrorKind;

constexpr gpu::ErrorInfo kHipCodes[] = {
    {0, GUF_OK, ErrorKind::kPlain, "hipSuccess"},
    {1, GUF_E_ARG, ErrorKind::kValue, "hipErrorInvalidValue"},
    {2, GUF_E_DEVICE_MEMORY, ErrorKind::kNoMemory, "hipErrorOutOfMemory"},
    {3, GUF_E_NO_DRIVER, ErrorKind::kPlain, "hipErrorNotInitialized"},
    {4, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorDeinitialized"},
    {5, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorProfilerDisabled"},
    {6, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorProfilerNotInitialized"},
    {7, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorProfilerAlreadyStarted"},
    {8, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorProfilerAlreadyStopped"},
    {9, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorInvalidConfiguration"},
    {12, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidPitchValue"},
    {13, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidSymbol"},
    {17, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidDevicePointer"},
    {21, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidMemcpyDirection"},
    {35, GUF_E_DRIVER_OLD, ErrorKind::kPlain, "hipErrorInsufficientDriver"},
    {52, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorMissingConfiguration"},
    {53, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorPriorLaunchFailure"},
    {98, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "hipErrorInvalidDeviceFunction"},
    {100, GUF_E_NO_DEVICE, ErrorKind::kPlain, "hipErrorNoDevice"},
    {101, GUF_E_NO_DEVICE, ErrorKind::kPlain, "hipErrorInvalidDevice"},
    {200, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "hipErrorInvalidImage"},
    {201, GUF_E_HANDLE, ErrorKind::kPlain, "hipErrorInvalidContext"},
    {202, GUF_E_ARG, ErrorKind::kPlain, "hipErrorContextAlreadyCurrent"},
    {205, GUF_E_DEVICE_MEMORY, ErrorKind::kPlain, "hipErrorMapFailed"},
    {206, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorUnmapFailed"},
    {207, GUF_E_ARG, ErrorKind::kPlain, "hipErrorArrayIsMapped"},
    {208, GUF_E_ARG, ErrorKind::kPlain, "hipErrorAlreadyMapped"},
    {209, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "hipErrorNoBinaryForGpu"},
    {210, GUF_E_ARG, ErrorKind::kPlain, "hipErrorAlreadyAcquired"},
    {211, GUF_E_ARG, ErrorKind::kPlain, "hipErrorNotMapped"},
    {212, GUF_E_ARG, ErrorKind::kPlain, "hipErrorNotMappedAsArray"},
    {213, GUF_E_ARG, ErrorKind::kPlain, "hipErrorNotMappedAsPointer"},
    {214, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorECCNotCorrectable"},
    {215, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorUnsupportedLimit"},
    {216, GUF_E_ARG, ErrorKind::kPlain, "hipErrorContextAlreadyInUse"},
    {217, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorPeerAccessUnsupported"},
    {218, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "hipErrorInvalidKernelFile"},
    {219, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorInvalidGraphicsContext"},
    {300, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "hipErrorInvalidSource"},
    {301, GUF_E_IO, ErrorKind::kPlain, "hipErrorFileNotFound"},
    {302, GUF_E_NO_DRIVER, ErrorKind::kPlain, "hipErrorSharedObjectSymbolNotFound"},
    {303, GUF_E_NO_DRIVER, ErrorKind::kPlain, "hipErrorSharedObjectInitFailed"},
    {304, GUF_E_IO, ErrorKind::kPlain, "hipErrorOperatingSystem"},
    {400, GUF_E_HANDLE, ErrorKind::kPlain, "hipErrorInvalidHandle"},
    {401, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorIllegalState"},
    {500, GUF_E_NOT_FOUND, ErrorKind::kNotFound, "hipErrorNotFound"},
    {600, GUF_NOT_READY, ErrorKind::kNotReady, "hipErrorNotReady"},
    {700, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorIllegalAddress"},
    {701, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorLaunchOutOfResources"},
    {702, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorLaunchTimeOut"},
    {704, GUF_E_EXISTS, ErrorKind::kEnabled, "hipErrorPeerAccessAlreadyEnabled"},
    {705, GUF_E_DEVICE_MISMATCH, ErrorKind::kPlain, "hipErrorPeerAccessNotEnabled"},
    {708, GUF_E_EXISTS, ErrorKind::kPlain, "hipErrorSetOnActiveProcess"},
    {709, GUF_E_DEVICE_LOST, ErrorKind::kGone, "hipErrorContextIsDestroyed"},
    {710, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorAssert"},
    {712, GUF_E_EXISTS, ErrorKind::kPlain, "hipErrorHostMemoryAlreadyRegistered"},
    {713, GUF_E_ARG, ErrorKind::kPlain, "hipErrorHostMemoryNotRegistered"},
    {719, GUF_E_DEVICE_LOST, ErrorKind::kLost, "hipErrorLaunchFailure"},
    {720, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorCooperativeLaunchTooLarge"},
    {801, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorNotSupported"},
    {900, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureUnsupported"},
    {901, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureInvalidated"},
    {902, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureMerge"},
    {903, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureUnmatched"},
    {904, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureUnjoined"},
    {905, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureIsolation"},
    {906, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureImplicit"},
    {907, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorCapturedEvent"},
    {908, GUF_E_CAPTURE, ErrorKind::kPlain, "hipErrorStreamCaptureWrongThread"},
    {910, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "hipErrorGraphExecUpdateFailure"},
    {911, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidChannelDescriptor"},
    {912, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidTexture"},
    {914, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidResourceType"},
    {915, GUF_E_ARG, ErrorKind::kPlain, "hipErrorInvalidResourceConfiguration"},
    {916, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorStreamDetached"},
    {999, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorUnknown"},
    {1052, GUF_E_DEVICE_MEMORY, ErrorKind::kPlain, "hipErrorRuntimeMemory"},
    {1053, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorRuntimeOther"},
    {1054, GUF_E_LAUNCH, ErrorKind::kPlain, "hipErrorTbd"},
};
constexpr gpu::ErrorInfo kLaterCode = {-1, GUF_E_LAUNCH, ErrorKind::kPlain,
                                       "an error code of a later HIP"};

}  // namespace

std::span<const gpu::ErrorInfo> hip_codes() {
  return kHipCodes;
}

const gpu::ErrorInfo &hip_error_info(gpu::Code code) {
  const auto found = std::ranges::lower_bound(kHipCodes, code, {}, &gpu::ErrorInfo::code);
  if (found == std::end(kHipCodes) || found->code != code) return kLaterCode;
  return *found;
}

}  // namespace gufunc::roc
