// SPDX-License-Identifier: Apache-2.0
// Tests gufunc/ufunc.h: creating ufuncs, adding loops, and finding and describing ufuncs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"
#include "tests/support/requests.h"

namespace {

void twice(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    *reinterpret_cast<float *>(args[1] + i * steps[1]) =
        2 * *reinterpret_cast<float *>(args[0] + i * steps[0]);
  }
}
guf_status refuse(char **, const int64_t *, const int64_t *, void *) {
  return GUF_E_VALUE;
}
guf_status refuse_aloud(char **, const int64_t *, const int64_t *, void *, guf_error *) {
  return GUF_E_VALUE;
}
void count(void *user) {
  ++*static_cast<int *>(user);
}

// The number of standard functions.
constexpr uint32_t kStandard = 0
#define GUF_OP(name, nin, nout, signature, identity, flags, loops, doc) +1
#define GUF_OP_REDUCTION(name, nin, nout, signature, flags, loops, merge, finish, doc) +1
#include <gufunc/ops.def>
    ;

const guf_dtype kFloats[] = {GUF_F32, GUF_F32};
const guf_module_loop kModuleLoops[] = {{kFloats, "twice_f_f", 0, GUF_LOOP_NUMPY}};
const guf_module_function kModuleFunctions[] = {
    {"twice", nullptr, nullptr, nullptr, "2 * x", 1, 1, 0, 0, 1, 0, 0, kModuleLoops},
    {"rows", "(n)->(n)", nullptr, nullptr, nullptr, 1, 1, 0, 0, 1, 0, 0, kModuleLoops}};
void (*const kEntries[])(void) = {reinterpret_cast<void (*)(void)>(twice)};
const guf_module_image kImages[] = {
    {GUF_IMAGE_HOST, GUF_CODEC_NONE, "x86-64", nullptr, 0, 0, kEntries}};
const guf_module_v1 kTable = {sizeof(guf_module_v1), GUF_KERNEL_ABI, "capi", 2, 1, 1, 0,
                              kModuleFunctions,      kImages};

class UfuncCapi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(guf_context_create(0, &context_, nullptr), GUF_OK); }
  void TearDown() override {
    for (guf_ufunc ufunc : made_) EXPECT_EQ(guf_ufunc_release(ufunc, nullptr), GUF_OK);
    EXPECT_EQ(guf_context_release(context_, nullptr), GUF_OK);
    EXPECT_EQ(guf_poll(0, nullptr, nullptr), GUF_OK);
  }
  static guf_ufunc_desc desc(const char *name) {
    guf_ufunc_desc made = {};
    made.struct_size = sizeof made;
    made.name = name;
    made.nin = made.nout = 1;
    return made;
  }
  guf_status create(const guf_ufunc_desc &desc, guf_ufunc *out = nullptr) {
    guf_ufunc ufunc = nullptr;
    const guf_status status = guf_ufunc_create(context_, &desc, &ufunc, &error_);
    if (status == GUF_OK) made_.push_back(ufunc);
    if (out != nullptr) *out = ufunc;
    return status;
  }
  guf_loop_desc loop(const guf_dtype *types = kFloats) {
    guf_loop_desc made = {};
    made.struct_size = sizeof made;
    made.kind = GUF_LOOP_NUMPY;
    made.ntypes = 2;
    made.types = types;
    made.numpy = twice;
    made.user = &ndestroyed_;
    made.destroy = count;
    return made;
  }

  guf_context context_ = nullptr;
  guf_error error_ = fresh_error();
  std::vector<guf_ufunc> made_;
  int ndestroyed_ = 0;
};

TEST_F(UfuncCapi, CreatesAndDescribes) {
  guf_ufunc_desc expected = desc("smooth");
  expected.nin = expected.nout = 0;
  expected.signature = "(n),()->(p)";
  expected.rules = "p=n+1";
  expected.doc = "a doc";
  expected.identity = GUF_IDENTITY_ONE;
  expected.flags = GUF_FUNCTION_INPLACE_SAFE;
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(create(expected, &ufunc), GUF_OK) << error_.message;
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_ufunc_get_info(ufunc, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.name, "smooth");
  EXPECT_STREQ(info.signature, "(n),()->(p)");
  EXPECT_STREQ(info.rules, "p=n+1");
  EXPECT_STREQ(info.doc, "a doc");
  EXPECT_EQ(info.nin, 2);
  EXPECT_EQ(info.nout, 1);
  EXPECT_EQ(info.identity, GUF_IDENTITY_ONE);
  EXPECT_EQ(info.flags, uint32_t{GUF_FUNCTION_INPLACE_SAFE});
  EXPECT_EQ(info.nloops, 0U);
  guf_ufunc again = nullptr;
  ASSERT_EQ(guf_ufunc_find(context_, "smooth", &again, nullptr), GUF_OK);
  EXPECT_EQ(again, ufunc);
  EXPECT_EQ(guf_ufunc_release(again, nullptr), GUF_OK);
}

