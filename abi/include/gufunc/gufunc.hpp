// SPDX-License-Identifier: Apache-2.0
// The C ABI as C++17: handles that release themselves, operands made from containers, failures as
// exceptions.
#ifndef GUFUNC_GUFUNC_HPP
#define GUFUNC_GUFUNC_HPP

#include <gufunc/gufunc.h>

#include <complex>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gufunc {

// A failed call: the status and where it points, with the library's message as what().
class Error : public std::runtime_error {
 public:
  explicit Error(guf_status status, const guf_error &record)
      : std::runtime_error(record.message),
        status_(status),
        argument_(record.argument),
        axis_(record.axis) {}
  guf_status status() const noexcept { return status_; }
  int argument() const noexcept { return argument_; }
  int axis() const noexcept { return axis_; }

 private:
  guf_status status_;
  int argument_;
  int axis_;
};

// Calls `function(arguments..., &error)` and throws Error unless it returns GUF_OK.
template <class Function, class... Arguments>
void check(Function function, Arguments... arguments) {
  guf_error record;
  record.struct_size = sizeof record;
  record.message[0] = '\0';
  record.argument = record.axis = -1;
  const guf_status status = function(arguments..., &record);
  if (status != GUF_OK) throw Error(status, record);
}

// One reference to a library object. Copies retain, the last one releases.
template <class T, guf_status (*Retain)(T, guf_error *), guf_status (*Release)(T, guf_error *)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T adopted) noexcept : value_(adopted) {}
  Handle(const Handle &other) : value_(other.value_) { Retain(value_, nullptr); }
  Handle(Handle &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() { Release(value_, nullptr); }
  T get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ != nullptr; }

 protected:
  T value_ = nullptr;
};

template <class T>
constexpr guf_dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return GUF_BOOL;
  else if constexpr (std::is_same_v<T, float>)
    return GUF_F32;
  else if constexpr (std::is_same_v<T, double>)
    return GUF_F64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return GUF_C64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return GUF_C128;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8,
                  "no dtype of libgufunc has this C++ type");
    return (std::is_signed_v<T> ? 0U : 1U) | static_cast<guf_dtype>(8 * sizeof(T)) << 8U |
           1U << 16U;
  }
}

// An operand of a call: borrows a container's elements, an Array or a number for the call's
// duration.
class Operand {
 public:
  // Any contiguous container with data() and size(), as one dimension; read-only if its elements
  // are const.
  template <class C, class T = std::remove_pointer_t<decltype(std::declval<C &>().data())>>
  Operand(C &container) : Operand(container.data(), {static_cast<int64_t>(container.size())}) {}
  // C-contiguous memory of a shape.
  template <class T>
  Operand(T *data, std::vector<int64_t> shape) : shape_(std::move(shape)) {
    tensor_.struct_size = sizeof tensor_;
    tensor_.dtype = dtype_of<std::remove_const_t<T>>();
    tensor_.flags = std::is_const_v<T> ? static_cast<uint32_t>(GUF_TENSOR_READ_ONLY) : 0U;
    tensor_.address = reinterpret_cast<uint64_t>(data);
    kind_ = GUF_OPERAND_TENSOR;
  }
  Operand(guf_array array) : kind_(GUF_OPERAND_ARRAY), array_(array) {}
  // Python-like scalars: numbers take the type of the other operands, a bool is one.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T value) {
    static_assert(!std::is_same_v<T, long double>, "no dtype of libgufunc is long double");
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = GUF_OPERAND_SCALAR;
      dtype_ = GUF_BOOL;
      value_[0] = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      set_parts(GUF_OPERAND_WEAK_FLOAT, static_cast<double>(value), 0);
    } else {
      value_[0] = static_cast<uint64_t>(value);
      const bool beyond = std::is_unsigned_v<T> && value_[0] >> 63U != 0;
      kind_ = beyond ? GUF_OPERAND_WEAK_INT_HUGE : GUF_OPERAND_WEAK_INT;
    }
  }
  Operand(std::complex<double> value) {
    set_parts(GUF_OPERAND_WEAK_COMPLEX, value.real(), value.imag());
  }

  // Valid while this Operand lives and stays where it is.
  guf_operand c_operand() const {
    guf_operand operand = {};
    tensor_.ndim = static_cast<int32_t>(shape_.size());
    tensor_.shape = shape_.data();
    operand.kind = kind_;
    operand.array = array_;
    operand.tensor = kind_ == GUF_OPERAND_TENSOR ? &tensor_ : nullptr;
    operand.dtype = dtype_;
    operand.value[0] = value_[0];
    operand.value[1] = value_[1];
    return operand;
  }

 private:
  void set_parts(int32_t kind, double real, double imaginary) {
    kind_ = kind;
    __builtin_memcpy(&value_[0], &real, sizeof real);
    __builtin_memcpy(&value_[1], &imaginary, sizeof imaginary);
  }

  int32_t kind_ = GUF_OPERAND_NONE;
  guf_array array_ = nullptr;
  guf_dtype dtype_ = 0;  // of a scalar
  uint64_t value_[2] = {};
  std::vector<int64_t> shape_;
  mutable guf_tensor tensor_ = {};
};

class Array : public Handle<guf_array, guf_array_retain, guf_array_release> {
 public:
  using Handle::Handle;
  operator Operand() const { return Operand(get()); }
  // Values as NumPy prints them, then shape, dtype and device.
  std::string str() const {
    uint64_t length = 0;
    guf_array_print(get(), nullptr, &length, nullptr);
    std::string text(length, '\0');
    check(guf_array_print, get(), text.data(), &length);
    text.resize(length - 1);
    return text;
  }
};

class Module : public Handle<guf_module, guf_module_retain, guf_module_release> {
 public:
  explicit Module(const std::string &path, guf_context context = nullptr) {
    check(guf_module_load, context, path.c_str(), 0U, &value_);
  }
};

class Ufunc : public Handle<guf_ufunc, guf_ufunc_retain, guf_ufunc_release> {
 public:
  explicit Ufunc(const std::string &name, guf_context context = nullptr) {
    check(guf_ufunc_find, context, name.c_str(), &value_);
  }

  // Writes into `outputs`.
  void operator()(std::initializer_list<Operand> inputs,
                  std::initializer_list<Operand> outputs) const {
    std::vector<guf_operand> out = c_operands(outputs);
    call(c_operands(inputs), out);
  }
  // Allocates the one output.
  Array operator()(std::initializer_list<Operand> inputs) const {
    std::vector<guf_operand> out(1);
    call(c_operands(inputs), out);
    return Array(out[0].array);
  }

 private:
  static std::vector<guf_operand> c_operands(std::initializer_list<Operand> operands) {
    std::vector<guf_operand> made;
    for (const Operand &operand : operands) made.push_back(operand.c_operand());
    return made;
  }
  void call(const std::vector<guf_operand> &inputs, std::vector<guf_operand> &outputs) const {
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = inputs.data();
    args.ninputs = static_cast<int32_t>(inputs.size());
    args.outputs = outputs.data();
    args.noutputs = static_cast<int32_t>(outputs.size());
    check(guf_call, get(), &args);
  }
};

}  // namespace gufunc

#endif  // GUFUNC_GUFUNC_HPP
