// SPDX-License-Identifier: Apache-2.0
// Operands of calls: elements in the program's memory, arrays, numbers.
#ifndef GUFUNC_CPP_OPERAND_HPP
#define GUFUNC_CPP_OPERAND_HPP

#include <gufunc/array.h>
#include <gufunc/cpp/dtype.hpp>
#include <gufunc/cpp/handle.hpp>

#include <algorithm>
#include <complex>
#include <iterator>
#include <type_traits>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

class Array;

namespace detail {

// Whether an operand can be made from a value of type C. If C is a reference D &, whether it can be
// made from an lvalue of type D.
template <class C, class = void>
constexpr bool kHasElements = false;
template <class C>
constexpr bool kHasElements<C, std::void_t<decltype(std::data(std::declval<C &>())),
                                           decltype(std::size(std::declval<C &>()))>> =
    std::is_pointer_v<decltype(std::data(std::declval<C &>()))> &&
    !std::is_same_v<std::remove_cv_t<std::remove_all_extents_t<std::remove_reference_t<C>>>,
                    char> &&
    !std::is_base_of_v<Array, std::remove_reference_t<C>>;

// Whether C is a span: like std::span, it has a member type element_type and is trivially copyable.
template <class C, class = void>
constexpr bool kIsSpan = false;
template <class C>
constexpr bool kIsSpan<C, std::void_t<typename C::element_type>> = std::is_trivially_copyable_v<C>;

template <class C>
constexpr bool kMayBorrow = std::is_lvalue_reference_v<C> || kIsSpan<std::remove_cv_t<C>>;

}  // namespace detail

