// SPDX-License-Identifier: Apache-2.0
// Reference-counted arrays in host or device memory. The dtype of an Array is known only at run
// time, and the elements of a TypedArray have a fixed C++ type. The C header gufunc/array.h lists
// the errors of each function.
#ifndef GUFUNC_CPP_ARRAY_HPP
#define GUFUNC_CPP_ARRAY_HPP

#include <gufunc/cpp/dlpack.hpp>
#include <gufunc/cpp/operand.hpp>
#include <gufunc/cpp/stream.hpp>

#include <functional>
#include <string>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// One axis of a slice, like Python's start:stop:step.
struct Slice {
  static constexpr int64_t kOmitted = INT64_MIN;
  int64_t start = kOmitted, stop = kOmitted, step = 1;
};

// An n-dimensional array or view. The object is a reference-counted handle: a copy of the object
// refers to the same array.
class Array : public Handle<guf_array, guf_array_retain, guf_array_release> {
 public:
  using Handle::Handle;
  operator Operand() const { return Operand(get()); }

  // Allocates an array with unspecified values on `device` (default: cpu). `order` is GUF_ORDER_C
  // or GUF_ORDER_F.
  static Result<Array> alloc(DType dtype, const Ints &shape, Device device = {},
                             int32_t order = GUF_ORDER_C) {
    return make(guf_array_alloc, device.get(), dtype.get(), shape.count(), shape.data(),
                static_cast<const int64_t *>(nullptr), order);
  }
  // Allocates an array with the given strides. The strides are in bytes, may be negative, and may
  // leave gaps between elements.
  static Result<Array> alloc_strided(DType dtype, const Ints &shape, const Ints &strides,
                                     Device device = {}) {
    if (strides.size() != shape.size()) {
      const std::string text =
          detail::other_count("number of strides", strides.size(), shape.size());
      return detail::refuse<Array>(GUF_E_ARG, text.c_str());
    }
    return make(guf_array_alloc, device.get(), dtype.get(), shape.count(), shape.data(),
                strides.data(), int32_t{GUF_ORDER_C});
  }
  // Allocates an array in host memory that `device` copies or accesses directly. `memory` is one of
  // the values of guf_host_memory.
  static Result<Array> alloc_host(Device device, int32_t memory, DType dtype, const Ints &shape,
                                  int32_t order = GUF_ORDER_C) {
    return make(guf_array_alloc_host, device.get(), memory, dtype.get(), shape.count(),
                shape.data(), static_cast<const int64_t *>(nullptr), order);
  }
  // Wraps memory of the program without a copy. The memory must outlive the array and its views.
  static Result<Array> wrap(const Operand &elements) {
    return make(guf_array_wrap, elements.tensor_or_null(), static_cast<guf_release_fn>(nullptr),
                static_cast<void *>(nullptr), 0U);
  }
  // Like the function above, and calls `release` when the array and all its views have been
  // released. `release` runs inside a later call of the library or, with `any_thread`, immediately
  // on any thread. It must not throw.
  static Result<Array> wrap(const Operand &elements, std::function<void()> release,
                            bool any_thread = false) {
    auto *const kept = new std::function<void()>(std::move(release));
    detail::Record record;
    guf_array made = nullptr;
    const guf_status status =
        guf_array_wrap(elements.tensor_or_null(), &run_release, kept,
                       any_thread ? uint32_t{GUF_RELEASE_ANY_THREAD} : 0U, &made, record);
    if (status != GUF_OK) delete kept;
    return detail::result(status, record, [&] { return Array(made); });
  }