TEST_F(UfuncCapi, DescribesCoreDimensions) {
  guf_ufunc_desc expected = desc("products");
  expected.nin = expected.nout = 0;
  expected.signature = "(m?,n),( n , p? ),(q|1),()->(m?,p?),(3,n,n)";
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(create(expected, &ufunc), GUF_OK) << error_.message;
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_ufunc_get_info(ufunc, &info, nullptr), GUF_OK);
  using testing::ElementsAre;
  EXPECT_EQ(info.ncore, 5);  // m, n, p, q and 3
  EXPECT_THAT(std::vector<int32_t>(info.core_ndim, info.core_ndim + 7),
              ElementsAre(2, 2, 1, 0, 2, 3, 0));
  EXPECT_THAT(std::vector<int32_t>(info.core_dims, info.core_dims + 11),
              ElementsAre(0, 1, 1, 2, 3, 0, 2, 4, 1, 1, 0));
  EXPECT_THAT(std::vector<uint32_t>(info.core_flags, info.core_flags + 6),
              ElementsAre(GUF_CORE_DIM_OPTIONAL, 0, GUF_CORE_DIM_OPTIONAL,
                          GUF_CORE_DIM_BROADCASTABLE, 0, 0));
  EXPECT_THAT(std::vector<int64_t>(info.core_sizes, info.core_sizes + 6),
              ElementsAre(-1, -1, -1, -1, 3, 0));
  expected = desc("plain");
  ASSERT_EQ(create(expected, &ufunc), GUF_OK) << error_.message;
  ASSERT_EQ(guf_ufunc_get_info(ufunc, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.ncore, 0);
  EXPECT_EQ(info.core_ndim[0], 0);
}

TEST_F(UfuncCapi, DescribesRoles) {
  const int32_t roles[] = {GUF_ROLE_IN, GUF_ROLE_INOUT, GUF_ROLE_OUT};
  guf_ufunc_desc expected = desc("steps");
  expected.nin = 1;
  expected.nout = 2;
  expected.roles = roles;
  expected.nroles = 3;
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(create(expected, &ufunc), GUF_OK) << error_.message;
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_ufunc_get_info(ufunc, &info, nullptr), GUF_OK);
  EXPECT_THAT(std::vector<int32_t>(info.roles, info.roles + 4),
              testing::ElementsAre(GUF_ROLE_IN, GUF_ROLE_INOUT, GUF_ROLE_OUT, 0));
  expected = desc("defaults");
  expected.nin = 2;
  expected.nout = 1;
  ASSERT_EQ(create(expected, &ufunc), GUF_OK) << error_.message;
  ASSERT_EQ(guf_ufunc_get_info(ufunc, &info, nullptr), GUF_OK);
  EXPECT_THAT(std::vector<int32_t>(info.roles, info.roles + 3),
              testing::ElementsAre(GUF_ROLE_IN, GUF_ROLE_IN, GUF_ROLE_OUT));
}