// An operand of a call. It borrows the elements of a container, an array or a number for the
// duration of the call and copies no elements. Elements in memory are C-contiguous or have strides
// in bytes.
class Operand {
 public:
  // Represents an output that the call allocates, or an absent mask.
  Operand() noexcept {}
  Operand(const Operand &other) : made_(other.made_), strides_at_(other.strides_at_) {
    if (!is_tensor()) return;
    tensor_ = other.tensor_;
    const auto count = static_cast<size_t>(tensor_.ndim + strides_at_);
    if (other.more_) more_.reset(new int64_t[count]);
    std::copy_n(other.more_ ? other.more_.get() : other.inside_, count,
                more_ ? more_.get() : inside_);
    point();
  }
  Operand &operator=(const Operand &other) {
    if (this == &other) return *this;
    Operand copy(other);
    made_ = copy.made_;
    strides_at_ = copy.strides_at_;
    if (!is_tensor()) return *this;
    more_ = std::move(copy.more_);
    tensor_ = copy.tensor_;
    if (!more_) std::copy_n(copy.inside_, kInside, inside_);
    point();
    return *this;
  }
  // Refers to the contiguous elements of an object that std::data and std::size accept: a
  // container, a span or a C array, but not an array of char. The operand has one dimension, and is
  // read-only if the elements are const. A temporary is accepted only if it does not own its
  // elements, like a span. The elements of other temporaries would be destroyed before the operand
  // is used.
  template <class C, std::enable_if_t<detail::kHasElements<C> && detail::kMayBorrow<C>, int> = 0>
  Operand(C &&elements)
      : Operand(std::data(elements), {static_cast<int64_t>(std::size(elements))}) {}
  template <class C, std::enable_if_t<detail::kHasElements<C> && !detail::kMayBorrow<C>, int> = 0>
  Operand(C &&temporary) = delete;
  template <class T>
  Operand(T *data, const Ints &shape) : Operand(dtype_of<std::remove_const_t<T>>(), data, shape) {
    if (std::is_const_v<T>) read_only();
  }
  template <class T>
  Operand(T *data, const Ints &shape, const Ints &strides)
      : Operand(dtype_of<std::remove_const_t<T>>(), data, shape, strides) {
    if (std::is_const_v<T>) read_only();
  }
  // Refers to C-contiguous elements of any dtype, also of a dtype that has no C++ type, such as a
  // datetime type or a structured dtype.
  Operand(DType dtype, const void *data, const Ints &shape) {
    place(dtype, data, shape, shape.size());
  }
  // `strides` must have as many elements as `shape`. Otherwise functions that receive the operand
  // fail with GUF_E_ARG.
  Operand(DType dtype, const void *data, const Ints &shape, const Ints &strides) {
    int64_t *const behind = place(dtype, data, shape, 2 * shape.size());
    std::copy_n(strides.data(), std::min(strides.size(), shape.size()), behind);
    strides_at_ = tensor_.ndim;
    if (strides.size() != shape.size()) {
      std::fill_n(behind, shape.size(), 0);
      tensor_.flags = ~0U;  // unknown flags, which make every function fail with GUF_E_ARG
    }
    point();
  }
  Operand(guf_array array) {
    made_.kind = GUF_OPERAND_ARRAY;
    made_.array = array;
  }
  // Weak scalars, like Python's numbers: a number adopts the dtype of the other operands. A bool is
  // a scalar of dtype bool.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T value) {
    static_assert(!std::is_same_v<T, long double>, "no dtype of libgufunc is long double");
    static_assert(sizeof(T) <= sizeof(uint64_t), "weak_int accepts numbers of more than 64 bits");
    if constexpr (std::is_same_v<T, bool>) {
      made_.kind = GUF_OPERAND_SCALAR;
      made_.dtype = GUF_BOOL;
      made_.value[0] = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      set_parts(GUF_OPERAND_WEAK_FLOAT, static_cast<double>(value), 0);
    } else {
      made_.value[0] = static_cast<uint64_t>(value);
      const bool beyond = std::is_unsigned_v<T> && made_.value[0] >> 63U != 0;
      made_.kind = beyond ? GUF_OPERAND_WEAK_INT_HUGE : GUF_OPERAND_WEAK_INT;
    }
  }
  template <class T>
  Operand(std::complex<T> value) {
    static_assert(sizeof(T) <= sizeof(double), "no dtype of libgufunc is complex long double");
    set_parts(GUF_OPERAND_WEAK_COMPLEX, value.real(), value.imag());
  }
  // A scalar that keeps its dtype, like a 0-d array.
  template <class T>
  static Operand scalar(T value) {
    Operand made;
    made.made_.kind = GUF_OPERAND_SCALAR;
    made.made_.dtype = dtype_of<T>();
    static_assert(sizeof value <= sizeof made.made_.value);
    __builtin_memcpy(made.made_.value, &value, sizeof value);
    return made;
  }
  static Operand scalar(DType dtype, const void *element, size_t itemsize) {
    Operand made;
    made.made_.kind = GUF_OPERAND_SCALAR;
    made.made_.dtype = dtype;
    __builtin_memcpy(made.made_.value, element, itemsize < 16 ? itemsize : 16);
    return made;
  }
  // A weak integer of any size, like a Python int. The caller sets `beyond` if the magnitude needs
  // more than 64 bits. `magnitude` is then ignored.
  static Operand weak_int(uint64_t magnitude, bool negative, bool beyond = false) {
    Operand made;
    const uint64_t least = uint64_t{1} << 63U;
    if (!beyond && magnitude < least + (negative ? 1 : 0)) {
      made.made_.kind = GUF_OPERAND_WEAK_INT;
      made.made_.value[0] = negative ? 0 - magnitude : magnitude;
      return made;
    }
    made.made_.kind = GUF_OPERAND_WEAK_INT_HUGE;
    made.made_.value[0] = beyond ? UINT64_MAX : magnitude;
    made.made_.value[1] = (negative ? 1U : 0U) + (beyond ? 2U : 0U);
    return made;
  }

  Operand &read_only(bool yes = true) { return set_flag(GUF_TENSOR_READ_ONLY, yes); }
  // Sets whether the elements are in non-native byte order.
  Operand &swapped(bool yes = true) { return set_flag(GUF_TENSOR_SWAPPED, yes); }
  // Sets the device in whose memory the elements are.
  Operand &on(guf_device device) {
    if (is_tensor()) tensor_.device = device;
    return *this;
  }

  // The C operand. The returned struct and its copies are valid while this Operand lives and is not
  // moved.
  const guf_operand &c_operand() const noexcept { return made_; }
  // Copies the operand field by field. A copy of the whole structure would use wide loads, which
  // would stall because the processor cannot forward the preceding narrow stores to them.
  void write(guf_operand &operand) const {
    operand.kind = made_.kind;
    operand.dtype = made_.dtype;
    operand.flags = made_.flags;
    operand.reserved = made_.reserved;
    operand.array = made_.array;
    operand.tensor = made_.tensor;
    operand.value[0] = made_.value[0];
    operand.value[1] = made_.value[1];
  }
  // Valid only if is_tensor().
  const guf_tensor &tensor() const noexcept { return tensor_; }
  // Returns NULL unless is_tensor().
  const guf_tensor *tensor_or_null() const noexcept { return is_tensor() ? &tensor_ : nullptr; }
  bool is_none() const noexcept { return made_.kind == GUF_OPERAND_NONE; }
  bool is_tensor() const noexcept { return made_.kind == GUF_OPERAND_TENSOR; }

 private:
  void set_parts(int32_t kind, double real, double imaginary) {
    made_.kind = kind;
    __builtin_memcpy(&made_.value[0], &real, sizeof real);
    __builtin_memcpy(&made_.value[1], &imaginary, sizeof imaginary);
  }
  Operand &set_flag(uint32_t flag, bool yes) {
    if (is_tensor()) tensor_.flags = yes ? tensor_.flags | flag : tensor_.flags & ~flag;
    return *this;
  }
  // Allocates space for `count` numbers and stores the shape at its beginning. Returns the address
  // after the shape.
  int64_t *place(DType dtype, const void *data, const Ints &shape, size_t count) {
    made_.kind = GUF_OPERAND_TENSOR;
    tensor_.struct_size = sizeof(guf_tensor);
    tensor_.dtype = dtype;
    tensor_.ndim = shape.count();
    tensor_.flags = 0;
    tensor_.address = reinterpret_cast<uint64_t>(data);
    tensor_.device = nullptr;
    if (count > kInside) more_.reset(new int64_t[count]);
    point();
    return std::copy_n(shape.data(), shape.size(), more_ ? more_.get() : inside_);
  }
  // Updates the pointers into this object after its members were written or copied.
  void point() noexcept {
    made_.tensor = &tensor_;
    tensor_.shape = more_ ? more_.get() : inside_;
    tensor_.strides = strides_at_ > 0 ? tensor_.shape + strides_at_ : nullptr;
  }

  static constexpr size_t kInside = 8;
  guf_operand made_ = {};
  std::unique_ptr<int64_t[]> more_;
  int32_t strides_at_ = 0;  // the number of dimensions if there are strides; else 0
  // The tensor, and its shape and strides. They are set only if is_tensor().
  guf_tensor tensor_;
  int64_t inside_[kInside];
};

