// SPDX-License-Identifier: Apache-2.0
// Generates, runs and computes method cases. Random cases have sizes near the boundaries of base
// blocks and tiles, and operands in every layout.
#include "tests/unit/cpu/method_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "backends/cpu/loops/dtype_layout.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

guf_dtype or_else(guf_dtype dtype, guf_dtype other) {
  return dtype == 0 ? other : dtype;
}

// An operand: its memory, its stride per dimension, and the offset of its first element.
struct OperandMemory {
  std::vector<unsigned char> bytes;
  std::vector<int64_t> step;
  int64_t origin = 0;
};

// Allocates an operand and orders its dimensions in memory by `place`: the dimension with the
// smallest place is innermost.
OperandMemory lay_out(const std::vector<MethodDim> &dims, int64_t element, bool odd, bool plain) {
  OperandMemory operand;
  operand.step.resize(dims.size());
  std::vector<size_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return dims[a].place < dims[b].place; });
  int64_t distance = element, low = 0, high = element;
  for (const size_t d : order) {
    const MethodDim &dim = dims[d];
    if (dim.repeated && !plain) continue;
    distance *= plain ? 1 : 1 + dim.gap;
    operand.step[d] = dim.reversed && !plain ? -distance : distance;
    const int64_t reach = distance * std::max<int64_t>(dim.size - 1, 0);
    (operand.step[d] < 0 ? low : high) += operand.step[d] < 0 ? -reach : reach;
    distance *= std::max<int64_t>(dim.size, 1);
  }
  constexpr int64_t kMargin = 64;
  operand.origin = kMargin - low + (odd ? 1 : 0);
  operand.bytes.assign(static_cast<size_t>(high - low + 2 * kMargin + 1), 0xA5);
  return operand;
}

// Returns a random value; a few values are zero or NaN. The order in which such values are added
// affects the sum. If `factor` is true, products of the values are finite. All NaNs have the same
// bits, because it is unspecified which of two different NaNs an operation returns.
Value random_value(std::mt19937 &random, guf_dtype dtype, bool factor) {
  Value value = {};
  double real = std::ldexp(static_cast<double>(random() % 20001) - 10000,
                           static_cast<int>(random() % 12) - 6);
  if (factor) real = 1 + std::ldexp(real, -24);
  const double special[] = {-0.0, 0.0, NAN, 1.0};
  const bool odd = random() % 200 == 0;
  const double number = odd ? special[random() % 4] : real;
  if (dtype == GUF_F64 || dtype == GUF_C128) {
    const double parts[2] = {number, factor ? real - 1 : real / 3};
    std::memcpy(value.data(), parts, dtype_size(dtype));
  } else if (dtype == GUF_F32 || dtype == GUF_C64) {
    const float parts[2] = {static_cast<float>(number),
                            static_cast<float>(factor ? real - 1 : real / 3)};
    std::memcpy(value.data(), parts, dtype_size(dtype));
  } else if (dtype == GUF_F16 || dtype == GUF_BF16) {
    Value wide = {};
    const float part = static_cast<float>(odd || factor ? number : real / 256);
    std::memcpy(wide.data(), &part, 4);
    value = converted(wide, GUF_F32, dtype);
  } else if (dtype == GUF_BOOL) {
    value[0] = random() % 2 == 0;
  } else {
    for (uint32_t i = 0; i < dtype_size(dtype); ++i) {
      value[i] = static_cast<unsigned char>(random());
    }
  }
  return value;
}

void swap_bytes(unsigned char *bytes, guf_dtype dtype) {
  const uint32_t unit = dtype_swap_bytes(dtype);
  for (uint32_t at = 0; at < dtype_size(dtype); at += unit) {
    std::reverse(bytes + at, bytes + at + unit);
  }
}

// Fills the operand with random values that repeat after a prime number of elements.
void fill(OperandMemory *operand, guf_dtype dtype, const MethodCase &row, std::mt19937 &random) {
  const size_t bytes = dtype_size(dtype), period = 4099 * bytes;
  const size_t first = static_cast<size_t>(operand->origin) % bytes;
  unsigned char *const data = operand->bytes.data();
  for (size_t at = first; at + bytes <= operand->bytes.size(); at += bytes) {
    if (at >= first + period) {
      std::memcpy(data + at, data + at - period, bytes);
      continue;
    }
    Value value = random_value(random, dtype, row.function == "multiply");
    if (row.swapped_input) swap_bytes(value.data(), dtype);
    std::memcpy(data + at, value.data(), bytes);
  }
}

