// SPDX-License-Identifier: Apache-2.0
// Tests handles in operands. Every invalid handle, and every valid handle of another kind, is
// passed as the array of each operand of each method, and as the device of the operand's tensor.
#include <gmock/gmock.h>

#include <functional>

#include "misuse_fixture.h"
#include "tests/support/requests.h"

namespace misuse {
namespace {

const int64_t kShape[] = {2, 3};
const int64_t kRow[] = {3};
const int64_t kOne[] = {1};

// Operands that can be used together: a matrix, a row, an index, a mask and a number.
struct Ground {
  double matrix[6] = {1, 2, 3, 4, 5, 6};
  double row[3] = {7, 7, 7};
  int64_t index[1] = {0};
  uint8_t mask[3] = {1, 1, 1};
  guf_tensor tensors[4];
  guf_operand input, output, same, indices, where, initial;

  Ground() {
    const auto describe = [](guf_tensor *to, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                             const void *data) {
      *to = {sizeof *to, dtype, ndim, 0, reinterpret_cast<uint64_t>(data), shape, nullptr, nullptr};
    };
    describe(&tensors[0], GUF_F64, 2, kShape, matrix);
    describe(&tensors[1], GUF_F64, 1, kRow, row);
    describe(&tensors[2], GUF_I64, 1, kOne, index);
    describe(&tensors[3], GUF_BOOL, 1, kRow, mask);
    input = same = tensor(&tensors[0]);
    output = tensor(&tensors[1]);
    indices = tensor(&tensors[2]);
    where = tensor(&tensors[3]);
    initial = {GUF_OPERAND_WEAK_INT, 0, 0, 0, nullptr, nullptr, {0, 0}};
  }
  static guf_operand tensor(const guf_tensor *to) {
    return {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, to, {0, 0}};
  }
};

struct Site {
  const char *name;
  guf_operand Ground::*operand;
  guf_status (*call)(guf_ufunc, Ground &, guf_error *);
};

guf_status reduce(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &ground.input;
  args.output = &ground.output;
  args.where = &ground.where;
  args.initial = &ground.initial;
  guf_resolution found = {};
  found.struct_size = sizeof found;
  const guf_status requested = requests::resolve_reduce(ufunc, &args, &found, nullptr);
  const guf_status done = guf_reduce(ufunc, &args, error);
  EXPECT_EQ(requested, done);
  return done;
}

template <bool kStretches>
guf_status accumulate(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  guf_accumulate_args args = {};
  args.struct_size = sizeof args;
  args.input = &ground.input;
  args.output = &ground.same;
  guf_operand none = {};
  if (!kStretches) return guf_accumulate(ufunc, &args, error);
  if (ground.same.tensor == &ground.tensors[0]) args.output = &none;
  args.indices = &ground.indices;
  const guf_status status = guf_reduceat(ufunc, &args, error);
  if (none.kind == GUF_OPERAND_ARRAY) guf_array_release(none.array, nullptr);
  return status;
}

guf_status outer(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  const guf_operand inputs[] = {ground.input, ground.initial};
  guf_operand output = ground.same;
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  args.outputs = &output;
  args.noutputs = 1;
  args.where = &ground.where;
  return guf_outer(ufunc, &args, error);
}

guf_status at(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  guf_at_args args = {};
  args.struct_size = sizeof args;
  args.array = &ground.input;
  args.indices = &ground.indices;
  args.nindices = 1;
  args.operand = &ground.initial;
  return guf_at(ufunc, &args, error);
}

const Site kSites[] = {
    {"reduce input", &Ground::input, reduce},
    {"reduce output", &Ground::output, reduce},
    {"reduce where", &Ground::where, reduce},
    {"reduce initial", &Ground::initial, reduce},
    {"accumulate input", &Ground::input, accumulate<false>},
    {"accumulate output", &Ground::same, accumulate<false>},
    {"reduceat input", &Ground::input, accumulate<true>},
    {"reduceat output", &Ground::same, accumulate<true>},
    {"reduceat indices", &Ground::indices, accumulate<true>},
    {"outer first", &Ground::input, outer},
    {"outer second", &Ground::initial, outer},
    {"outer output", &Ground::same, outer},
    {"outer where", &Ground::where, outer},
    {"at array", &Ground::input, at},
    {"at indices", &Ground::indices, at},
    {"at operand", &Ground::initial, at},
};

std::vector<std::pair<std::string, uint64_t>> wrong_handles(const Fixture &fixture, int kind) {
  std::vector<std::pair<std::string, uint64_t>> handles = fixture.dead();
  handles.emplace_back("null", 0);
  for (int other = 0; other < kHandleKinds; ++other) {
    if (other != kind) handles.emplace_back("another kind", fixture.live(other));
  }
  return handles;
}

class Operands : public ::testing::Test {
 protected:
  void try_all(int kind, const std::function<void(Ground &, guf_operand *, uint64_t)> &spoil) {
    guf_ufunc add = nullptr;
    ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add, nullptr), GUF_OK);
    size_t cases = 0;
    for (const Site &site : kSites) {
      for (const auto &[what, handle] : wrong_handles(Fixture::shared(), kind)) {
        if (kind != kArray && handle == 0) continue;  // NULL is a valid device
        Ground ground;
        spoil(ground, &(ground.*site.operand), handle);
        guf_error error = {};
        error.struct_size = sizeof error;
        EXPECT_EQ(site.call(add, ground, &error), GUF_E_HANDLE)
            << site.name << ", " << what << ": " << error.message;
        EXPECT_EQ(ground.row[0], 7) << site.name;
        EXPECT_EQ(ground.matrix[1], 2) << site.name;
        ++cases;
      }
    }
    EXPECT_GT(cases, 300U);
    guf_ufunc_release(add, nullptr);
  }
};

TEST_F(Operands, OfMethodsRejectStaleArrays) {
  try_all(kArray, [](Ground &, guf_operand *operand, uint64_t handle) {
    *operand = {GUF_OPERAND_ARRAY, 0, 0, 0, reinterpret_cast<guf_array>(handle), nullptr, {0, 0}};
  });
}

TEST_F(Operands, OfMethodsRejectStaleDevices) {
  guf_tensor spoilt = {};
  try_all(kDevice, [&](Ground &ground, guf_operand *operand, uint64_t handle) {
    spoilt = operand->kind == GUF_OPERAND_TENSOR ? *operand->tensor : ground.tensors[2];
    spoilt.device = reinterpret_cast<guf_device>(handle);
    *operand = Ground::tensor(&spoilt);
  });
}

}  // namespace
}  // namespace misuse
