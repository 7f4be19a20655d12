// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cpu/method_reference.h"

#include <algorithm>
#include <cstring>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {

MethodLoop find_method_loop(const std::string &function, guf_dtype dtype, bool unary) {
  const guf_module_v1 *const table = cpu().builtins();
  const guf_module_image *best = nullptr;
  for (uint32_t i = 0; i < table->nimages; ++i) {
    const guf_module_image *const image = &table->images[i];
    if (best == nullptr ||
        cpu().image_score(cpu_device(), image) > cpu().image_score(cpu_device(), best)) {
      best = image;
    }
  }
  MethodLoop found;
  for (uint32_t f = 0; f < table->nfunctions; ++f) {
    const guf_module_function &row = table->functions[f];
    if (function != row.name) continue;
    for (uint32_t l = 0; l < row.nloops; ++l) {
      const guf_module_loop &loop = row.loops[l];
      if (loop.types[0] != dtype || (!unary && loop.types[1] != dtype)) continue;
      found.kernel = reinterpret_cast<void *>(best->entries[loop.kernel]);
      found.kind = loop.kind;
      if (loop.fold != 0) found.fold = reinterpret_cast<void *>(best->entries[loop.fold - 1]);
    }
  }
  EXPECT_NE(found.kernel, nullptr) << function << " of dtype " << dtype;
  return found;
}

Value converted(const Value &value, guf_dtype from, guf_dtype to) {
  if (from == to) return value;
  Value result = {};
  BlockRow row{
      1, {}, {const_cast<unsigned char *>(value.data()), result.data()}, {{}, {}}, {from, to}};
  const guf_launch_block block = make_block(row);
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().convert(cpu_device(), nullptr, &block, &error), GUF_OK) << error.message;
  return result;
}

Arithmetic::Arithmetic(const std::string &function, guf_dtype dtype, bool tree, bool widens)
    : dtype_(dtype), partial_(dtype), tree_(tree), loop_(find_method_loop(function, dtype_)) {
  if (tree && widens && (dtype == GUF_F16 || dtype == GUF_BF16)) partial_ = GUF_F32;
  partial_loop_ = find_method_loop(function, partial_);
}

Value Arithmetic::apply(const MethodLoop &loop, const Value &a, const Value &b) const {
  Value out = {};
  char *args[3] = {reinterpret_cast<char *>(const_cast<unsigned char *>(a.data())),
                   reinterpret_cast<char *>(const_cast<unsigned char *>(b.data())),
                   reinterpret_cast<char *>(out.data())};
  const int64_t one = 1, steps[3] = {16, 16, 16};
  reinterpret_cast<guf_loop_numpy>(loop.kernel)(args, &one, steps, nullptr);
  return out;
}

MaybeValue Arithmetic::joined(const MaybeValue &a, const MaybeValue &b) const {
  if (!a || !b) return a ? a : b;
  return apply(partial_loop_, *a, *b);
}

MaybeValue Arithmetic::fold(const std::vector<MaybeValue> &values, const MaybeValue &start) const {
  if (tree_) return values.empty() ? MaybeValue() : tree(values, 0, values.size());
  MaybeValue all = start;
  for (const MaybeValue &value : values) all = joined(all, value);
  return all;
}

// The number of base blocks in the left part is the largest power of two that leaves at least one
// element for the right part.
MaybeValue Arithmetic::tree(const std::vector<MaybeValue> &values, size_t first, size_t end) const {
  const size_t count = end - first;
  if (count <= 128) return leaf(values, first, end);
  size_t left = 128;
  while (left * 2 < count) left *= 2;
  return joined(tree(values, first, first + left), tree(values, first + left, end));
}

MaybeValue Arithmetic::leaf(const std::vector<MaybeValue> &values, size_t first, size_t end) const {
  const size_t count = end - first;
  MaybeValue all;
  size_t done = 0;
  if (count >= 8) {
    MaybeValue part[8];
    done = count / 8 * 8;
    for (size_t i = 0; i < done; ++i) part[i % 8] = joined(part[i % 8], values[first + i]);
    all = joined(joined(joined(part[0], part[1]), joined(part[2], part[3])),
                 joined(joined(part[4], part[5]), joined(part[6], part[7])));
  }
  for (; done < count; ++done) all = joined(all, values[first + done]);
  return all;
}

std::vector<Value> Arithmetic::scanned(const std::vector<Value> &values) const {
  const size_t tile = tree_ ? 256 : std::max<size_t>(values.size(), 1);
  std::vector<Value> results, totals;
  for (size_t i = 0; i < values.size(); ++i) {
    results.push_back(i % tile == 0 ? values[i] : apply(loop_, results.back(), values[i]));
    if (i % tile == tile - 1) totals.push_back(results.back());
  }
  if (values.size() <= tile) return results;
  const std::vector<Value> offsets = scanned(totals);
  for (size_t i = tile; i < values.size(); ++i) {
    results[i] = apply(loop_, offsets[i / tile - 1], results[i]);
  }
  return results;
}

}  // namespace gufunc::cpu