TEST_F(UfuncCapi, DescribesReductions) {
  const auto make = [this](const char *name, int32_t nin, int32_t nout, const char *signature) {
    guf_ufunc_desc expected = desc(name);
    expected.nin = nin;
    expected.nout = nout;
    expected.signature = signature;
    guf_ufunc made = nullptr;
    EXPECT_EQ(create(expected, &made), GUF_OK) << error_.message;
    return made;
  };
  const guf_ufunc block_function = make("range", 1, 2, "(n)->(),()"),
                  bare = make("both", 1, 2, "(n)->(),()");
  const guf_ufunc merge = make("range_merge", 4, 2, nullptr);
  const guf_ufunc finish = make("range_finish", 2, 3, nullptr);
  guf_reduction_desc parts = {sizeof parts, 0, merge, finish};
  ASSERT_EQ(guf_ufunc_set_reduction(block_function, &parts, &error_), GUF_OK) << error_.message;
  parts.finish = nullptr;
  ASSERT_EQ(guf_ufunc_set_reduction(bare, &parts, &error_), GUF_OK) << error_.message;
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_ufunc_get_info(block_function, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.nresults, 3);
  EXPECT_STREQ(info.merge, "range_merge");
  EXPECT_STREQ(info.finish, "range_finish");
  ASSERT_EQ(guf_ufunc_get_info(bare, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.nresults, 2);
  EXPECT_STREQ(info.finish, "");
  ASSERT_EQ(guf_ufunc_get_info(merge, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.nresults, 0);
  EXPECT_STREQ(info.merge, "");
  info.struct_size = offsetof(guf_ufunc_info, nresults);
  info.nresults = 77;
  ASSERT_EQ(guf_ufunc_get_info(block_function, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.nresults, 77);  // unchanged: outside the caller's smaller struct
}

// The caller was compiled for a version in which operands had no roles.
TEST_F(UfuncCapi, DescribesToAnOlderStruct) {
  guf_ufunc ufunc = nullptr;
  guf_ufunc_desc expected = desc("older");
  ASSERT_EQ(create(expected, &ufunc), GUF_OK) << error_.message;
  guf_ufunc_info info = {};
  info.struct_size = offsetof(guf_ufunc_info, roles);
  std::memset(info.roles, 0x5A, sizeof info.roles);
  ASSERT_EQ(guf_ufunc_get_info(ufunc, &info, &error_), GUF_OK) << error_.message;
  EXPECT_STREQ(info.name, "older");
  EXPECT_EQ(info.struct_size, offsetof(guf_ufunc_info, roles));
  for (const int32_t role : info.roles) EXPECT_EQ(role, 0x5A5A5A5A);
  info.struct_size = offsetof(guf_ufunc_info, roles) - 1;
  EXPECT_EQ(guf_ufunc_get_info(ufunc, &info, &error_), GUF_E_STRUCT);
}

TEST_F(UfuncCapi, CreateRefuses) {
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(context_, nullptr, &ufunc, nullptr), GUF_E_ARG);
  guf_ufunc_desc expected = desc("x");
  EXPECT_EQ(guf_ufunc_create(context_, &expected, nullptr, nullptr), GUF_E_ARG);
  for (const char *name :
       {static_cast<const char *>(nullptr), "", "1x", "a b", "m:x", "caf\xc3\xa9"}) {
    expected = desc(name);
    EXPECT_EQ(create(expected), GUF_E_ARG) << (name == nullptr ? "NULL" : name);
  }
  EXPECT_EQ(create(desc(std::string(64, 'x').c_str())), GUF_E_ARG);
  EXPECT_EQ(create(desc(std::string(63, 'x').c_str())), GUF_OK);
  const auto with = [](auto change) {
    guf_ufunc_desc changed = desc("changed");
    change(changed);
    return changed;
  };
  EXPECT_EQ(create(with([](auto &d) { d.struct_size = 0; })), GUF_E_STRUCT);
  EXPECT_EQ(create(with([](auto &d) { d.nin = -1; })), GUF_E_ARG);
  EXPECT_EQ(create(with([](auto &d) { d.nin = 32; })), GUF_E_ARG);
  EXPECT_EQ(create(with([](auto &d) { d.identity = 6; })), GUF_E_ARG);
  EXPECT_EQ(create(with([](auto &d) { d.flags = 1U << 30; })), GUF_E_ARG);
  EXPECT_EQ(create(with([](auto &d) { d.nroles = 2; })), GUF_E_ARG);
  EXPECT_EQ(create(with([](auto &d) { d.signature = "(n"; })), GUF_E_SIGNATURE);
  EXPECT_EQ(create(with([](auto &d) { d.rules = "n=1"; })), GUF_E_SIGNATURE);
  EXPECT_EQ(create(with([](auto &d) { d.signature = "(n),(n)->()"; })), GUF_E_ARG);
  EXPECT_EQ(create(desc("add")), GUF_E_EXISTS);
  EXPECT_EQ(create(desc("pow")), GUF_E_EXISTS);
  EXPECT_EQ(create(desc("changed")), GUF_OK);  // a rejected ufunc does not occupy its name
}

TEST_F(UfuncCapi, AddsLoops) {
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(create(desc("twice"), &ufunc), GUF_OK);
  const guf_loop_desc good = loop();
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &good, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &good, nullptr), GUF_E_EXISTS);
  guf_dtype types[2] = {};
  ASSERT_EQ(guf_ufunc_loop_types(ufunc, 0, 2, types, nullptr), GUF_OK);
  EXPECT_EQ(types[0], guf_dtype{GUF_F32});
  EXPECT_EQ(guf_ufunc_loop_types(ufunc, 1, 2, types, nullptr), GUF_E_INDEX);
  EXPECT_EQ(guf_ufunc_loop_types(ufunc, 0, 1, types, nullptr), GUF_E_BUFFER_TOO_SMALL);
  EXPECT_EQ(guf_ufunc_loop_types(ufunc, 0, 2, nullptr, nullptr), GUF_E_ARG);
}

