// SPDX-License-Identifier: Apache-2.0
// Generates random method cases: sizes near the boundaries of base blocks and tiles, and operands
// in every layout.
#include <algorithm>

#include "tests/unit/cpu/method_case.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kMaxElements = 40000;
constexpr guf_dtype kRandomDtypes[] = {GUF_BOOL, GUF_I8,  GUF_U8,  GUF_I16, GUF_U16,
                                       GUF_I32,  GUF_U32, GUF_I64, GUF_U64, GUF_F16,
                                       GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128};
constexpr const char *kFunctions[] = {"add", "add", "add", "multiply", "maximum", "fmin"};

template <class T, size_t kCount>
T one_of(std::mt19937 &random, const T (&list)[kCount]) {
  return list[random() % kCount];
}

int64_t random_size(std::mt19937 &random, int64_t most) {
  constexpr int64_t kBoundaries[] = {1, 2, 7, 8, 9, 127, 128, 129, 255, 256, 257, 1024, 16384};
  const int64_t size = random() % 3 == 0 ? one_of(random, kBoundaries) + random() % 3 - 1
                                         : static_cast<int64_t>(random() % 300);
  return std::min(size, most);
}

MethodDim random_dim(std::mt19937 &random, int64_t *left) {
  MethodDim dim;
  dim.size = random_size(random, *left);
  if (random() % 30 != 0) dim.size = std::max<int64_t>(dim.size, 1);
  *left /= std::max<int64_t>(dim.size, 1);
  dim.reversed = random() % 6 == 0;
  dim.repeated = random() % 12 == 0;
  dim.gap = random() % 5 == 0 ? 1 + random() % 2 : 0;
  dim.place = static_cast<int>(random() % 100);
  return dim;
}

bool is_integer(guf_dtype dtype) {
  return dtype != GUF_F16 && dtype != GUF_BF16 && dtype != GUF_F32 && dtype != GUF_F64 &&
         dtype != GUF_C64 && dtype != GUF_C128;
}

}  // namespace

MethodCase random_case(std::mt19937 &random, int32_t method) {
  MethodCase row;
  row.method = method;
  row.seed = static_cast<unsigned>(random());
  row.function = one_of(random, kFunctions);
  row.dtype = one_of(random, kRandomDtypes);
  int64_t left = random() % 8 == 0 ? kMaxElements : 4000;
  const bool reduce = method == GUF_METHOD_REDUCE;
  const size_t nfold = reduce ? random() % 4 : 1;
  for (size_t d = 0; d < nfold; ++d) row.fold.push_back(random_dim(random, &left));
  for (size_t d = random() % 3; d > 0; --d) row.kept.push_back(random_dim(random, &left));
  row.tree = random() % 6 != 0;
  if (!row.tree && !is_integer(row.dtype) && random() % 2 == 0) row.function = "subtract";
  row.exact = row.tree && is_integer(row.dtype) && random() % 4 != 0;
  row.use_fold = random() % 5 != 0;
  row.masked = reduce && random() % 3 == 0;
  row.initial = reduce && (row.masked || random() % 3 == 0);
  for (const MethodDim &dim : row.fold) row.initial |= reduce && dim.size == 0;
  if (random() % 4 == 0) row.input = one_of(random, kRandomDtypes);
  // Values of wider inputs would become infinite in float16. A difference of infinities is a NaN
  // whose bits differ from the bits of the NaNs in the input.
  if (row.dtype == GUF_F16 && row.input > GUF_U8) row.input = 0;
  if (random() % 4 == 0) row.output = one_of(random, kRandomDtypes);
  row.swapped_input = random() % 8 == 0;
  row.odd_input = random() % 8 == 0;
  row.swapped_output = random() % 8 == 0;
  row.odd_output = random() % 8 == 0;
  if (method == GUF_METHOD_REDUCEAT) {
    row.fold[0].size = std::max<int64_t>(row.fold[0].size, 1);
    const auto extent = static_cast<uint64_t>(row.fold[0].size);
    for (size_t k = random() % 12; k > 0; --k) {
      row.indices.push_back(static_cast<int64_t>(random() % extent));
    }
    // Adds equidistant indices up to the end of the axis, which make adjacent segments of equal
    // length.
    const uint64_t length = random() % 2 == 0 ? 1 + random() % 150 : extent;
    for (uint64_t begin = random() % length; begin < extent && length < extent; begin += length) {
      row.indices.push_back(static_cast<int64_t>(begin));
    }
  }
  if (method == GUF_METHOD_ACCUMULATE && random() % 4 == 0) {
    row.in_place = true;
    row.output = row.input;
    row.swapped_output = row.swapped_input;
    row.odd_output = row.odd_input;
    for (auto *dims : {&row.kept, &row.fold}) {
      for (MethodDim &dim : *dims) dim.repeated = false;
    }
  }
  return row;
}

}  // namespace gufunc::cpu
