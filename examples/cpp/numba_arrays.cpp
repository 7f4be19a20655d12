// SPDX-License-Identifier: Apache-2.0
// The array and stream examples of docs/from-numba.md. Usage: numba_arrays [cuda:0]
#include <algorithm>

#include "call.hpp"

class Stream : public gufunc::Handle<guf_stream, guf_stream_retain, guf_stream_release> {
 public:
  explicit Stream(guf_device device) { check(guf_stream_create, device, 0U, &value_); }
  void synchronize() const { check(guf_stream_synchronize, get(), UINT64_MAX); }
};

// Waits for the stream at the end of a scope, also after an exception. The destructor ignores
// errors; `synchronize` reports them.
class AutoSynchronize {
 public:
  explicit AutoSynchronize(const Stream &stream) : stream_(stream) {}
  AutoSynchronize(const AutoSynchronize &) = delete;
  AutoSynchronize &operator=(const AutoSynchronize &) = delete;
  ~AutoSynchronize() { guf_stream_synchronize(stream_.get(), UINT64_MAX, nullptr); }

 private:
  const Stream &stream_;
};

Array wrap(double *data, const std::vector<int64_t> &shape) {
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = GUF_F64;
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  tensor.address = reinterpret_cast<uint64_t>(data);
  guf_array made = nullptr;
  check(guf_array_wrap, &tensor, nullptr, nullptr, 0U, &made);
  return Array(made);
}

guf_array_info info_of(const Array &array) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  check(guf_array_get_info, array.get(), &info);
  return info;
}

// Does the same as Numba's to_device with copy=True: returns a new device array with the values of
// the host array.
Array to_device(const Array &host, guf_device device, guf_stream stream) {
  guf_array made = nullptr;
  check(guf_array_to_device, host.get(), device, stream, &made);
  return Array(made);
}

// Does the same as Numba's device_array_like, and as to_device with copy=False.
Array like(const Array &other, guf_device device) {
  const guf_array_info info = info_of(other);
  guf_array made = nullptr;
  check(guf_array_alloc, device, info.dtype, info.ndim, info.shape, nullptr, int32_t{GUF_ORDER_C},
        &made);
  return Array(made);
}

void copy_to_host(const Array &array, std::vector<double> &out, guf_stream stream) {
  check(guf_array_copy_to_host, array.get(), static_cast<void *>(out.data()),
        sizeof(double) * out.size(), int32_t{GUF_ORDER_C}, stream);
}

// Two calls on a stream. The intermediate result stays on the device.
void stay_on_the_device(guf_device device) {
  std::vector<double> x{0, 1, 2, 3, 4, 5}, result(6);
  const Stream stream(device);
  {
    const AutoSynchronize guard(stream);
    const Array there = to_device(wrap(x.data(), {6}), device, stream.get());
    const Array squares = call("square", {there}, on(stream.get()));
    const Array sums = like(there, device);
    call("add", {squares, there}, {sums}, on(stream.get()));
    copy_to_host(sums, result, stream.get());
  }
  print(result, 6);
}

// Operands in host memory and device memory can be mixed only if the call sets a host policy.
void mixed_memory(guf_device device) {
  std::vector<double> x{1, 2, 3};
  const Array there = to_device(wrap(x.data(), {3}), device, nullptr);
  guf_call_args args = on(device);
  args.host_policy = GUF_HOST_COPY;
  const Array sum = call("add", {there, x}, args);
  std::vector<double> result(3);
  copy_to_host(sum, result, nullptr);
  print(result, 3);
}

// ravel, reshape, slices and transposes are views, also on a device. astype and fill run on the
// device.
void views(guf_device device) {
  std::vector<double> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Array there = to_device(wrap(x.data(), {3, 4}), device, nullptr);
  const auto contiguous = [](const Array &array) {
    const uint32_t flags = info_of(array).flags;
    std::printf("C %d, F %d\n", (flags & GUF_ARRAY_C_CONTIGUOUS) != 0,
                (flags & GUF_ARRAY_F_CONTIGUOUS) != 0);
  };
  contiguous(there);
  guf_array made = nullptr;
  check(guf_array_transpose, there.get(), 0, nullptr, &made);
  const Array transposed(made);
  contiguous(transposed);
  const int64_t shape[] = {2, 6}, starts[] = {0, 1}, stops[] = {2, 6}, steps[] = {1, 2};
  check(guf_array_reshape, there.get(), 2, shape, int32_t{GUF_ORDER_C}, &made);
  const Array reshaped(made);
  check(guf_array_slice, reshaped.get(), 2, starts, stops, steps, &made);
  const Array odd(made);  // a view of the elements 1, 3, 5 and 7, 9, 11
  const guf_operand minus = Operand(-1).c_operand();
  check(guf_array_fill, odd.get(), &minus, nullptr);
  check(guf_array_ravel, transposed.get(), int32_t{GUF_ORDER_F}, &made);
  const Array line(made);
  copy_to_host(line, x, nullptr);
  print(x, 12);
  check(guf_array_astype, line.get(), guf_dtype{GUF_F32}, int32_t{GUF_CASTING_SAME_KIND},
        int32_t{GUF_ORDER_C}, nullptr, &made);
  const Array floats(made);
  std::printf("%llu bytes\n", static_cast<unsigned long long>(info_of(floats).nbytes));
}

// Page-locked, mapped and managed memory, and memory of the program that is page-locked
// temporarily.
void host_memory(guf_device device) {
  const int64_t count = 4;
  for (const int32_t kind : {GUF_HOST_PINNED, GUF_HOST_MAPPED, GUF_HOST_MANAGED}) {
    guf_array made = nullptr;
    check(guf_array_alloc_host, device, kind, guf_dtype{GUF_F64}, 1, &count, nullptr,
          int32_t{GUF_ORDER_C}, &made);
    const Array array(made);
    auto *const data = reinterpret_cast<double *>(info_of(array).address);
    std::fill_n(data, count, kind);
    call("square", {array}, {array}, on(device));
    std::printf("%g\n", data[3]);
  }
  std::vector<double> mine(count, 3), result(count);
  const auto address = reinterpret_cast<uint64_t>(mine.data());
  check(guf_host_register, device, address, count * sizeof(double));
  const Stream stream(device);
  const Array there = to_device(wrap(mine.data(), {count}), device, stream.get());
  copy_to_host(there, result, stream.get());
  stream.synchronize();
  check(guf_host_unregister, device, address);
  print(result, 4);
}

int main(int argc, char **argv) try {
  guf_device device = nullptr;
  check(guf_device_get, nullptr, argc > 1 ? argv[1] : "cpu", &device);
  stay_on_the_device(device);
  mixed_memory(device);
  views(device);
  host_memory(device);
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", guf_status_name(error.status()), error.what());
  return 1;
}
