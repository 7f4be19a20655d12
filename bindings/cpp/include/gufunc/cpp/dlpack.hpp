// SPDX-License-Identifier: Apache-2.0
// Owners of DLPack tensors, and the streams with which a DLPack exchange synchronizes.
#ifndef GUFUNC_CPP_DLPACK_HPP
#define GUFUNC_CPP_DLPACK_HPP

#include <gufunc/dlpack.h>
#include <gufunc/cpp/stream.hpp>

#include <utility>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// Owns a DLPack tensor, which the destructor deletes. Array::from_dlpack transfers the ownership to
// an array, and release_versioned and release_unversioned transfer it to the caller. Pointers of
// other libraries to DLManagedTensorVersioned and DLManagedTensor can be cast to pointers to
// guf_dlpack and guf_dlpack_unversioned. The tensor's deleter may run on any thread.
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
  // Each function returns NULL if this object owns no tensor of that kind.
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

// The stream on which the other library produces or reads the values of an exchanged array: a
// stream of the array's device, or one of the vendor's default streams, which have no guf_stream. A
// default-constructed DlpackStream means that no stream waits. For host memory, it is the only
// value that is allowed.
class DlpackStream {
 public:
  DlpackStream() = default;
  DlpackStream(guf_stream stream) noexcept : stream_(stream) {}
  DlpackStream(const Stream &stream) noexcept : stream_(stream.get()) {}
  // The vendor's default stream, which all threads share.
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
