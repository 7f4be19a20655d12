// SPDX-License-Identifier: Apache-2.0
// Exported functions as data: what misuse_table.inc is made of.
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

// What a parameter or field is, and so in which ways it can be broken.
enum class Class {
  kHandle,
  kPointer,    // read by the function
  kStructIn,   // a struct that is read, with struct_size
  kStructOut,  // a struct that is written, with struct_size
  kOut,        // anything else that is written
  kDtype,
  kInt32,
  kUint32,
  kUint64,
  kError,
};

// Handles in the table's numbering.
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

using Words = std::array<uint64_t, 12>;  // one per parameter

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
  int handle;  // of a handle, or of what an out-parameter receives; else -1
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
