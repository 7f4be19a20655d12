// SPDX-License-Identifier: Apache-2.0
// A target is a word, followed by a number of two or three digits and an optional letter.
// The last digit is the minor version.
#include "backends/cuda/cuda_target.h"

#include <gufunc/module_table.h>

#include <cstring>

namespace gufunc::cuda {
namespace {

struct Target {
  int major = 0, minor = 0;
  char variant = '\0';  // 'a': runs only on this version; 'f': runs on its family
};

bool parse(const char *text, const char *word, Target *out) {
  const size_t length = std::strlen(word);
  if (std::strncmp(text, word, length) != 0) return false;
  const char *digit = text + length;
  int number = 0, count = 0;
  for (; *digit >= '0' && *digit <= '9' && count < 4; ++digit, ++count) {
    number = number * 10 + (*digit - '0');
  }
  if (count < 2 || count > 3) return false;
  out->major = number / 10;
  out->minor = number % 10;
  out->variant = *digit;
  if (*digit == 'a' || *digit == 'f') ++digit;
  return *digit == '\0';
}

}  // namespace

int32_t score_target(const char *device_target, int32_t format, const char *image_target) {
  constexpr int32_t kMachineCode = 10000, kExact = 500;
  Target device, image;
  if (!parse(device_target, "sm_", &device)) return 0;
  if (format == GUF_IMAGE_CUBIN && parse(image_target, "sm_", &image)) {
    const bool same = image.major == device.major && image.minor == device.minor;
    if (image.variant == 'a') return same ? kMachineCode + kExact : 0;
    if (image.major != device.major || image.minor > device.minor) return 0;
    return kMachineCode + image.minor;
  }
  if (format != GUF_IMAGE_PTX) return 0;
  if (!parse(image_target, "ptx_", &image) && !parse(image_target, "compute_", &image) &&
      !parse(image_target, "sm_", &image)) {
    return 0;
  }
  const int requested = image.major * 10 + image.minor, has = device.major * 10 + device.minor;
  if (image.variant == 'a') return requested == has ? requested : 0;
  if (image.variant == 'f' && image.major != device.major) return 0;
  return requested <= has ? requested : 0;
}

}  // namespace gufunc::cuda
