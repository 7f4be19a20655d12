// SPDX-License-Identifier: Apache-2.0
// Images that a device's driver refused to run: they score 0 from then on, so that whoever asks
// again gets the next best (PTX behind a cubin, say).
#ifndef GUFUNC_BACKENDS_GPU_REFUSED_IMAGES_H
#define GUFUNC_BACKENDS_GPU_REFUSED_IMAGES_H

#include <cstdint>
#include <cstring>
#include <mutex>

namespace gufunc::gpu {

class RefusedImages {
 public:
  void add(int32_t format, const char *target) {
    const std::lock_guard lock(mutex_);
    if (count_ == kMost || knows(format, target)) return;
    Row &row = rows_[count_++];
    row.format = format;
    std::memset(row.target, 0, sizeof(row.target));
    std::memcpy(row.target, target, strnlen(target, sizeof(row.target) - 1));
  }
  bool has(int32_t format, const char *target) {
    const std::lock_guard lock(mutex_);
    return knows(format, target);
  }

 private:
  static constexpr int kMost = 16;  // a module has fewer targets that one device could run
  struct Row {
    int32_t format;
    char target[64];
  };

  bool knows(int32_t format, const char *target) const {
    for (int i = 0; i < count_; ++i) {
      if (rows_[i].format == format && std::strcmp(rows_[i].target, target) == 0) return true;
    }
    return false;
  }

  std::mutex mutex_;
  Row rows_[kMost];
  int count_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_REFUSED_IMAGES_H
