// SPDX-License-Identifier: Apache-2.0
// Parses msgpack, the encoding of the metadata in AMD images, into a tree.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_MSGPACK_H
#define GUFUNC_TESTS_SIM_CORE_SIM_MSGPACK_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

struct Value {
  uint64_t number = 0;
  std::string text;
  std::vector<Value> list;
  std::map<std::string, Value> table;

  // Returns the value of a key, or an empty value if the key is missing.
  const Value &operator[](const std::string &key) const;
};

// Returns false if the bytes are not msgpack or nest deeper than 16 levels.
bool read_msgpack(std::string_view bytes, Value *out);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_MSGPACK_H
