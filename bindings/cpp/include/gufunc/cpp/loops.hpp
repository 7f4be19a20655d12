// SPDX-License-Identifier: Apache-2.0
// Makes host loops and other C callbacks from C++ functions. The callbacks catch all exceptions.
#ifndef GUFUNC_CPP_LOOPS_HPP
#define GUFUNC_CPP_LOOPS_HPP

#include <gufunc/chunks.h>
#include <gufunc/cpp/dtype.hpp>
#include <gufunc/cpp/handle.hpp>

#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

namespace detail {

// Fills in an error structure; `text` is truncated at the boundary of a UTF-8 character. A status
// that is not an error becomes GUF_E_LOOP, because the call would otherwise treat it as success.
inline guf_status report(guf_error *error, guf_status status, const char *text, int argument = -1,
                         int axis = -1, int native_code = 0) noexcept {
  if (status < GUF_E_ARG) status = GUF_E_LOOP;
  if (error == nullptr) return status;
  size_t length = 0;
  while (length < sizeof error->message - 1 && text[length] != '\0') ++length;
  while (length > 0 && (text[length] & 0xC0) == 0x80) --length;
  std::memcpy(error->message, text, length);
  error->message[length] = '\0';
  error->status = status;
  error->argument = argument;
  error->axis = axis;
  error->native_code = native_code;
  return status;
}

}  // namespace detail

// Arguments of a host loop (guf_loop_error). `args` are the addresses of the operands' first
// elements. `dims` contains the number of items, followed by the sizes of the core dimensions.
// `steps` contains the byte stride of each operand from one item to the next, followed by the byte
// strides along the core dimensions of each operand.
struct Loop {
  char **args;
  const int64_t *dims;
  const int64_t *steps;
  guf_error *error = nullptr;
  int64_t items() const { return dims[0]; }
  // Reads operand k of an item. The address of the element may be unaligned if the caller of the
  // ufunc passed unaligned memory.
  template <class T>
  T load(int k, int64_t item) const {
    T value;
    std::memcpy(&value, args[k] + item * steps[k], sizeof value);
    return value;
  }
  template <class T>
  void store(int k, int64_t item, const T &value) const {
    std::memcpy(args[k] + item * steps[k], &value, sizeof value);
  }
  // Describes an error. The call fails if the loop returns the result: `return
  // loop.fail(GUF_E_VALUE, "negative")`.
  guf_status fail(guf_status status, const char *text, int argument = -1,
                  int native_code = 0) const noexcept {
    return detail::report(error, status, text, argument, -1, native_code);
  }
};

// A loop that may fail. Returns GUF_OK or the status with which the call fails.
using HostLoop = std::function<guf_status(const Loop &)>;
// A hook that checks the core dimensions of each call. It may replace sizes of -1, which no input
// determines. It may reject the call by returning an error status.
using CoreDims = std::function<guf_status(int32_t count, int64_t *sizes)>;
// A callback that runs after each chunk of a chunked call. `items` is the number of outer items of
// the call, and `done` is the number of outer items that are complete. An outer item is one index
// of the outermost loop dimension. The callback returns false to stop the call.
using Progress = std::function<bool(int64_t done, int64_t items)>;

namespace detail {

// Runs a callback. If it throws, reports the exception in `error`.
template <class Callback>
guf_status guarded(Callback callback, guf_error *error) noexcept {
#ifdef GUFUNC_NO_EXCEPTIONS
  (void)error;
  return callback();
#else
  try {
    return callback();
  } catch (const Error &failure) {
    return report(error, failure.status(), failure.what(), failure.argument(), failure.axis(),
                  failure.native_code());
  } catch (const std::bad_alloc &failure) {
    return report(error, GUF_E_NO_MEMORY, failure.what());
  } catch (const std::exception &failure) {
    return report(error, GUF_E_LOOP, failure.what());
  } catch (...) {
    return report(error, GUF_E_LOOP, "the callback threw an object that is not a std::exception");
  }
#endif
}

// Calls a function that returns a status or void.
template <class Function, class... Arguments>
guf_status status_of(const Function &function, Arguments &&...arguments) {
  using Given = decltype(function(std::forward<Arguments>(arguments)...));
  if constexpr (std::is_void_v<Given>) {
    function(std::forward<Arguments>(arguments)...);
    return GUF_OK;
  } else {
    return function(std::forward<Arguments>(arguments)...);
  }
}

inline guf_status run_loop(char **args, const int64_t *dims, const int64_t *steps, void *user,
                           guf_error *error) noexcept {
  return guarded([&] { return (*static_cast<HostLoop *>(user))(Loop{args, dims, steps, error}); },
                 error);
}
inline guf_status run_core_dims(int32_t count, int64_t *sizes, void *user,
                                guf_error *error) noexcept {
  return guarded([&] { return (*static_cast<CoreDims *>(user))(count, sizes); }, error);
}
template <class T>
void destroy(void *user) noexcept {
  delete static_cast<T *>(user);
}

// Makes an elementwise loop of a function on single elements.
template <class>
struct Elementwise;
template <class R, class... A>
struct Elementwise<R(A...)> {
  static std::vector<guf_dtype> types() { return {dtype_of<A>()..., dtype_of<R>()}; }
  template <class Function>
  static HostLoop loop(Function function) {
    return [function](const Loop &loop) {
      for (int64_t i = 0; i < loop.items(); ++i) item(function, loop, i, Places());
      return GUF_OK;
    };
  }

 private:
  using Places = std::make_integer_sequence<int, sizeof...(A)>;
  template <class Function, int... K>
  static void item(const Function &function, const Loop &loop, int64_t i,
                   std::integer_sequence<int, K...>) {
    loop.store<R>(sizeof...(A), i, function(loop.load<A>(K, i)...));
  }
};

}  // namespace detail

// Options of a chunked call; see guf_chunk_options.
struct ChunkOptions {
  uint64_t chunk_bytes = 0;
  int32_t depth = 0;
  int64_t first_item = 0;
  Progress progress;
  int64_t *out_items = nullptr;  // receives the number of complete outer items, even on failure
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_LOOPS_HPP