using Operands = std::initializer_list<Operand>;

namespace detail {

// Message for a missing output in a call that must not allocate outputs, because nothing would own
// them.
constexpr char kNoOutput[] = "an output is missing, and the call allocates no array";

// The C operands of a call, on the stack.
class COperands {
 public:
  COperands() = default;
  template <class Range>
  explicit COperands(const Range &operands) {
    for (const Operand &operand : operands) {
      if (count_ == kCapacity) break;
      operand.write(list_[count_++]);
    }
  }
  void clear(int32_t count) {
    count_ = count;
    for (int32_t k = 0; k < count; ++k) list_[k] = guf_operand{};
  }
  guf_operand *data() { return list_; }
  int32_t count() const { return count_; }
  bool has_none() const {
    for (int32_t k = 0; k < count_; ++k)
      if (__builtin_expect(list_[k].kind == GUF_OPERAND_NONE, 0)) return true;
    return false;
  }
  guf_operand &operator[](int32_t index) { return list_[index]; }

 private:
  // One more than the maximum, so that the library receives and rejects too many operands.
  static constexpr int32_t kCapacity = GUF_MAX_OPERANDS + 1;
  int32_t count_ = 0;
  guf_operand list_[kCapacity];
};

}  // namespace detail

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_OPERAND_HPP
