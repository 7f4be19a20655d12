// SPDX-License-Identifier: Apache-2.0
// Implements the methods of the backend contract in the simplest possible way.
#include "tests/plugins/null_methods.h"

#include <cstring>

#include "tests/plugins/null_kernels.h"
#include "tests/plugins/null_script.h"

namespace null_plugin {
namespace {

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
