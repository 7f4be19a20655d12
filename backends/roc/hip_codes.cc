// SPDX-License-Identifier: Apache-2.0
// A code after which HIP refuses everything on the device marks it as lost. A page fault never gets
// here: the runtime ends the process.
#include "backends/roc/hip_codes.h"

#include <algorithm>

namespace gufunc::roc {
namespace {

using gpu::Sense;

constexpr gpu::Meaning kHipCodes[] = {
    {0, GUF_OK, Sense::kPlain, "hipSuccess"},
    {1, GUF_E_ARG, Sense::kValue, "hipErrorInvalidValue"},
    {2, GUF_E_DEVICE_MEMORY, Sense::kNoMemory, "hipErrorOutOfMemory"},
    {3, GUF_E_NO_DRIVER, Sense::kPlain, "hipErrorNotInitialized"},
    {4, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorDeinitialized"},
    {5, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorProfilerDisabled"},
    {6, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorProfilerNotInitialized"},
    {7, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorProfilerAlreadyStarted"},
    {8, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorProfilerAlreadyStopped"},
    {9, GUF_E_LAUNCH, Sense::kPlain, "hipErrorInvalidConfiguration"},
    {12, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidPitchValue"},
    {13, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidSymbol"},
    {17, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidDevicePointer"},
    {21, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidMemcpyDirection"},
    {35, GUF_E_DRIVER_OLD, Sense::kPlain, "hipErrorInsufficientDriver"},
    {52, GUF_E_LAUNCH, Sense::kPlain, "hipErrorMissingConfiguration"},
    {53, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorPriorLaunchFailure"},
    {98, GUF_E_NO_IMAGE, Sense::kNoImage, "hipErrorInvalidDeviceFunction"},
    {100, GUF_E_NO_DEVICE, Sense::kPlain, "hipErrorNoDevice"},
    {101, GUF_E_NO_DEVICE, Sense::kPlain, "hipErrorInvalidDevice"},
    {200, GUF_E_NO_IMAGE, Sense::kNoImage, "hipErrorInvalidImage"},
    {201, GUF_E_HANDLE, Sense::kPlain, "hipErrorInvalidContext"},
    {202, GUF_E_ARG, Sense::kPlain, "hipErrorContextAlreadyCurrent"},
    {205, GUF_E_DEVICE_MEMORY, Sense::kPlain, "hipErrorMapFailed"},
    {206, GUF_E_LAUNCH, Sense::kPlain, "hipErrorUnmapFailed"},
    {207, GUF_E_ARG, Sense::kPlain, "hipErrorArrayIsMapped"},
    {208, GUF_E_ARG, Sense::kPlain, "hipErrorAlreadyMapped"},
    {209, GUF_E_NO_IMAGE, Sense::kNoImage, "hipErrorNoBinaryForGpu"},
    {210, GUF_E_ARG, Sense::kPlain, "hipErrorAlreadyAcquired"},
    {211, GUF_E_ARG, Sense::kPlain, "hipErrorNotMapped"},
    {212, GUF_E_ARG, Sense::kPlain, "hipErrorNotMappedAsArray"},
    {213, GUF_E_ARG, Sense::kPlain, "hipErrorNotMappedAsPointer"},
    {214, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorECCNotCorrectable"},
    {215, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorUnsupportedLimit"},
    {216, GUF_E_ARG, Sense::kPlain, "hipErrorContextAlreadyInUse"},
    {217, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorPeerAccessUnsupported"},
    {218, GUF_E_NO_IMAGE, Sense::kNoImage, "hipErrorInvalidKernelFile"},
    {219, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorInvalidGraphicsContext"},
    {300, GUF_E_NO_IMAGE, Sense::kNoImage, "hipErrorInvalidSource"},
    {301, GUF_E_IO, Sense::kPlain, "hipErrorFileNotFound"},
    {302, GUF_E_NO_DRIVER, Sense::kPlain, "hipErrorSharedObjectSymbolNotFound"},
    {303, GUF_E_NO_DRIVER, Sense::kPlain, "hipErrorSharedObjectInitFailed"},
    {304, GUF_E_IO, Sense::kPlain, "hipErrorOperatingSystem"},
    {400, GUF_E_HANDLE, Sense::kPlain, "hipErrorInvalidHandle"},
    {401, GUF_E_LAUNCH, Sense::kPlain, "hipErrorIllegalState"},
    {500, GUF_E_NOT_FOUND, Sense::kNotFound, "hipErrorNotFound"},
    {600, GUF_NOT_READY, Sense::kNotReady, "hipErrorNotReady"},
    {700, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorIllegalAddress"},
    {701, GUF_E_LAUNCH, Sense::kPlain, "hipErrorLaunchOutOfResources"},
    {702, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorLaunchTimeOut"},
    {704, GUF_E_EXISTS, Sense::kEnabled, "hipErrorPeerAccessAlreadyEnabled"},
    {705, GUF_E_DEVICE_MISMATCH, Sense::kPlain, "hipErrorPeerAccessNotEnabled"},
    {708, GUF_E_EXISTS, Sense::kPlain, "hipErrorSetOnActiveProcess"},
    {709, GUF_E_DEVICE_LOST, Sense::kGone, "hipErrorContextIsDestroyed"},
    {710, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorAssert"},
    {712, GUF_E_EXISTS, Sense::kPlain, "hipErrorHostMemoryAlreadyRegistered"},
    {713, GUF_E_ARG, Sense::kPlain, "hipErrorHostMemoryNotRegistered"},
    {719, GUF_E_DEVICE_LOST, Sense::kLost, "hipErrorLaunchFailure"},
    {720, GUF_E_LAUNCH, Sense::kPlain, "hipErrorCooperativeLaunchTooLarge"},
    {801, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorNotSupported"},
    {900, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureUnsupported"},
    {901, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureInvalidated"},
    {902, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureMerge"},
    {903, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureUnmatched"},
    {904, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureUnjoined"},
    {905, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureIsolation"},
    {906, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureImplicit"},
    {907, GUF_E_CAPTURE, Sense::kPlain, "hipErrorCapturedEvent"},
    {908, GUF_E_CAPTURE, Sense::kPlain, "hipErrorStreamCaptureWrongThread"},
    {910, GUF_E_UNSUPPORTED, Sense::kPlain, "hipErrorGraphExecUpdateFailure"},
    {911, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidChannelDescriptor"},
    {912, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidTexture"},
    {914, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidResourceType"},
    {915, GUF_E_ARG, Sense::kPlain, "hipErrorInvalidResourceConfiguration"},
    {916, GUF_E_LAUNCH, Sense::kPlain, "hipErrorStreamDetached"},
    {999, GUF_E_LAUNCH, Sense::kPlain, "hipErrorUnknown"},
    {1052, GUF_E_DEVICE_MEMORY, Sense::kPlain, "hipErrorRuntimeMemory"},
    {1053, GUF_E_LAUNCH, Sense::kPlain, "hipErrorRuntimeOther"},
    {1054, GUF_E_LAUNCH, Sense::kPlain, "hipErrorTbd"},
};
constexpr gpu::Meaning kLaterCode = {-1, GUF_E_LAUNCH, Sense::kPlain, "a code of a later HIP"};

}  // namespace

std::span<const gpu::Meaning> hip_codes() {
  return kHipCodes;
}

const gpu::Meaning &hip_meaning(gpu::Code code) {
  const auto found = std::ranges::lower_bound(kHipCodes, code, {}, &gpu::Meaning::code);
  if (found == std::end(kHipCodes) || found->code != code) return kLaterCode;
  return *found;
}

}  // namespace gufunc::roc