uint32_t flag(bool set, uint32_t value) {
  return set ? value : 0;
}

// The operands, the mask, the initial value and the block of one case.
struct Setup {
  explicit Setup(const MethodCase &expected);

  const MethodCase &expected;
  guf_dtype input_dtype, output_dtype;
  std::vector<MethodDim> out_dims;
  OperandMemory input, output, mask;
  Value initial = {};
  guf_method_block block = {};

  bool has_axis() const { return expected.method != GUF_METHOD_REDUCE; }
  int64_t kept(size_t d) const { return expected.kept[d].size; }
};

Setup::Setup(const MethodCase &row)
    : expected(row),
      input_dtype(or_else(row.input, row.dtype)),
      output_dtype(or_else(row.output, row.dtype)) {
  std::mt19937 random(row.seed);
  std::vector<MethodDim> dims = row.kept;
  dims.insert(dims.end(), row.fold.begin(), row.fold.end());
  input = lay_out(dims, dtype_size(input_dtype), row.odd_input, false);
  mask = lay_out(dims, 1, false, random() % 2 == 0);
  out_dims = row.kept;
  if (has_axis()) out_dims.push_back(row.fold[0]);
  if (row.method == GUF_METHOD_REDUCEAT) {
    out_dims.back().size = static_cast<int64_t>(row.indices.size());
  }
  for (MethodDim &dim : out_dims) dim.repeated = false;
  output = lay_out(out_dims, dtype_size(output_dtype), row.odd_output, false);
  fill(&input, input_dtype, row, random);
  // The mask contains long runs of one value, and regions of random values.
  for (size_t at = 0; at < mask.bytes.size();) {
    const size_t end = std::min(mask.bytes.size(), at + random() % 700);
    const auto kind = static_cast<unsigned char>(random() % 3);
    for (; at < end; ++at) mask.bytes[at] = kind == 2 ? random() % 2 == 0 : kind;
    if (at == end && end != mask.bytes.size()) mask.bytes[at++] = 1;
  }
  initial = random_value(random, row.dtype, row.function == "multiply");

  block.method = row.method;
  block.flags = GUF_METHOD_ANY_THREAD | flag(row.tree, GUF_METHOD_TREE) |
                flag(row.masked, GUF_METHOD_MASKED) | flag(row.exact, GUF_METHOD_EXACT) |
                flag(row.initial, GUF_METHOD_INITIAL);
  block.nkept = static_cast<int32_t>(row.kept.size());
  block.nfold = static_cast<int32_t>(row.fold.size());
  block.items = 1;
  for (size_t d = 0; d < row.kept.size(); ++d) {
    block.items *= static_cast<uint64_t>(row.kept[d].size);
    block.kept_size[d] = row.kept[d].size;
    block.kept_input_step[d] = input.step[d];
    block.kept_output_step[d] = output.step[d];
    block.kept_mask_step[d] = mask.step[d];
  }
  for (size_t d = 0; d < row.fold.size(); ++d) {
    block.fold_size[d] = row.fold[d].size;
    block.fold_input_step[d] = input.step[row.kept.size() + d];
    block.fold_mask_step[d] = mask.step[row.kept.size() + d];
  }
  if (has_axis()) block.fold_output_step = output.step.back();
  block.indices = row.indices.data();
  block.nindices = static_cast<int64_t>(row.indices.size());
  block.input_dtype = input_dtype;
  block.output_dtype = output_dtype;
  block.loop_dtype = row.dtype;
  block.input_flags = GUF_LAUNCH_OPERAND_READ |
                      flag(row.swapped_input, GUF_LAUNCH_OPERAND_SWAPPED) |
                      flag(row.odd_input, GUF_LAUNCH_OPERAND_UNALIGNED);
  block.output_flags = GUF_LAUNCH_OPERAND_WRITTEN |
                       flag(row.swapped_output, GUF_LAUNCH_OPERAND_SWAPPED) |
                       flag(row.odd_output, GUF_LAUNCH_OPERAND_UNALIGNED);
  std::memcpy(block.initial, initial.data(), sizeof(block.initial));
  if (row.in_place) output = input;
}

