// SPDX-License-Identifier: Apache-2.0
// Functions of whole rows from the standard library: probabilities of classes from scores, and the
// classes in ascending order of their probabilities. Usage: array_functions [cuda:0]
#include "call.hpp"

int main(int argc, char **argv) try {
  guf_device device = nullptr;
  check(guf_device_get, nullptr, argc > 1 ? argv[1] : "cpu", &device);
  std::vector<double> scores{1, 3, 2, 1000, 1000, -1000}, probabilities(6), total(2);
  std::vector<int64_t> order(6);
  const Operand rows(probabilities.data(), {2, 3});
  call("softmax", {Operand(scores.data(), {2, 3})}, {rows}, on(device));
  call("argsort", {rows}, {Operand(order.data(), {2, 3})}, on(device));
  call("logsumexp", {Operand(scores.data(), {2, 3})}, {total}, on(device));
  print(probabilities, 3);
  print(order, 3);
  print(total, 2);
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", guf_status_name(error.status()), error.what());
  return 1;
}
