// SPDX-License-Identifier: Apache-2.0
// Counted arrays of host or device memory: of any dtype, and of a C++ type.
#ifndef GUFUNC_CPP_ARRAY_HPP
#define GUFUNC_CPP_ARRAY_HPP

#include <gufunc/cpp/dlpack.hpp>
#include <gufunc/cpp/operand.hpp>
#include <gufunc/cpp/stream.hpp>

#include <functional>
#include <string>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// One axis of a slice, Python's start:stop:step.
struct Slice {
  static constexpr int64_t kOmitted = INT64_MIN;
  int64_t start = kOmitted, stop = kOmitted, step = 1;
};

// An n-dimensional array, or a view of one. A counted handle: a copy is the same array.
class Array : public Handle<guf_array, guf_array_retain, guf_array_release> {
 public:
  using Handle::Handle;
  operator Operand() const { return Operand(get()); }

  // Of unspecified values, on `device` (none: the cpu). `order` C or F.
  static Result<Array> alloc(DType dtype, const Ints &shape, Device device = {},
                             int32_t order = GUF_ORDER_C) {
    return make(guf_array_alloc, device.get(), dtype.get(), shape.count(), shape.data(),
                static_cast<const int64_t *>(nullptr), order);
  }
  // With strides in bytes: negative ones, gaps.
  static Result<Array> alloc_strided(DType dtype, const Ints &shape, const Ints &strides,
                                     Device device = {}) {
    if (strides.size() != shape.size())
      return detail::refuse<Array>(GUF_E_ARG, "there have to be as many strides as extents");
    return make(guf_array_alloc, device.get(), dtype.get(), shape.count(), shape.data(),
                strides.data(), int32_t{GUF_ORDER_C});
  }
  // In host memory that `device` copies or reads directly: guf_host_memory.
  static Result<Array> alloc_host(Device device, int32_t memory, DType dtype, const Ints &shape,
                                  int32_t order = GUF_ORDER_C) {
    return make(guf_array_alloc_host, device.get(), memory, dtype.get(), shape.count(),
                shape.data(), static_cast<const int64_t *>(nullptr), order);
  }
  // Memory of the program's, without a copy; it has to outlive the array and its views.
  static Result<Array> wrap(const Operand &elements) {
    return make(guf_array_wrap, elements.tensor_or_null(), static_cast<guf_release_fn>(nullptr),
                static_cast<void *>(nullptr), 0U);
  }
  // `release` runs when the last array or view of it is gone: inside a call of the program's, or
  // with `any_thread` at once on whatever thread that is. It must not throw.
  static Result<Array> wrap(const Operand &elements, std::function<void()> release,
                            bool any_thread = false) {
    auto *const kept = new std::function<void()>(std::move(release));
    detail::Record told;
    guf_array made = nullptr;
    const guf_status status =
        guf_array_wrap(elements.tensor_or_null(), &run_release, kept,
                       any_thread ? uint32_t{GUF_RELEASE_ANY_THREAD} : 0U, &made, told);
    if (status != GUF_OK) delete kept;
    return detail::result(status, told, [&] { return Array(made); });
  }

  // Takes the tensor, in a failure too: its deleter runs when the last array or view is gone. Work
  // without a stream comes behind what is queued on `ready_on` so far.
  static Result<Array> from_dlpack(DlpackTensor tensor, DlpackStream ready_on = {}) {
    if (tensor.unversioned() != nullptr) {
      return make(guf_array_from_dlpack_unversioned, tensor.release_unversioned(), ready_on.get(),
                  ready_on.flags());
    }
    return make(guf_array_from_dlpack, tensor.release_versioned(), ready_on.get(),
                ready_on.flags());
  }
  // A tensor of this memory. `consumer` waits for work without a stream so far, and has to live as
  // long as the tensor.
  Result<DlpackTensor> to_dlpack(DlpackStream consumer = {}) const {
    return give<guf_dlpack>(guf_array_to_dlpack, consumer, consumer.flags());
  }
  // For libraries that know DLPack 0.x; of a read-only array there is none.
  Result<DlpackTensor> to_dlpack_unversioned(DlpackStream consumer = {}) const {
    return give<guf_dlpack_unversioned>(guf_array_to_dlpack_unversioned, consumer,
                                        consumer.flags());
  }
  // Of a copy that nobody else sees, which the tensor tells.
  Result<DlpackTensor> copy_to_dlpack(DlpackStream consumer = {}) const {
    detail::Record told;
    guf_array made = nullptr;
    const guf_status status = guf_array_copy(get(), GUF_ORDER_KEEP, nullptr, &made, told);
    if (status != GUF_OK) return detail::result(status, told, [] { return DlpackTensor(); });
    return Array(made).give<guf_dlpack>(guf_array_to_dlpack, consumer,
                                        consumer.flags() | GUF_DLPACK_COPIED);
  }