TEST_F(UfuncCapi, AddLoopRefuses) {
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(create(desc("twice"), &ufunc), GUF_OK);
  const guf_dtype wrong[] = {GUF_F32, 3};
  const auto add = [&](auto change) {
    guf_loop_desc changed = loop();
    change(changed);
    return guf_ufunc_add_loop(ufunc, &changed, nullptr);
  };
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.struct_size = 4; }), GUF_E_STRUCT);
  EXPECT_EQ(add([](auto &d) { d.kind = 0; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.kind = GUF_LOOP_STATUS; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.status = refuse; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.kind = GUF_LOOP_ERROR; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.kind = GUF_LOOP_ERROR + 1; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.error = refuse_aloud; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.numpy = nullptr; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.flags = 2; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.ntypes = 3; }), GUF_E_ARG);
  EXPECT_EQ(add([](auto &d) { d.types = nullptr; }), GUF_E_ARG);
  EXPECT_EQ(add([&](auto &d) { d.types = wrong; }), GUF_E_DTYPE);
  EXPECT_EQ(guf_poll(0, nullptr, nullptr), GUF_OK);
  EXPECT_EQ(ndestroyed_, 0);  // not called for a rejected loop
}

TEST_F(UfuncCapi, DestroyRunsOnceWhenTheUfuncIsGone) {
  guf_ufunc ufunc = nullptr;
  const guf_ufunc_desc expected = desc("twice");
  ASSERT_EQ(guf_ufunc_create(context_, &expected, &ufunc, nullptr), GUF_OK);
  const guf_loop_desc good = loop();
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &good, nullptr), GUF_OK);
  EXPECT_EQ(guf_ufunc_release(ufunc, nullptr), GUF_OK);
  EXPECT_EQ(guf_poll(0, nullptr, nullptr), GUF_OK);
  EXPECT_EQ(ndestroyed_, 0);  // the context keeps the ufunc alive
  EXPECT_EQ(guf_context_release(context_, nullptr), GUF_OK);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(guf_poll(0, nullptr, nullptr), GUF_OK);
  EXPECT_EQ(ndestroyed_, 1);
  ASSERT_EQ(guf_context_create(0, &context_, nullptr), GUF_OK);
}

TEST_F(UfuncCapi, AddsModuleLoops) {
  guf_module module = nullptr;
  ASSERT_EQ(guf_module_register(context_, &kTable, &module, &error_), GUF_OK) << error_.message;
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(create(desc("mine"), &ufunc), GUF_OK);
  const guf_dtype doubles[] = {GUF_F64, GUF_F64};
  const auto add = [&](const char *function, const guf_dtype *types, int32_t ntypes = 2) {
    return guf_ufunc_add_module_loop(ufunc, module, function, ntypes, types, &error_);
  };
  EXPECT_EQ(add(nullptr, kFloats), GUF_E_ARG);
  EXPECT_EQ(add("twice", nullptr), GUF_E_ARG);
  EXPECT_EQ(add("twice", kFloats, 1), GUF_E_ARG);
  EXPECT_EQ(add("thrice", kFloats), GUF_E_NOT_FOUND);
  EXPECT_EQ(add("twice", doubles), GUF_E_NOT_FOUND);
  EXPECT_EQ(add("rows", kFloats), GUF_E_SIGNATURE);
  EXPECT_EQ(add("twice", kFloats), GUF_OK) << error_.message;
  EXPECT_EQ(add("twice", kFloats), GUF_E_EXISTS);
  guf_ufunc found = nullptr;
  ASSERT_EQ(guf_ufunc_find(context_, "rows", &found, &error_), GUF_OK) << error_.message;
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_ufunc_get_info(found, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.name, "capi:rows");
  EXPECT_EQ(guf_ufunc_release(found, nullptr), GUF_OK);
  EXPECT_EQ(guf_module_release(module, nullptr), GUF_OK);
}