// Returns an element of the input in the dtype of the loop, or nothing if the element is masked
// out. `index` contains the indices of the dimensions that are not reduced, then of the reduced
// dimensions.
MaybeValue element(const Setup &setup, const std::vector<int64_t> &index) {
  int64_t at = setup.input.origin, mask_at = setup.mask.origin;
  for (size_t d = 0; d < index.size(); ++d) {
    at += index[d] * setup.input.step[d];
    mask_at += index[d] * setup.mask.step[d];
  }
  if (setup.expected.masked && setup.mask.bytes[static_cast<size_t>(mask_at)] == 0) return {};
  Value value = {};
  std::memcpy(value.data(), setup.input.bytes.data() + at, dtype_size(setup.input_dtype));
  if (setup.expected.swapped_input) swap_bytes(value.data(), setup.input_dtype);
  return converted(value, setup.input_dtype, setup.expected.dtype);
}

// Reduces the first `d` + 1 reduced dimensions at the position that `index` specifies in all other
// dimensions.
MaybeValue folded(const Setup &setup, const Arithmetic &op, std::vector<int64_t> *index, int d,
                  const MaybeValue &start) {
  if (d < 0) {
    const MaybeValue value = element(setup, *index);
    return value ? MaybeValue(op.widened(*value)) : value;
  }
  std::vector<MaybeValue> values;
  int64_t &position = (*index)[setup.expected.kept.size() + static_cast<size_t>(d)];
  for (position = 0; position < setup.expected.fold[static_cast<size_t>(d)].size; ++position) {
    values.push_back(folded(setup, op, index, d - 1, {}));
  }
  position = 0;
  return op.fold(values, start);
}

void write(Setup *setup, std::vector<int64_t> index, const Value &value) {
  Value result = converted(value, setup->expected.dtype, setup->output_dtype);
  if (setup->expected.swapped_output) swap_bytes(result.data(), setup->output_dtype);
  int64_t at = setup->output.origin;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * setup->output.step[d];
  std::memcpy(setup->output.bytes.data() + at, result.data(), dtype_size(setup->output_dtype));
}

void answer_item(Setup *setup, const Arithmetic &op, const std::vector<int64_t> &item) {
  const MethodCase &row = setup->expected;
  std::vector<int64_t> index = item;
  index.resize(item.size() + row.fold.size());
  if (row.method == GUF_METHOD_REDUCE) {
    const MaybeValue initial = row.initial ? MaybeValue(op.widened(setup->initial)) : MaybeValue();
    const int last = static_cast<int>(row.fold.size()) - 1;
    const bool from_left = !row.tree && last >= 0;
    MaybeValue all = folded(*setup, op, &index, last, from_left ? initial : MaybeValue());
    if (!from_left) all = op.joined(initial, all);
    if (all) write(setup, item, op.rounded(*all));
    return;
  }
  std::vector<Value> axis;
  for (index.back() = 0; index.back() < row.fold[0].size; ++index.back()) {
    axis.push_back(*element(*setup, index));
  }
  std::vector<Value> results;
  if (row.method == GUF_METHOD_ACCUMULATE) {
    results = op.scanned(axis);
  } else {
    for (size_t k = 0; k < row.indices.size(); ++k) {
      const auto first = row.indices[k];
      const auto end = k + 1 < row.indices.size() ? row.indices[k + 1] : row.fold[0].size;
      std::vector<MaybeValue> values{op.widened(axis[static_cast<size_t>(first)])};
      for (int64_t i = first + 1; i < end; ++i) {
        values.push_back(op.widened(axis[static_cast<size_t>(i)]));
      }
      results.push_back(op.rounded(*op.fold(values, {})));
    }
  }
  for (size_t k = 0; k < results.size(); ++k) {
    std::vector<int64_t> at = item;
    at.push_back(static_cast<int64_t>(k));
    write(setup, at, results[k]);
  }
}