  // Makes an array over the tensor's memory and takes ownership of the tensor, even if the function
  // fails. The tensor's deleter runs when the array and all its views have been released. Work that
  // is queued later on the device's default stream runs after the work that is already queued on
  // `ready_on`.
  static Result<Array> from_dlpack(DlpackTensor tensor, DlpackStream ready_on = {}) {
    if (tensor.unversioned() != nullptr) {
      return make(guf_array_from_dlpack_unversioned, tensor.release_unversioned(), ready_on.get(),
                  ready_on.flags());
    }
    return make(guf_array_from_dlpack, tensor.release_versioned(), ready_on.get(),
                ready_on.flags());
  }
  // Exports the memory of this array as a tensor. The stream `consumer` waits for the work that is
  // already queued on the device's default stream. `consumer` must live as long as the tensor.
  Result<DlpackTensor> to_dlpack(DlpackStream consumer = {}) const {
    return export_tensor<guf_dlpack>(guf_array_to_dlpack, consumer, consumer.flags());
  }
  // Exports for libraries that use DLPack 0.x. Fails for a read-only array, because an unversioned
  // tensor has no flag that marks it as read-only.
  Result<DlpackTensor> to_dlpack_unversioned(DlpackStream consumer = {}) const {
    return export_tensor<guf_dlpack_unversioned>(guf_array_to_dlpack_unversioned, consumer,
                                                 consumer.flags());
  }
  // Exports a copy that only the consumer uses; the tensor is marked as copied.
  Result<DlpackTensor> copy_to_dlpack(DlpackStream consumer = {}) const {
    detail::Record record;
    guf_array made = nullptr;
    const guf_status status = guf_array_copy(get(), GUF_ORDER_KEEP, nullptr, &made, record);
    if (status != GUF_OK) return detail::result(status, record, [] { return DlpackTensor(); });
    return Array(made).export_tensor<guf_dlpack>(guf_array_to_dlpack, consumer,
                                                 consumer.flags() | GUF_DLPACK_COPIED);
  }

  // ---- description

