// SPDX-License-Identifier: Apache-2.0
// Describes exported functions as data. misuse_table.inc contains values of these types.
#ifndef GUFUNC_TESTS_ABI_MISUSE_MISUSE_MODEL_H
#define GUFUNC_TESTS_ABI_MISUSE_MISUSE_MODEL_H

#include <gufunc/gufunc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace misuse {

// The class of a parameter or field, which determines its invalid values.
enum class Class {
  kHandle,
  kPointer,    // input that the function reads
  kStructIn,   // input struct with struct_size
  kStructOut,  // output struct with struct_size
  kOut,        // any other output
  kDtype,
  kInt32,
  kUint32,
  kUint64,
  kError,
};

// The kinds of handles. misuse_table.inc refers to the kinds by number.
enum Handle {
  kContext,
  kDevice,
  kStream,
  kEvent,
  kArray,
  kUfunc,
  kModule,
  kPlan,
  kGraph,
  kKernel,
  kHandleKinds
};

using Words = std::array<uint64_t, 12>;  // one word per parameter

template <class T>
T as(uint64_t word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);
  } else {
    return static_cast<T>(word);
  }
}

struct Parameter {
  const char *name;
  Class kind;
  int handle;  // kind of a handle that is passed or returned, or -1
  bool null_ok;
  const char *structure;
};

struct Function {
  const char *name;
  guf_status (*call)(const Words &words);
  std::vector<Parameter> parameters;
};

struct Field {
  const char *name;
  Class kind;
  int handle;
  size_t offset;
};

struct Struct {
  const char *name;
  size_t size;
  std::vector<Field> fields;
};

#include "misuse_table.inc"

}  // namespace misuse

#endif  // GUFUNC_TESTS_ABI_MISUSE_MISUSE_MODEL_H
