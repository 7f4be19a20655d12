// SPDX-License-Identifier: Apache-2.0
// The one encoding that metadata of AMD's images comes in, read into a tree.
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

  // What stands under a key; an empty value where nothing does.
  const Value &operator[](const std::string &key) const;
};

// False: not msgpack, or deeper than 16 levels.
bool read_msgpack(std::string_view bytes, Value *out);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_MSGPACK_H