TEST_F(UfuncCapi, ListsTheFunctionsOfAModule) {
  guf_module module = nullptr;
  ASSERT_EQ(guf_module_register(context_, &kTable, &module, &error_), GUF_OK) << error_.message;
  char name[] = "capi:twice";
  EXPECT_EQ(guf_module_function_at(module, 1, name, sizeof name, &error_), GUF_OK);
  EXPECT_STREQ(name, "capi:rows");
  EXPECT_EQ(guf_module_function_at(module, 0, name, sizeof name, &error_), GUF_OK);
  EXPECT_STREQ(name, "capi:twice");
  EXPECT_EQ(guf_module_function_at(module, 0, name, sizeof name - 1, &error_),
            GUF_E_BUFFER_TOO_SMALL);
  EXPECT_EQ(guf_module_function_at(module, 2, name, sizeof name, &error_), GUF_E_INDEX);
  EXPECT_EQ(guf_module_function_at(module, 0, nullptr, sizeof name, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_module_release(module, nullptr), GUF_OK);
  EXPECT_EQ(guf_module_function_at(module, 0, name, sizeof name, &error_), GUF_E_HANDLE);
}

TEST_F(UfuncCapi, ListsNamesInOrder) {
  ASSERT_EQ(create(desc("aardvark")), GUF_OK);
  uint32_t count = 0;
  ASSERT_EQ(guf_ufunc_count(context_, &count, nullptr), GUF_OK);
  EXPECT_EQ(count, kStandard + 1);
  std::string before;
  for (uint32_t i = 0; i < count; ++i) {
    char name[128];
    ASSERT_EQ(guf_ufunc_name_at(context_, i, name, sizeof name, nullptr), GUF_OK);
    EXPECT_LT(before, name);
    before = name;
  }
  char buffer[9] = "untouch.";
  EXPECT_EQ(guf_ufunc_name_at(context_, count, buffer, sizeof buffer, nullptr), GUF_E_INDEX);
  EXPECT_EQ(guf_ufunc_name_at(context_, 0, buffer, 8, nullptr), GUF_E_BUFFER_TOO_SMALL);
  EXPECT_STREQ(buffer, "untouch.");
  EXPECT_EQ(guf_ufunc_name_at(context_, 0, buffer, 9, nullptr), GUF_OK);
  EXPECT_STREQ(buffer, "aardvark");
  EXPECT_EQ(guf_ufunc_name_at(context_, 0, nullptr, 9, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_ufunc_count(context_, nullptr, nullptr), GUF_E_ARG);
}

// guf_resolve fills the caller's struct and sets the bytes after the known fields to zero. It does
// not write elements of output_shapes beyond the outputs and dimensions of the call.
TEST_F(UfuncCapi, ResolvesIntoTheCallersStruct) {
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_find(nullptr, "add", &ufunc, nullptr), GUF_OK);
  float data[6] = {1, 1, 1, 1, 1, 1};
  gufunc::Operands operands;
  const guf_operand input = *operands.tensor({GUF_F32, data, {2, 3}, {}, 0});
  const guf_operand inputs[] = {input, input};
  guf_operand output = {};
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.outputs = &output;
  args.ninputs = 2;
  args.noutputs = 1;
  struct {
    guf_resolution found;
    uint64_t later;  // field of a later version
  } buffer;
  std::memset(&buffer, 0x5A, sizeof buffer);
  buffer.found.struct_size = sizeof buffer;
  ASSERT_EQ(requests::resolve_call(ufunc, &args, &buffer.found, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(buffer.found.struct_size, sizeof buffer);
  EXPECT_EQ(buffer.found.noperands, 3);
  EXPECT_EQ(buffer.found.dtypes[2], guf_dtype{GUF_F32});
  EXPECT_EQ(buffer.found.dtypes[3], guf_dtype{0});
  ASSERT_EQ(buffer.found.output_ndims[0], 2);
  EXPECT_EQ(buffer.found.output_shapes[0][0], 2);
  EXPECT_EQ(buffer.found.output_shapes[0][1], 3);
  EXPECT_EQ(buffer.found.output_shapes[0][2], 0x5A5A5A5A5A5A5A5A);
  EXPECT_EQ(buffer.found.output_ndims[1], 0);
  EXPECT_EQ(buffer.found.output_shapes[1][0], 0x5A5A5A5A5A5A5A5A);
  EXPECT_EQ(buffer.later, 0U);
}

TEST_F(UfuncCapi, FindRefuses) {
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_find(context_, nullptr, &ufunc, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_ufunc_find(context_, "add", nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_ufunc_find(nullptr, "sqrr", &ufunc, &error_), GUF_E_NOT_FOUND);
  EXPECT_STREQ(error_.message, "no ufunc named 'sqrr'; did you mean 'sqrt'?");
  EXPECT_EQ(ufunc, nullptr);
}

}  // namespace
