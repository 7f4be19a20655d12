// SPDX-License-Identifier: Apache-2.0
// Calls ufuncs of the library on the program's own memory, with broadcasting, a mask and a
// reduction.
#include <cstdio>
#include <gufunc/gufunc.hpp>

int main() try {
  const gufunc::Ufunc add("add"), maximum("maximum");
  std::vector<double> column{10, 20}, row{1, 2, 3}, sums(6);
  const gufunc::Operand upright(column.data(), {2, 1}), matrix(sums.data(), {2, 3});
  add({upright, row}, {matrix});  // (2, 1) and (3,) broadcast to (2, 3)
  std::puts(gufunc::Array::wrap(matrix).str().c_str());

  const bool flags[] = {true, false, true};
  add({matrix, 100}, {matrix}, gufunc::CallKeywords().where(gufunc::Operand(flags, {3})));
  std::puts(gufunc::Array::wrap(matrix).str().c_str());
  std::puts(maximum.reduce(matrix, gufunc::ReduceKeywords().axis(1)).str().c_str());
  add({row, column});  // (3,) and (2,) cannot be broadcast
} catch (const gufunc::Error &error) {
  std::printf("%s: %s\n", error.name(), error.what());
}