  // ---- what it is

  Result<guf_array_info> info() const {
    detail::Record told;
    guf_array_info found;
    found.struct_size = sizeof found;
    const guf_status status = guf_array_get_info(get(), &found, told);
    return detail::result(status, told, [&] { return found; });
  }
  // Of an empty handle: nothing, 0, "".
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
  // Values as NumPy prints them, then shape, dtype and device.
  std::string str() const {
    uint64_t length = 0;
    guf_array_print(get(), nullptr, &length, nullptr);
    std::string text(length, '\0');
    if (guf_array_print(get(), &text[0], &length, nullptr) != GUF_OK) return "";
    text.resize(length - 1);
    return text;
  }

  // ---- views, which share the memory and keep it

  Result<Array> slice(std::initializer_list<Slice> axes) const {
    std::vector<int64_t> bounds;
    for (const Slice &axis : axes) bounds.push_back(axis.start);
    for (const Slice &axis : axes) bounds.push_back(axis.stop);
    for (const Slice &axis : axes) bounds.push_back(axis.step);
    const int64_t *const starts = bounds.data();
    return make(guf_array_slice, get(), static_cast<int32_t>(axes.size()), starts,
                starts + axes.size(), starts + 2 * axes.size());
  }
  // One extent may be -1. Fails with GUF_E_UNSUPPORTED where a copy would be needed.
  Result<Array> reshape(const Ints &shape, int32_t order = GUF_ORDER_C) const {
    return make(guf_array_reshape, get(), shape.count(), shape.data(), order);
  }
  Result<Array> ravel(int32_t order = GUF_ORDER_C) const {
    return make(guf_array_ravel, get(), order);
  }
  // Without axes: reversed.
  Result<Array> transpose(const Ints &axes = {}) const {
    return make(guf_array_transpose, get(), axes.count(), axes.data_or_null());
  }
  // Read-only.
  Result<Array> broadcast_to(const Ints &shape) const {
    return make(guf_array_broadcast_to, get(), shape.count(), shape.data());
  }
  // Without axes: all of extent 1.
  Result<Array> squeeze(const Ints &axes = {}) const {
    return make(guf_array_squeeze, get(), axes.count(), axes.data_or_null());
  }
  Result<Array> expand_dims(const Ints &axes) const {
    return make(guf_array_expand_dims, get(), axes.count(), axes.data());
  }
  // Read-only: each axis shrinks, and has its windows as a new last axis.
  Result<Array> sliding_window_view(const Ints &windows, const Ints &axes) const {
    if (windows.size() != axes.size())
      return detail::refuse<Array>(GUF_E_ARG, "there have to be as many windows as axes");
    return make(guf_array_sliding_window, get(), axes.count(), axes.data(), windows.data());
  }

  // ---- contents. Without a stream complete on return where host memory takes part.