const char *method_name(int32_t method) {
  return method == GUF_METHOD_REDUCE       ? "reduce"
         : method == GUF_METHOD_ACCUMULATE ? "accumulate"
                                           : "reduceat";
}

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
  if (count <= 128) return base_block(values, first, end);
  size_t left = 128;
  while (left * 2 < count) left *= 2;
  return joined(tree(values, first, first + left), tree(values, first + left, end));
}

MaybeValue Arithmetic::base_block(const std::vector<MaybeValue> &values, size_t first,
                                  size_t end) const {
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

std::string MethodCase::text() const {
  std::ostringstream out;
  out << method_name(method) << ' ' << function << " dtype " << std::hex << dtype << " in " << input
      << " out " << output << std::dec << " seed " << seed;
  const auto add = [&](const char *name, const std::vector<MethodDim> &dims) {
    out << ' ' << name;
    for (const MethodDim &dim : dims) {
      out << ' ' << dim.size << (dim.reversed ? "r" : "") << (dim.repeated ? "0" : "") << '+'
          << dim.gap << '@' << dim.place;
    }
  };
  add("kept", kept);
  add("fold", fold);
  out << (tree ? "" : " left") << (exact ? " exact" : "") << (use_fold ? "" : " loop only")
      << (masked ? " masked" : "") << (initial ? " initial" : "")
      << (swapped_input || odd_input ? " odd input" : "")
      << (swapped_output || odd_output ? " odd output" : "") << (in_place ? " in place" : "");
  return out.str();
}

std::vector<unsigned char> run_case_by(const MethodCase &expected, const MethodRunner &run) {
  Setup setup(expected);
  setup.block.output = reinterpret_cast<uint64_t>(setup.output.bytes.data() + setup.output.origin);
  setup.block.input =
      expected.in_place ? setup.block.output
                        : reinterpret_cast<uint64_t>(setup.input.bytes.data() + setup.input.origin);
  setup.block.mask = reinterpret_cast<uint64_t>(setup.mask.bytes.data() + setup.mask.origin);
  guf_backend_method method = {};
  method.struct_size = sizeof(method);
  method.block = &setup.block;
  guf_error error = fresh_error();
  const guf_status status = run(&method, &error);
  EXPECT_EQ(status, GUF_OK) << error.message;
  return status == GUF_OK ? setup.output.bytes : std::vector<unsigned char>();
}

std::vector<unsigned char> run_case(const MethodCase &expected, uint32_t threads, void *stream) {
  const MethodLoop loop = find_method_loop(expected.function, expected.dtype);
  return run_case_by(expected, [&](guf_backend_method *method, guf_error *error) {
    method->max_threads = threads;
    method->kernel = loop.kernel;
    method->fold = expected.use_fold ? loop.fold : nullptr;
    method->stream = stream;
    guf_method_block block = *method->block;
    method->block = &block;
    std::vector<int64_t> indices;
    if (block.indices != nullptr) indices.assign(block.indices, block.indices + block.nindices);
    block.indices = indices.data();
    const guf_status status = cpu().method(cpu_device(), method, error);
    if (status != GUF_OK || stream == nullptr) return status;
    // The backend must have copied the block and the indices before it returned.
    std::memset(&block, 0xFF, sizeof(block));
    std::fill(indices.begin(), indices.end(), -1);
    return cpu().stream_synchronize(stream, UINT64_MAX, error);
  });
}

std::vector<unsigned char> right_answer(const MethodCase &expected) {
  Setup setup(expected);
  const Arithmetic op(expected.function, expected.dtype, expected.tree, expected.use_fold);
  if (setup.block.items == 0) return setup.output.bytes;
  std::vector<int64_t> item(expected.kept.size());
  for (uint64_t i = 0; i < setup.block.items; ++i) {
    uint64_t rest = i;
    for (size_t d = 0; d < item.size(); ++d) {
      item[d] = static_cast<int64_t>(rest % static_cast<uint64_t>(setup.kept(d)));
      rest /= static_cast<uint64_t>(setup.kept(d));
    }
    answer_item(&setup, op, item);
  }
  return setup.output.bytes;
}

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
