// SPDX-License-Identifier: Apache-2.0
// Implements loops that run item by item, with any strides. The loops are not optimized for speed.
#include "tests/plugins/null_kernels.h"

#include <array>
#include <cstring>

#include "tests/plugins/null_script.h"

namespace null_plugin {
namespace {

template <class T, bool multiply>
void binary_loop(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    T a, b;
    std::memcpy(&a, args[0] + i * steps[0], sizeof a);
    std::memcpy(&b, args[1] + i * steps[1], sizeof b);
    const T result = multiply ? a * b : a + b;
    std::memcpy(args[2] + i * steps[2], &result, sizeof result);
  }
}

template <class T, bool multiply>
Loop erased() {
  return reinterpret_cast<Loop>(&binary_loop<T, multiply>);
}

const std::array<Loop, 4> kEntries = {erased<float, false>(), erased<double, false>(),
                                      erased<float, true>(), erased<double, true>()};
constexpr guf_dtype kFloat[] = {GUF_F32, GUF_F32, GUF_F32};
constexpr guf_dtype kDouble[] = {GUF_F64, GUF_F64, GUF_F64};
constexpr guf_module_loop kAddLoops[] = {{kFloat, "null_add_ff_f", 0, GUF_LOOP_NUMPY},
                                         {kDouble, "null_add_dd_d", 1, GUF_LOOP_NUMPY}};
constexpr guf_module_loop kMultiplyLoops[] = {{kFloat, "null_multiply_ff_f", 2, GUF_LOOP_NUMPY},
                                              {kDouble, "null_multiply_dd_d", 3, GUF_LOOP_NUMPY}};
constexpr char kImageData[] = "null";

guf_module_function function(const char *name, const guf_module_loop *loops) {
  guf_module_function result = {};
  result.name = name;
  result.nin = 2;
  result.nout = 1;
  result.nloops = 2;
  result.loops = loops;
  return result;
}

// Calls `body` with the operands' addresses at each item of the outer dimensions.
template <class Body>
void for_each_row(const guf_launch_block &block, Body body) {
  const int32_t nouter = block.nloop > 1 ? block.nloop - 1 : 0;
  std::array<int64_t, GUF_MAX_LOOP_NDIM> index = {};
  for (int32_t d = 0; d < nouter; ++d) {
    if (block.outer_size[d] == 0) return;
  }
  for (;;) {
    std::array<char *, GUF_MAX_OPERANDS> args = {};
    for (int32_t i = 0; i < block.noperands; ++i) {
      int64_t offset = 0;
      for (int32_t d = 0; d < nouter; ++d) {
        offset += index[static_cast<size_t>(d)] * block.outer_step[d][i];
      }
      const uint64_t address = to_host(block.address[i]) + static_cast<uint64_t>(offset);
      args[static_cast<size_t>(i)] = reinterpret_cast<char *>(address);
    }
    body(args.data());
    int32_t d = 0;
    while (d < nouter && ++index[static_cast<size_t>(d)] == block.outer_size[d]) {
      index[static_cast<size_t>(d++)] = 0;
    }
    if (d == nouter) return;
  }
}

guf_status refuse(const guf_launch_block &block, uint32_t unknown, guf_error *error) {
  if ((block.flags & unknown) == 0) return GUF_OK;
  return fail(error, GUF_E_UNSUPPORTED, "the null plugin launches plain operands only");
}

uint32_t size_of(guf_dtype dtype) {
  return (dtype >> 11) & 0x1FU;
}

}  // namespace

const guf_module_v1 *builtin_table() {
  static const guf_module_function functions[] = {function("add", kAddLoops),
                                                  function("multiply", kMultiplyLoops)};
  static const guf_module_image images[] = {
      {GUF_IMAGE_CUBIN, GUF_CODEC_NONE, "null", kImageData, sizeof kImageData, 0, nullptr}};
  static const guf_module_v1 table = {
      sizeof(guf_module_v1), GUF_KERNEL_ABI, "null_builtins", 2, 1, 4, 0, functions, images};
  return &table;
}

const Loop *entries_of(const guf_module_image &image) {
  if (image.format == GUF_IMAGE_HOST) return image.entries;
  const bool ours = image.format == GUF_IMAGE_CUBIN && std::strcmp(image.target, "null") == 0;
  return ours ? kEntries.data() : nullptr;
}

guf_status run_loop(Loop loop, void *user, const guf_launch_block &block, guf_error *error) {
  const uint32_t unknown =
      GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED | GUF_LAUNCH_ERROR;
  if (const guf_status status = refuse(block, unknown, error); status != GUF_OK) return status;
  guf_status result = GUF_OK;
  for_each_row(block, [&](char **args) {
    if ((block.flags & GUF_LAUNCH_STATUS) == 0) {
      reinterpret_cast<guf_loop_numpy>(loop)(args, block.size, block.step, user);
    } else if (result == GUF_OK) {
      result = reinterpret_cast<guf_loop_status>(loop)(args, block.size, block.step, user);
    }
  });
  return result == GUF_OK ? GUF_OK : fail(error, result, "the loop failed");
}

guf_status run_convert(const guf_launch_block &block, guf_error *error) {
  if (block.dtype[0] != block.dtype[1]) {
    return fail(error, GUF_E_UNSUPPORTED, "the null plugin converts no dtype into another");
  }
  if (const guf_status status = refuse(block, GUF_LAUNCH_SWAPPED, error); status != GUF_OK) {
    return status;
  }
  for_each_row(block, [&](char **args) {
    for (int64_t i = 0; i < block.size[0]; ++i) {
      std::memcpy(args[1] + i * block.step[1], args[0] + i * block.step[0],
                  size_of(block.dtype[0]));
    }
  });
  return GUF_OK;
}

}  // namespace null_plugin
