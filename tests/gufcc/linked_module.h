// SPDX-License-Identifier: Apache-2.0
// Finds the entries of a module that is linked into the test, by symbol stem, for every ISA level
// of this machine.
#ifndef GUFUNC_TESTS_GUFCC_LINKED_MODULE_H
#define GUFUNC_TESTS_GUFCC_LINKED_MODULE_H

#include <gtest/gtest.h>
#include <gufunc/module_table.h>

#include <string>
#include <vector>

namespace gufunc::gufcc {

inline bool runs_here(const guf_module_image &image) {
#if defined(__x86_64__)
  const std::string target = image.target;
  if (target == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
  if (target == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
#endif
  return true;
}

// A test with a linked module. The test parameter is the index of an image.
template <const guf_module_v1 &kModule>
class LinkedModule : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    if (!runs_here(image())) GTEST_SKIP() << "this machine lacks " << image().target;
  }
  void call(const std::string &stem, const std::vector<void *> &operands,
            const std::vector<int64_t> &dims, const std::vector<int64_t> &steps) const {
    if (const guf_module_loop *loop = find_loop(stem)) enter(loop->kernel, operands, dims, steps);
  }
  void fold(const std::string &stem, const std::vector<void *> &operands,
            const std::vector<int64_t> &dims, const std::vector<int64_t> &steps) const {
    const guf_module_loop *loop = find_loop(stem);
    ASSERT_TRUE(loop != nullptr && loop->fold != 0) << stem;
    enter(loop->fold - 1, operands, dims, steps);
  }

 private:
  static const guf_module_image &image() { return kModule.images[GetParam()]; }
  static const guf_module_loop *find_loop(const std::string &stem) {
    for (uint32_t f = 0; f < kModule.nfunctions; ++f) {
      const guf_module_function &function = kModule.functions[f];
      for (uint32_t i = 0; i < function.nloops; ++i) {
        if (stem == function.loops[i].name) return &function.loops[i];
      }
    }
    ADD_FAILURE() << "no loop " << stem;
    return nullptr;
  }
  static void enter(uint32_t entry, const std::vector<void *> &operands,
                    const std::vector<int64_t> &dims, const std::vector<int64_t> &steps) {
    std::vector<char *> args;
    for (void *operand : operands) args.push_back(static_cast<char *>(operand));
    reinterpret_cast<guf_loop_numpy>(image().entries[entry])(args.data(), dims.data(), steps.data(),
                                                             nullptr);
  }
};

// Returns the name of a test parameter for INSTANTIATE_TEST_SUITE_P, such as "x86_64_v3".
inline std::string target_name(const guf_module_v1 &module, uint32_t image) {
  std::string name = module.images[image].target;
  for (char &c : name) c = c == '-' ? '_' : c;
  return name;
}

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TESTS_GUFCC_LINKED_MODULE_H
