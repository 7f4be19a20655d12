// SPDX-License-Identifier: Apache-2.0
// Finds and makes ufuncs of the default context.
#ifndef GUFUNC_TESTS_SUPPORT_UFUNCS_H
#define GUFUNC_TESTS_SUPPORT_UFUNCS_H

#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <vector>

#include "tests/support/fresh_error.h"

namespace gufunc {

inline guf_ufunc find_ufunc(const char *name) {
  guf_error error = fresh_error();
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_find(nullptr, name, &ufunc, &error), GUF_OK) << error.message;
  return ufunc;
}

// Makes a ufunc with one loop.
inline guf_ufunc make_ufunc(const char *name, const char *signature, int32_t nin, int32_t nout,
                            const std::vector<int32_t> &roles, guf_loop_numpy function,
                            const std::vector<guf_dtype> &types, uint32_t flags = 0,
                            uint32_t loop_flags = 0, void *user = nullptr) {
  guf_error error = fresh_error();
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = nin;
  desc.nout = nout;
  desc.flags = flags;
  desc.name = name;
  desc.signature = signature;
  desc.roles = roles.empty() ? nullptr : roles.data();
  desc.nroles = static_cast<int32_t>(roles.size());
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error), GUF_OK) << error.message;
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.flags = loop_flags;
  loop.ntypes = static_cast<int32_t>(types.size());
  loop.types = types.data();
  loop.numpy = function;
  loop.user = user;
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error), GUF_OK) << error.message;
  return ufunc;
}

}  // namespace gufunc

#endif  // GUFUNC_TESTS_SUPPORT_UFUNCS_H