  Result<void> fill(const Operand &value, guf_stream stream = nullptr) const {
    return check(guf_array_fill, get(), &value.c_operand(), stream);
  }
  Result<Array> copy(int32_t order = GUF_ORDER_KEEP, guf_stream stream = nullptr) const {
    return make(guf_array_copy, get(), order, stream);
  }
  // Copies `source` into this one, broadcasting and casting.
  Result<void> assign(const Array &source, int32_t casting = GUF_CASTING_DEFAULT,
                      guf_stream stream = nullptr) const {
    return check(guf_array_assign, get(), source.get(), casting, stream);
  }
  Result<Array> astype(DType dtype, int32_t casting = GUF_CASTING_UNSAFE,
                       int32_t order = GUF_ORDER_KEEP, guf_stream stream = nullptr) const {
    return make(guf_array_astype, get(), dtype.get(), casting, order, stream);
  }
  // A copy there.
  Result<Array> to_device(Device device, guf_stream stream = nullptr) const {
    return make(guf_array_to_device, get(), device.get(), stream);
  }
  // Into an array that is there, of this dtype and shape.
  Result<void> to_device(Device device, const Array &into, guf_stream stream = nullptr) const {
    guf_array target = into.get();
    return check(guf_array_to_device, get(), device.get(), stream, &target);
  }
  // Waits for all work with the array: then the host may touch memory that it reaches. False: work
  // still ran after `timeout_ns`.
  Result<bool> synchronize(uint64_t timeout_ns = kForever) const {
    detail::Record told;
    const guf_status status = guf_array_synchronize(get(), timeout_ns, told);
    return detail::answer(status, told, GUF_TIMEOUT);
  }
  // Into memory of the program's, in C or F order. With a stream it has to live until that is done.
  Result<void> copy_to_host(void *destination, uint64_t nbytes, int32_t order = GUF_ORDER_C,
                            guf_stream stream = nullptr) const {
    return check(guf_array_copy_to_host, get(), destination, nbytes, order, stream);
  }
  // Into elements as an operand's: of a container, a span, a C array. GUF_E_DTYPE where the array
  // has others; uint8_t takes the bytes of any, int64_t times.
  template <class C, std::enable_if_t<detail::kHasElements<C> && detail::kMayBorrow<C>, int> = 0>
  Result<void> copy_to_host(C &&destination, guf_stream stream = nullptr) const {
    const DType wanted = DType::of<std::remove_pointer_t<decltype(std::data(destination))>>();
    if (!goes_into(wanted)) {
      const std::string text = detail::other_elements(dtype(), wanted);
      return detail::refuse<void>(GUF_E_DTYPE, text.c_str());
    }
    return copy_to_host(std::data(destination),
                        std::size(destination) * sizeof *std::data(destination), GUF_ORDER_C,
                        stream);
  }

 protected:
  // A C function that gives an array as the last thing before the error.
  template <class Function, class... Arguments>
  static Result<Array> make(Function function, Arguments... arguments) {
    detail::Record told;
    guf_array made = nullptr;
    const guf_status status = function(arguments..., &made, static_cast<guf_error *>(told));
    return detail::result(status, told, [&] { return Array(made); });
  }

 private:
  guf_array_info known() const {
    guf_array_info found = {};
    found.struct_size = sizeof found;
    guf_array_get_info(get(), &found, nullptr);
    return found;
  }
  bool goes_into(DType elements) const {
    const DType own = dtype();
    int32_t unit = 0;
    uint32_t multiple = 0;
    return own == elements || elements == GUF_U8 ||
           (elements == GUF_I64 && guf_dtype_get_unit(own, &unit, &multiple, nullptr) == GUF_OK);
  }
  template <class Tensor>
  Result<DlpackTensor> give(guf_status (*function)(guf_array, guf_stream, uint32_t, Tensor **,
                                                   guf_error *),
                            DlpackStream consumer, uint32_t flags) const {
    detail::Record told;
    Tensor *made = nullptr;
    const guf_status status = function(get(), consumer.get(), flags, &made, told);
    return detail::result(status, told, [&] { return DlpackTensor(made); });
  }
  static void run_release(void *user, uint64_t) noexcept {
    auto *const kept = static_cast<std::function<void()> *>(user);
    (*kept)();
    delete kept;
  }
};

// An array whose elements are T.
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
  // Fails with GUF_E_DTYPE where the elements are others.
  static Result<TypedArray> from(Array array) {
    if (array.dtype() != dtype_of<T>()) {
      const std::string text = detail::other_elements(array.dtype(), DType::of<T>());
      return detail::refuse<TypedArray>(GUF_E_DTYPE, text.c_str());
    }
    return TypedArray(std::move(array));
  }
  // Fails with GUF_E_DTYPE where the tensor's elements are others; it is taken nonetheless.
  static Result<TypedArray> from_dlpack(DlpackTensor tensor, DlpackStream ready_on = {}) {
#ifdef GUFUNC_NO_EXCEPTIONS
    Expected<Array> made = Array::from_dlpack(std::move(tensor), ready_on);
    if (!made) return made.error();
    return from(std::move(made).value());
#else
    return from(Array::from_dlpack(std::move(tensor), ready_on));
#endif
  }
  // Where element (0, ..., 0) lies; to be followed on the host only where the memory is the host's.
  T *data() const { return reinterpret_cast<T *>(address()); }
  // All elements in C order, wherever they lie. Of bools bytes.
  using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  Result<std::vector<Element>> to_vector() const {
    std::vector<Element> values(size());
    detail::Record told;
    const guf_status status = guf_array_copy_to_host(
        get(), values.data(), values.size() * sizeof(T), GUF_ORDER_C, nullptr, told);
    return detail::result(status, told, [&] { return std::move(values); });
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
