// SPDX-License-Identifier: Apache-2.0
// Implements loops that run item by item, with any strides, and the methods of the backend contract
// in the simplest possible way. The loops are not optimized for speed.
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

struct Item {
  uint64_t input, output, mask;
};

// Runs a method, one result item at a time.
class Run {
 public:
  explicit Run(const MethodCopy &method) : method_(method), block_(method.block) {
    itemsize_ = (block_.loop_dtype >> 11) & 0x1FU;
  }

  void reduce(const Item &item) {
    char value[16];
    bool has_value = (block_.flags & GUF_METHOD_INITIAL) != 0;
    if (has_value) std::memcpy(value, block_.initial, itemsize_);
    fold(block_.nfold - 1, item.input, item.mask, value, &has_value);
    std::memcpy(at(item.output), value, itemsize_);
  }

  void accumulate(const Item &item) {
    char value[16];
    bool has_value = false;
    for (int64_t i = 0; i < block_.fold_size[0]; ++i) {
      take(item.input + offset(i, block_.fold_input_step[0]), value, &has_value);
      std::memcpy(at(item.output + offset(i, block_.fold_output_step)), value, itemsize_);
    }
  }

  void reduceat(const Item &item) {
    for (int64_t k = 0; k < block_.nindices; ++k) {
      const int64_t first = block_.indices[k];
      const int64_t end = k + 1 < block_.nindices ? block_.indices[k + 1] : block_.fold_size[0];
      char value[16];
      bool has_value = false;
      int64_t i = first;
      do {
        take(item.input + offset(i, block_.fold_input_step[0]), value, &has_value);
      } while (++i < end);
      std::memcpy(at(item.output + offset(k, block_.fold_output_step)), value, itemsize_);
    }
  }

  void apply_at(const Item &item, int64_t k) {
    char *const place = at(item.output + static_cast<uint64_t>(block_.indices[k]));
    if (block_.input == 0) {
      call(place, place, place);
    } else {
      call(place, at(item.input + static_cast<uint64_t>(block_.operand_indices[k])), place);
    }
  }

 private:
  static uint64_t offset(int64_t i, int64_t step) { return static_cast<uint64_t>(i * step); }
  static char *at(uint64_t address) { return reinterpret_cast<char *>(to_host(address)); }

  // Calls the loop for one item. The loop is unary for `at` without an operand, and binary
  // otherwise.
  void call(char *left, char *right, char *result) const {
    char *binary[3] = {left, right, result};
    char *unary[2] = {left, result};
    const bool is_unary = block_.method == GUF_METHOD_AT && block_.input == 0;
    const int64_t one = 1;
    const int64_t steps[3] = {0, 0, 0};
    method_.loop(is_unary ? unary : binary, &one, steps, method_.user);
  }

  void take(uint64_t element, char *value, bool *has_value) const {
    if (*has_value) {
      call(value, at(element), value);
    } else {
      std::memcpy(value, at(element), itemsize_);
    }
    *has_value = true;
  }

  void fold(int32_t d, uint64_t input, uint64_t mask, char *value, bool *has_value) const {
    if (d < 0) {
      if (block_.mask == 0 || *at(mask) != 0) take(input, value, has_value);
      return;
    }
    for (int64_t i = 0; i < block_.fold_size[d]; ++i) {
      fold(d - 1, input + offset(i, block_.fold_input_step[d]),
           mask + offset(i, block_.fold_mask_step[d]), value, has_value);
    }
  }

  const MethodCopy &method_;
  const guf_method_block &block_;
  size_t itemsize_;
};

template <class Body>
void for_each_item(const guf_method_block &block, Body body) {
  for (uint64_t n = 0; n < block.items; ++n) {
    uint64_t rest = n;
    Item item = {block.input, block.output, block.mask};
    for (int32_t d = 0; d < block.nkept; ++d) {
      const auto size = static_cast<uint64_t>(block.kept_size[d]);
      const auto i = static_cast<int64_t>(rest % size);
      item.input += static_cast<uint64_t>(i * block.kept_input_step[d]);
      item.output += static_cast<uint64_t>(i * block.kept_output_step[d]);
      item.mask += static_cast<uint64_t>(i * block.kept_mask_step[d]);
      rest /= size;
    }
    body(item);
  }
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

MethodCopy::MethodCopy(const guf_backend_method &method)
    : loop(reinterpret_cast<guf_loop_numpy>(method.kernel)),
      user(method.user),
      valid(method.block != nullptr) {
  if (!valid) return;
  block = *method.block;
  if (block.indices != nullptr) indices.assign(block.indices, block.indices + block.nindices);
  if (block.operand_indices != nullptr) {
    operand_indices.assign(block.operand_indices, block.operand_indices + block.nindices);
  }
  block.indices = indices.data();
  block.operand_indices = operand_indices.data();
}

guf_status run_method(const MethodCopy &method, guf_error *error) {
  const guf_method_block &block = method.block;
  if (!method.valid || (block.flags & (GUF_METHOD_STATUS | GUF_METHOD_MIXED)) != 0 ||
      (block.input != 0 && block.input_dtype != block.loop_dtype) ||
      block.output_dtype != block.loop_dtype) {
    return fail(error, GUF_E_UNSUPPORTED, "the null plugin reduces plain operands only");
  }
  Run run(method);
  switch (block.method) {
    case GUF_METHOD_REDUCE:
      for_each_item(block, [&](const Item &item) { run.reduce(item); });
      return GUF_OK;
    case GUF_METHOD_ACCUMULATE:
      for_each_item(block, [&](const Item &item) { run.accumulate(item); });
      return GUF_OK;
    case GUF_METHOD_REDUCEAT:
      for_each_item(block, [&](const Item &item) { run.reduceat(item); });
      return GUF_OK;
    case GUF_METHOD_AT:
      for (int64_t k = 0; k < block.nindices; ++k) {
        for_each_item(block, [&](const Item &item) { run.apply_at(item, k); });
      }
      return GUF_OK;
    default:
      return fail(error, GUF_E_UNSUPPORTED, "the null plugin knows four methods");
  }
}

}  // namespace null_plugin
