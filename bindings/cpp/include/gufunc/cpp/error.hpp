// SPDX-License-Identifier: Apache-2.0
// Failures, which are exceptions or, with GUFUNC_NO_EXCEPTIONS, values of type Expected<T>.
#ifndef GUFUNC_CPP_ERROR_HPP
#define GUFUNC_CPP_ERROR_HPP

#include <gufunc/status.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <variant>

// The classes with exceptions and the classes without exceptions are different types with different
// mangled names. One program may therefore use both forms, in different translation units. Only C
// handles can be passed from one form to the other.
#ifdef GUFUNC_NO_EXCEPTIONS
#define GUFUNC_CPP_FORM without_exceptions
#else
#define GUFUNC_CPP_FORM with_exceptions
#endif

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// A failed call: its status and details, with the library's message as what().
class Error : public std::runtime_error {
 public:
  Error(guf_status status, const guf_error &record)
      : std::runtime_error(record.message),
        status_(status),
        argument_(record.argument),
        axis_(record.axis),
        native_code_(record.native_code) {}
  // Constructs an error that a host loop or a core_dims hook of the program throws.
  Error(guf_status status, const char *message, int argument = -1, int axis = -1,
        int native_code = 0)
      : std::runtime_error(message),
        status_(status),
        argument_(argument),
        axis_(axis),
        native_code_(native_code) {}
  guf_status status() const noexcept { return status_; }
  const char *name() const noexcept { return guf_status_name(status_); }
  // Index, from 0, of the operand or parameter that caused the failure, and the axis. Each is -1 if
  // there is none.
  int argument() const noexcept { return argument_; }
  int axis() const noexcept { return axis_; }
  // Error code of the operating system or the vendor's driver; 0 if there is none.
  int native_code() const noexcept { return native_code_; }

 private:
  guf_status status_;
  int argument_ = -1, axis_ = -1, native_code_ = 0;
};

// A value, or the Error that explains why there is no value. Reading a value or Error that is not
// present aborts the program.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const noexcept { return has_value(); }
  bool has_value() const noexcept { return state_.index() == 0; }
  T &value() & { return *checked(std::get_if<0>(&state_)); }
  const T &value() const & { return *checked(std::get_if<0>(&state_)); }
  T value() && { return std::move(*checked(std::get_if<0>(&state_))); }
  template <class U>
  T value_or(U &&otherwise) const & {
    return has_value() ? value() : static_cast<T>(std::forward<U>(otherwise));
  }
  template <class U>
  T value_or(U &&otherwise) && {
    return has_value() ? std::move(*this).value() : static_cast<T>(std::forward<U>(otherwise));
  }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }
  const Error &error() const { return *checked(std::get_if<1>(&state_)); }

 private:
  template <class P>
  static P checked(P place) {
    if (place == nullptr) std::abort();
    return place;
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const noexcept { return has_value(); }
  bool has_value() const noexcept { return state_.index() == 0; }
  void value() const {
    if (!has_value()) std::abort();
  }
  const Error &error() const {
    if (has_value()) std::abort();
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<std::monostate, Error> state_;
};

// The return type of fallible functions. It is T or, with GUFUNC_NO_EXCEPTIONS, Expected<T>.
#ifdef GUFUNC_NO_EXCEPTIONS
template <class T>
using Result = Expected<T>;
#else
template <class T>
using Result = T;
#endif

namespace detail {

// The error structure of one call, on the stack. The constructor sets only the fields that are read
// even if the library does not write them.
struct Record {
  Record() {
    error.struct_size = sizeof error;
    error.argument = error.axis = -1;
    error.native_code = 0;
    error.message[0] = '\0';
  }
  operator guf_error *() { return &error; }
  guf_error error;
};

#ifdef GUFUNC_NO_EXCEPTIONS
inline Expected<void> done(guf_status status, const Record &record) {
  if (status == GUF_OK) return {};
  return Error(status, record.error);
}
template <class Make>
auto result(guf_status status, const Record &record, Make make) -> Expected<decltype(make())> {
  if (status == GUF_OK) return make();
  return Error(status, record.error);
}
template <class T>
Expected<T> refuse(guf_status status, const char *text) {
  return Error(status, text);
}
inline Expected<bool> query_result(guf_status status, const Record &record, guf_status not_yet) {
  if (status == GUF_OK || status == not_yet) return status == GUF_OK;
  return Error(status, record.error);
}
#else
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(guf_status status, const Record &record) {
  throw Error(status, record.error);
}
inline void done(guf_status status, const Record &record) {
  if (__builtin_expect(status != GUF_OK, 0)) raise(status, record);
}
template <class Make>
auto result(guf_status status, const Record &record, Make make) -> decltype(make()) {
  if (__builtin_expect(status != GUF_OK, 0)) raise(status, record);
  return make();
}
template <class T>
[[noreturn]] T refuse(guf_status status, const char *text) {
  throw Error(status, text);
}
inline bool query_result(guf_status status, const Record &record, guf_status not_yet) {
  if (status != GUF_OK && status != not_yet) raise(status, record);
  return status == GUF_OK;
}
#endif

}  // namespace detail

// Calls `function(arguments..., &error)`. Any status except GUF_OK is a failure.
template <class Function, class... Arguments>
Result<void> check(Function function, Arguments... arguments) {
  detail::Record record;
  const guf_status status = function(arguments..., static_cast<guf_error *>(record));
  return detail::done(status, record);
}

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_ERROR_HPP