  Result<guf_array_info> info() const {
    detail::Record record;
    guf_array_info found;
    found.struct_size = sizeof found;
    const guf_status status = guf_array_get_info(get(), &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // If the handle is empty, the functions below return DType(), 0 or an empty object.
  DType dtype() const { return known().dtype; }
  int32_t ndim() const { return known().ndim; }
  uint64_t size() const { return known().size; }
  uint64_t nbytes() const { return known().nbytes; }
  Device device() const { return known().device; }
  uint64_t address() const { return known().address; }
  Ints shape() const {
    const guf_array_info found = known();
    return {found.shape, static_cast<size_t>(found.ndim)};
  }
  Ints strides() const {
    const guf_array_info found = known();
    return {found.strides, static_cast<size_t>(found.ndim)};
  }
  bool is_c_contiguous() const { return (known().flags & GUF_ARRAY_C_CONTIGUOUS) != 0; }
  bool is_f_contiguous() const { return (known().flags & GUF_ARRAY_F_CONTIGUOUS) != 0; }
  bool is_read_only() const { return (known().flags & GUF_ARRAY_READ_ONLY) != 0; }
  // Returns the values as NumPy prints them, followed by the shape, dtype and device.
  std::string str() const {
    uint64_t length = 0;
    guf_array_print(get(), nullptr, &length, nullptr);
    std::string text(length, '\0');
    if (guf_array_print(get(), &text[0], &length, nullptr) != GUF_OK) return "";
    text.resize(length - 1);
    return text;
  }

  // ---- views, which share the memory and keep it alive

  Result<Array> slice(std::initializer_list<Slice> axes) const {
    std::vector<int64_t> bounds;
    for (const Slice &axis : axes) bounds.push_back(axis.start);
    for (const Slice &axis : axes) bounds.push_back(axis.stop);
    for (const Slice &axis : axes) bounds.push_back(axis.step);
    const int64_t *const starts = bounds.data();
    return make(guf_array_slice, get(), static_cast<int32_t>(axes.size()), starts,
                starts + axes.size(), starts + 2 * axes.size());
  }
  // One extent may be -1, which means the extent that preserves the number of elements. Fails with
  // GUF_E_UNSUPPORTED if only a copy can have this shape.
  Result<Array> reshape(const Ints &shape, int32_t order = GUF_ORDER_C) const {
    return make(guf_array_reshape, get(), shape.count(), shape.data(), order);
  }
  Result<Array> ravel(int32_t order = GUF_ORDER_C) const {
    return make(guf_array_ravel, get(), order);
  }
  // Without `axes`, reverses the order of the axes.
  Result<Array> transpose(const Ints &axes = {}) const {
    return make(guf_array_transpose, get(), axes.count(), axes.data_or_null());
  }
  // The result is read-only.
  Result<Array> broadcast_to(const Ints &shape) const {
    return make(guf_array_broadcast_to, get(), shape.count(), shape.data());
  }
  // Without `axes`, removes all axes of extent 1.
  Result<Array> squeeze(const Ints &axes = {}) const {
    return make(guf_array_squeeze, get(), axes.count(), axes.data_or_null());
  }
  Result<Array> expand_dims(const Ints &axes) const {
    return make(guf_array_expand_dims, get(), axes.count(), axes.data());
  }
  // The result is read-only. Each axis in `axes` is shortened to the number of windows, and a new
  // last axis has the extent of the window.
  Result<Array> sliding_window_view(const Ints &windows, const Ints &axes) const {
    if (windows.size() != axes.size()) {
      const std::string text =
          detail::other_count("number of windows", windows.size(), axes.size());
      return detail::refuse<Array>(GUF_E_ARG, text.c_str());
    }
    return make(guf_array_sliding_window, get(), axes.count(), axes.data(), windows.data());
  }

  // ---- contents. Without a stream, a copy from or to host memory is complete on return.

  Result<void> fill(const Operand &value, guf_stream stream = nullptr) const {
    return check(guf_array_fill, get(), &value.c_operand(), stream);
  }
  Result<Array> copy(int32_t order = GUF_ORDER_KEEP, guf_stream stream = nullptr) const {
    return make(guf_array_copy, get(), order, stream);
  }
  // Copies `source` into this array, with broadcasting and casts.
  Result<void> assign(const Array &source, int32_t casting = GUF_CASTING_DEFAULT,
                      guf_stream stream = nullptr) const {
    return check(guf_array_assign, get(), source.get(), casting, stream);
  }
  Result<Array> astype(DType dtype, int32_t casting = GUF_CASTING_UNSAFE,
                       int32_t order = GUF_ORDER_KEEP, guf_stream stream = nullptr) const {
    return make(guf_array_astype, get(), dtype.get(), casting, order, stream);
  }
  // Returns a copy on `device`.
  Result<Array> to_device(Device device, guf_stream stream = nullptr) const {
    return make(guf_array_to_device, get(), device.get(), stream);
  }
  // Copies into an existing array on `device` with the same dtype and shape.
  Result<void> to_device(Device device, const Array &into, guf_stream stream = nullptr) const {
    guf_array target = into.get();
    return check(guf_array_to_device, get(), device.get(), stream, &target);
  }
  // Waits for all work on the array. Afterwards the host may access host-accessible memory. Returns
  // false if work was still running after `timeout_ns` nanoseconds.
  Result<bool> synchronize(uint64_t timeout_ns = kForever) const {
    detail::Record record;
    const guf_status status = guf_array_synchronize(get(), timeout_ns, record);
    return detail::query_result(status, record, GUF_TIMEOUT);
  }
  // Copies into memory of the program, in C or F order. `nbytes` is the size of that memory. With a
  // stream, the memory must stay valid until the copy is complete.
  Result<void> copy_to_host(void *destination, uint64_t nbytes, int32_t order = GUF_ORDER_C,
                            guf_stream stream = nullptr) const {
    return check(guf_array_copy_to_host, get(), destination, nbytes, order, stream);
  }
  // Copies into the elements of a container, span or C array. Fails with GUF_E_DTYPE if the element
  // type of `destination` does not match the array's dtype. A destination of uint8_t accepts the
  // bytes of any dtype, and a destination of int64_t accepts datetime types.
  template <class C, std::enable_if_t<detail::kHasElements<C> && detail::kMayBorrow<C>, int> = 0>
  Result<void> copy_to_host(C &&destination, guf_stream stream = nullptr) const {
    const DType expected = DType::of<std::remove_pointer_t<decltype(std::data(destination))>>();
    if (!accepts_element_type(expected)) {
      const std::string text = detail::other_elements(dtype(), expected);
      return detail::refuse<void>(GUF_E_DTYPE, text.c_str());
    }
    return copy_to_host(std::data(destination),
                        std::size(destination) * sizeof *std::data(destination), GUF_ORDER_C,
                        stream);
  }

 protected:
  // Calls a C function whose last parameters are an output array and the error.
  template <class Function, class... Arguments>
  static Result<Array> make(Function function, Arguments... arguments) {
    detail::Record record;
    guf_array made = nullptr;
    const guf_status status = function(arguments..., &made, static_cast<guf_error *>(record));
    return detail::result(status, record, [&] { return Array(made); });
  }

 private:
  guf_array_info known() const {
    guf_array_info found = {};
    found.struct_size = sizeof found;
    guf_array_get_info(get(), &found, nullptr);
    return found;
  }
  bool accepts_element_type(DType elements) const {
    const DType own = dtype();
    int32_t unit = 0;
    uint32_t multiple = 0;
    return own == elements || elements == GUF_U8 ||
           (elements == GUF_I64 && guf_dtype_get_unit(own, &unit, &multiple, nullptr) == GUF_OK);
  }
  template <class Tensor>
  Result<DlpackTensor> export_tensor(guf_status (*function)(guf_array, guf_stream, uint32_t,
                                                            Tensor **, guf_error *),
                                     DlpackStream consumer, uint32_t flags) const {
    detail::Record record;
    Tensor *made = nullptr;
    const guf_status status = function(get(), consumer.get(), flags, &made, record);
    return detail::result(status, record, [&] { return DlpackTensor(made); });
  }
  static void run_release(void *user, uint64_t) noexcept {
    auto *const kept = static_cast<std::function<void()> *>(user);
    (*kept)();
    delete kept;
  }
};

// An array with elements of type T.
template <class T>
class TypedArray : public Array {
 public:
  TypedArray() = default;
  static Result<TypedArray> alloc(const Ints &shape, Device device = {},
                                  int32_t order = GUF_ORDER_C) {
    return trusted(Array::alloc(dtype_of<T>(), shape, device, order));
  }
  static Result<TypedArray> wrap(T *data, const Ints &shape) {
    return trusted(Array::wrap(Operand(data, shape)));
  }
  // Fails with GUF_E_DTYPE if the array's elements are not of type T.
  static Result<TypedArray> from(Array array) {
    if (array.dtype() != dtype_of<T>()) {
      const std::string text = detail::other_elements(array.dtype(), DType::of<T>());
      return detail::refuse<TypedArray>(GUF_E_DTYPE, text.c_str());
    }
    return TypedArray(std::move(array));
  }
  // Fails with GUF_E_DTYPE if the tensor's elements are not of type T. Even then, the function
  // takes ownership of the tensor.
  static Result<TypedArray> from_dlpack(DlpackTensor tensor, DlpackStream ready_on = {}) {
#ifdef GUFUNC_NO_EXCEPTIONS
    Expected<Array> made = Array::from_dlpack(std::move(tensor), ready_on);
    if (!made) return made.error();
    return from(std::move(made).value());
#else
    return from(Array::from_dlpack(std::move(tensor), ready_on));
#endif
  }
  // Returns the address of element (0, ..., 0). The host can dereference the address only if the
  // memory is host-accessible.
  T *data() const { return reinterpret_cast<T *>(address()); }
  // Copies all elements from any device to the host, in C order. Elements of type bool become
  // bytes.
  using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  Result<std::vector<Element>> to_vector() const {
    std::vector<Element> values(size());
    detail::Record record;
    const guf_status status = guf_array_copy_to_host(
        get(), values.data(), values.size() * sizeof(T), GUF_ORDER_C, nullptr, record);
    return detail::result(status, record, [&] { return std::move(values); });
  }

 private:
  explicit TypedArray(Array array) : Array(std::move(array)) {}
#ifdef GUFUNC_NO_EXCEPTIONS
  static Result<TypedArray> trusted(Expected<Array> made) {
    if (!made) return made.error();
    return TypedArray(std::move(made).value());
  }
#else
  static TypedArray trusted(Array made) { return TypedArray(std::move(made)); }
#endif
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_ARRAY_HPP
