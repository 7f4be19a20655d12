// SPDX-License-Identifier: Apache-2.0
// Owners of DLPack tensors, and the streams with which a DLPack exchange synchronizes.
#ifndef GUFUNC_CPP_DLPACK_HPP
#define GUFUNC_CPP_DLPACK_HPP

#include <gufunc/dlpack.h>
#include <gufunc/cpp/stream.hpp>

#include <utility>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// Owns a DLPack tensor. The tensor is deleted by the destructor of this object, by
// Array::from_dlpack, which takes ownership, or by the caller of release_versioned or
// release_unversioned. Pointers of other libraries to DLManagedTensorVersioned and DLManagedTensor
// can be cast to pointers to guf_dlpack and guf_dlpack_unversioned. The tensor's deleter may run on
// any thread.
class DlpackTensor {
 public:
  DlpackTensor() = default;
  explicit DlpackTensor(guf_dlpack *taken) noexcept : versioned_(taken) {}
  explicit DlpackTensor(guf_dlpack_unversioned *taken) noexcept : unversioned_(taken) {}
  DlpackTensor(DlpackTensor &&other) noexcept
      : versioned_(other.release_versioned()), unversioned_(other.release_unversioned()) {}
  DlpackTensor &operator=(DlpackTensor &&other) noexcept {
    DlpackTensor taken(std::move(other));
    std::swap(versioned_, taken.versioned_);
    std::swap(unversioned_, taken.unversioned_);
    return *this;
  }
  DlpackTensor(const DlpackTensor &) = delete;
  DlpackTensor &operator=(const DlpackTensor &) = delete;
  ~DlpackTensor() {
    if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
    if (unversioned_ != nullptr && unversioned_->deleter != nullptr)
      unversioned_->deleter(unversioned_);
  }

  explicit operator bool() const noexcept {
    return versioned_ != nullptr || unversioned_ != nullptr;
  }
  // These functions return NULL if no tensor of their kind is owned.
  const guf_dlpack *versioned() const noexcept { return versioned_; }
  const guf_dlpack_unversioned *unversioned() const noexcept { return unversioned_; }
  // Returns the pointer and transfers ownership of the tensor to the caller.
  guf_dlpack *release_versioned() noexcept { return std::exchange(versioned_, nullptr); }
  guf_dlpack_unversioned *release_unversioned() noexcept {
    return std::exchange(unversioned_, nullptr);
  }
  // Always false for an unversioned tensor, which has no flags.
  bool is_read_only() const noexcept { return has(GUF_DLPACK_READ_ONLY); }
  // Whether the memory is a copy for the exclusive use of the consumer.
  bool is_copied() const noexcept { return has(GUF_DLPACK_IS_COPIED); }

 private:
  bool has(uint64_t flag) const noexcept {
    return versioned_ != nullptr && versioned_->major == 1 && (versioned_->flags & flag) != 0;
  }
  guf_dlpack *versioned_ = nullptr;
  guf_dlpack_unversioned *unversioned_ = nullptr;
};

// The stream with which a DLPack exchange synchronizes: a stream of the array's device, or one of
// the vendor's default streams, which have no guf_stream. A default-constructed DlpackStream means
// that no stream waits, which is required for host memory.
class DlpackStream {
 public:
  DlpackStream() = default;
  DlpackStream(guf_stream stream) noexcept : stream_(stream) {}
  DlpackStream(const Stream &stream) noexcept : stream_(stream.get()) {}
  // The vendor's default stream.
  static DlpackStream legacy() noexcept { return DlpackStream(GUF_DLPACK_LEGACY_STREAM); }
  // The vendor's default stream of the calling thread.
  static DlpackStream per_thread() noexcept { return DlpackStream(GUF_DLPACK_PER_THREAD_STREAM); }
  guf_stream get() const noexcept { return stream_; }
  uint32_t flags() const noexcept { return flags_; }

 private:
  explicit DlpackStream(guf_dlpack_flag flag) noexcept : flags_(flag) {}
  guf_stream stream_ = nullptr;
  uint32_t flags_ = 0;
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_DLPACK_HPP
