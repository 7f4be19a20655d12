// SPDX-License-Identifier: Apache-2.0
// Tensors of other libraries with every field open: dimensions below 0, strides of NULL, types of 0
// bits, extents whose product overflows. The deleter runs once in every case, and what is accepted
// can be looked at and given on. No element is touched: the memory is not there.
#include <gufunc/dlpack.h>
#include <gufunc/gufunc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

int deletions = 0;

void count_versioned(guf_dlpack *) {
  ++deletions;
}
void count_unversioned(guf_dlpack_unversioned *) {
  ++deletions;
}

// Reads fields one after the other; zeros behind the end.
class Reader {
 public:
  Reader(const uint8_t *data, size_t size) : data_(data), size_(size) {}
  template <class T>
  T take() {
    T value = {};
    const size_t n = std::min(sizeof value, size_);
    std::memcpy(&value, data_, n);
    data_ += n;
    size_ -= n;
    return value;
  }

 private:
  const uint8_t *data_;
  size_t size_;
};

// As many numbers as the tensor may have dimensions, exactly: AddressSanitizer sees the next.
std::unique_ptr<int64_t[]> take_numbers(Reader &reader, int32_t ndim) {
  const auto count = static_cast<size_t>(std::clamp<int32_t>(ndim, 0, GUF_MAX_NDIM));
  auto numbers = std::make_unique<int64_t[]>(count);
  for (size_t i = 0; i < count; ++i) {
    // Small ones are more often accepted.
    const auto kind = reader.take<uint8_t>();
    numbers[i] = kind % 4 == 0 ? reader.take<int64_t>() : kind / 4 - 3;
  }
  return numbers;
}

void look_at(guf_array array) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  if (guf_array_get_info(array, &info, nullptr) != GUF_OK) std::abort();
  if (info.ndim < 0 || info.ndim > GUF_MAX_NDIM) std::abort();
  guf_array turned = nullptr;
  if (guf_array_transpose(array, 0, nullptr, &turned, nullptr) == GUF_OK) {
    guf_array_release(turned, nullptr);
  }
  guf_dlpack *given = nullptr;
  if (guf_array_to_dlpack(array, nullptr, 0, &given, nullptr) == GUF_OK) given->deleter(given);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t memory[64];
  Reader reader(data, size);
  const auto choices = reader.take<uint8_t>();
  guf_dlpack_tensor tensor = {};
  tensor.data = (choices & 1) != 0 ? memory : reinterpret_cast<void *>(reader.take<uint64_t>());
  tensor.device_type = (choices & 2) != 0 ? GUF_DLPACK_CPU : reader.take<int32_t>();
  tensor.device_id = (choices & 4) != 0 ? 0 : reader.take<int32_t>();
  tensor.ndim = (choices & 8) != 0 ? reader.take<uint8_t>() % 70 - 2 : reader.take<int32_t>();
  tensor.dtype = (choices & 16) != 0 ? guf_dtype{GUF_F32} : reader.take<guf_dtype>();
  tensor.byte_offset = (choices & 32) != 0 ? 0 : reader.take<uint64_t>();
  const auto shape = take_numbers(reader, tensor.ndim), strides = take_numbers(reader, tensor.ndim);
  const auto pointers = reader.take<uint8_t>();
  tensor.shape = pointers % 16 == 0 ? nullptr : shape.get();
  tensor.strides = pointers % 3 == 0 ? nullptr : strides.get();
  const uint32_t flags = (choices & 64) != 0 ? 0 : reader.take<uint8_t>();

  guf_array array = nullptr;
  guf_error error = {};
  error.struct_size = sizeof error;
  guf_status status = GUF_OK;
  guf_dlpack versioned = {};
  guf_dlpack_unversioned unversioned = {};
  deletions = 0;
  if ((choices & 128) != 0) {
    versioned.major = pointers % 7 == 0 ? reader.take<uint32_t>() : 1;
    versioned.deleter = count_versioned;
    versioned.flags = reader.take<uint64_t>();
    versioned.tensor = tensor;
    status = guf_array_from_dlpack(&versioned, nullptr, flags, &array, &error);
  } else {
    unversioned.deleter = count_unversioned;
    unversioned.tensor = tensor;
    status = guf_array_from_dlpack_unversioned(&unversioned, nullptr, flags, &array, &error);
  }
  if (status == GUF_OK) {
    if (deletions != 0) std::abort();
    look_at(array);
    guf_array_release(array, nullptr);
    guf_poll(0, nullptr, nullptr);
  } else if (array != nullptr || error.message[0] == '\0') {
    std::abort();
  }
  if (deletions != 1) std::abort();
  return 0;
}
