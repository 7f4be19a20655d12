// SPDX-License-Identifier: Apache-2.0
// Tests that the standard library's loops return NumPy's results in special cases, at every ISA
// level that this machine supports.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

// The bytes of one element.
struct Element {
  alignas(16) char bytes[16];
};

constexpr size_t kCapacity = 16;  // number of bytes per element, enough for every dtype

template <class T>
Element store(T value) {
  Element element = {};
  std::memcpy(element.bytes, &value, sizeof(value));
  return element;
}
template <class T>
T load(const Element &element) {
  T value;
  std::memcpy(&value, element.bytes, sizeof(value));
  return value;
}

// Returns the bits of a float16. The value must be exactly representable. _Float16 would require a
// compiler option.
uint16_t half_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (std::isinf(value)) return static_cast<uint16_t>(sign | 0x7c00);
  if (size < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<int>(size * 0x1p24));
  int exponent;
  const double fraction = std::frexp(size, &exponent);  // in the range [1/2, 1)
  const int mantissa = static_cast<int>(fraction * 2048) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double size =
      std::ldexp(mantissa + (exponent == 0 ? 0 : 1024), (exponent == 0 ? 1 : exponent) - 25);
  if (exponent == 31) size = mantissa == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -size : size;
}

uint16_t bfloat_bits(double value) {
  return static_cast<uint16_t>(load<uint32_t>(store(static_cast<float>(value))) >> 16);
}
double bfloat_value(uint16_t bits) {
  return static_cast<double>(load<float>(store(static_cast<uint32_t>(bits) << 16)));
}

guf_dtype dtype_of(char letter) {
  switch (letter) {
    case '?':
      return GUF_BOOL;
    case 'b':
      return GUF_I8;
    case 'B':
      return GUF_U8;
    case 'h':
      return GUF_I16;
    case 'H':
      return GUF_U16;
    case 'i':
      return GUF_I32;
    case 'I':
      return GUF_U32;
    case 'q':
      return GUF_I64;
    case 'Q':
      return GUF_U64;
    case 'e':
      return GUF_F16;
    case 'E':
      return GUF_BF16;
    case 'f':
      return GUF_F32;
    case 'd':
      return GUF_F64;
    case 'F':
      return GUF_C64;
    case 'D':
      return GUF_C128;
    default:
      return GUF_DTYPE_UNSPECIFIED;
  }
}

Element encode(guf_dtype dtype, double value) {
  switch (dtype) {
    case GUF_BOOL:
    case GUF_U8:
      return store(static_cast<uint8_t>(value));
    case GUF_I8:
      return store(static_cast<int8_t>(value));
    case GUF_I16:
      return store(static_cast<int16_t>(value));
    case GUF_U16:
      return store(static_cast<uint16_t>(value));
    case GUF_I32:
      return store(static_cast<int32_t>(value));
    case GUF_U32:
      return store(static_cast<uint32_t>(value));
    case GUF_I64:
      return store(static_cast<int64_t>(value));
    case GUF_U64:
      return store(value >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(value));
    case GUF_F16:
      return store(half_bits(value));
    case GUF_BF16:
      return store(bfloat_bits(value));
    case GUF_F32:
    case GUF_C64:
      return store(static_cast<float>(value));  // the imaginary part is 0
    default:
      return store(value);
  }
}

double decode(guf_dtype dtype, const Element &element) {
  switch (dtype) {
    case GUF_BOOL:
    case GUF_U8:
      return load<uint8_t>(element);
    case GUF_I8:
      return load<int8_t>(element);
    case GUF_I16:
      return load<int16_t>(element);
    case GUF_U16:
      return load<uint16_t>(element);
    case GUF_I32:
      return load<int32_t>(element);
    case GUF_U32:
      return load<uint32_t>(element);
    case GUF_I64:
      return static_cast<double>(load<int64_t>(element));
    case GUF_U64:
      return static_cast<double>(load<uint64_t>(element));
    case GUF_F16:
      return half_value(load<uint16_t>(element));
    case GUF_BF16:
      return bfloat_value(load<uint16_t>(element));
    case GUF_F32:
    case GUF_C64:
      return static_cast<double>(load<float>(element));
    default:
      return load<double>(element);
  }
}

struct KernelImage {
  std::string target;
  const guf_module_image *image;
};

// Returns the images of every ISA level that this machine supports. Prints the unsupported levels
// to stdout once.
const std::vector<KernelImage> &runnable_images() {
  static const std::vector<KernelImage> images = [] {
    std::vector<KernelImage> found;
    const guf_module_v1 &module = *cpu().builtins();
    for (uint32_t i = 0; i < module.nimages; ++i) {
      const guf_module_image &image = module.images[i];
      if (cpu().image_score(cpu_device(), &image) > 0) {
        found.push_back({image.target, &image});
      } else {
        std::printf("skipped: %s does not run on this machine\n", image.target);
      }
    }
    return found;
  }();
  return images;
}

struct Kernel {
  void (*entry)(void) = nullptr;
  int32_t kind = 0;
  const char *failure = nullptr;
  std::vector<guf_dtype> dtypes;
  int nin = 0;
};

// Finds a kernel by function and dtypes, such as "dd->d". Reports a test failure if there is no
// such kernel.
Kernel find_kernel(const KernelImage &image, const char *function, const char *types) {
  const guf_module_v1 &module = *cpu().builtins();
  Kernel kernel;
  const size_t nin = std::strcspn(types, "-");
  for (const char *letter = types; *letter != '\0'; ++letter) {
    if (dtype_of(*letter) != 0) kernel.dtypes.push_back(dtype_of(*letter));
  }
  kernel.nin = static_cast<int>(nin);
  for (uint32_t f = 0; f < module.nfunctions; ++f) {
    const guf_module_function &candidate = module.functions[f];
    if (std::strcmp(candidate.name, function) != 0) continue;
    kernel.failure = candidate.failure;
    for (uint32_t l = 0; l < candidate.nloops; ++l) {
      const guf_module_loop &loop = candidate.loops[l];
      if (!std::equal(kernel.dtypes.begin(), kernel.dtypes.end(), loop.types)) continue;
      kernel.kind = loop.kind;
      kernel.entry = image.image->entries[loop.kernel];
    }
  }
  EXPECT_NE(kernel.entry, nullptr) << function << " " << types;
  return kernel;
}

// Calls the kernel with the same inputs for every item. `out` receives one number per item, which
// is the real part of a complex result.
guf_status call_kernel(const Kernel &kernel, const std::vector<double> &inputs, int64_t count,
                       std::vector<double> *out) {
  std::vector<std::vector<char>> memory;
  char *args[8];
  int64_t steps[8];
  for (size_t i = 0; i < kernel.dtypes.size(); ++i) {
    const size_t size = (kernel.dtypes[i] >> 8 & 0xFF) / 8;
    memory.emplace_back(static_cast<size_t>(count) * kCapacity);
    steps[i] = static_cast<int64_t>(size);
    for (int64_t item = 0; item < count && i < inputs.size(); ++item) {
      const Element element = encode(kernel.dtypes[i], inputs[i]);
      std::memcpy(memory[i].data() + item * steps[i], element.bytes, size);
    }
  }
  for (size_t i = 0; i < memory.size(); ++i) args[i] = memory[i].data();
  const size_t last = kernel.dtypes.size() - 1;
  guf_status status = GUF_OK;
  if (kernel.kind == GUF_LOOP_STATUS) {
    status = reinterpret_cast<guf_loop_status>(kernel.entry)(args, &count, steps, nullptr);
  } else {
    reinterpret_cast<guf_loop_numpy>(kernel.entry)(args, &count, steps, nullptr);
  }
  out->clear();
  for (int64_t item = 0; item < count; ++item) {
    Element element = {};
    std::memcpy(element.bytes, memory[last].data() + item * steps[last],
                static_cast<size_t>(steps[last]));
    out->push_back(decode(kernel.dtypes[last], element));
  }
  return status;
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMin64 = -0x1p63, kMin32 = -0x1p31;

struct Row {
  const char *name;
  const char *function;
  const char *types;
  std::vector<double> inputs;  // one number per input: the real part for complex types
  double output;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    // Integers.
    {"AddWraps", "add", "bb->b", {127, 1}, -128},
    {"AddOfBoolIsOr", "add", "?\?->?", {1, 1}, 1},
    {"MultiplyU16Wraps", "multiply", "HH->H", {65535, 65535}, 1},
    {"SubtractUnsignedWraps", "subtract", "II->I", {0, 1}, 4294967295.0},
    {"NegativeOfLeast", "negative", "i->i", {kMin32}, kMin32},
    {"AbsoluteOfLeast", "absolute", "q->q", {kMin64}, kMin64},
    {"FloorDivideByZero", "floor_divide", "ii->i", {7, 0}, 0},
    {"FloorDivideUnsignedByZero", "floor_divide", "BB->B", {7, 0}, 0},
    {"FloorDivideLeastByMinusOne", "floor_divide", "ii->i", {kMin32, -1}, kMin32},
    {"FloorDivideLeastByMinusOne8", "floor_divide", "bb->b", {-128, -1}, -128},
    {"FloorDivideRoundsDown", "floor_divide", "qq->q", {-7, 2}, -4},
    {"FloorDivideExact", "floor_divide", "hh->h", {-8, 2}, -4},
    {"RemainderHasDivisorsSign", "remainder", "ii->i", {-7, 3}, 2},
    {"RemainderNegativeDivisor", "remainder", "ii->i", {7, -3}, -2},
    {"RemainderByZero", "remainder", "qq->q", {7, 0}, 0},
    {"RemainderLeastByMinusOne", "remainder", "qq->q", {kMin64, -1}, 0},
    {"ReciprocalOfZero32", "reciprocal", "i->i", {0}, kMin32},
    {"ReciprocalOfZero64", "reciprocal", "q->q", {0}, kMin64},
    {"ReciprocalOfZero16", "reciprocal", "h->h", {0}, 0},
    {"ReciprocalOfZeroUnsigned", "reciprocal", "I->I", {0}, 0},
    {"ReciprocalOfMinusOne", "reciprocal", "i->i", {-1}, -1},
    {"ReciprocalOfTwo", "reciprocal", "i->i", {2}, 0},
    {"SignOfNegative", "sign", "b->b", {-5}, -1},
    {"PowerWraps", "power", "BB->B", {3, 6}, 217},
    {"PowerZeroZero", "power", "ii->i", {0, 0}, 1},
    {"LessMixedNegative", "less", "qQ->?", {-1, 0}, 1},
    {"EqualMixedNegative", "equal", "qQ->?", {-1, 0x1p64}, 0},
    {"GreaterMixed", "greater", "Qq->?", {0x1p63, 5}, 1},
    {"InvertOfBool", "invert", "?->?", {1}, 0},
    {"InvertOfByte", "invert", "B->B", {0}, 255},
    {"LeftShiftOfLastBit", "left_shift", "bb->b", {1, 7}, -128},
    {"LeftShiftOfWidth", "left_shift", "bb->b", {1, 8}, 0},
    {"LeftShiftOfWidth64", "left_shift", "QQ->Q", {1, 64}, 0},
    {"LeftShiftOfNegative", "left_shift", "ii->i", {1, -1}, 0},
    {"RightShiftKeepsSign", "right_shift", "hh->h", {-4, 1}, -2},
    {"RightShiftOfWidth", "right_shift", "ii->i", {-4, 32}, -1},
    {"RightShiftOfNegative64", "right_shift", "qq->q", {kMin64, -1}, -1},
    {"RightShiftOfWidthUnsigned", "right_shift", "II->I", {4294967295.0, 32}, 0},
    // Floating-point numbers.
    {"FloorDivideByFloatZero", "floor_divide", "dd->d", {1, 0}, kInf},
    {"FloorDivideOfInf", "floor_divide", "dd->d", {kInf, 1}, kNan},
    {"FloorDivideKeepsMinusZero", "floor_divide", "dd->d", {-0.0, 1}, -0.0},
    {"RemainderZeroHasDivisorsSign", "remainder", "dd->d", {3, -3}, -0.0},
    {"RemainderByInf", "remainder", "dd->d", {-1, kInf}, kInf},
    {"RemainderByFloatZero", "remainder", "ff->f", {1, 0}, kNan},
    {"SignOfNan", "sign", "f->f", {kNan}, kNan},
    {"SignOfMinusZero", "sign", "d->d", {-0.0}, 0.0},
    {"MaximumPropagatesNan", "maximum", "dd->d", {1, kNan}, kNan},
    {"MinimumPropagatesFirstNan", "minimum", "ff->f", {kNan, 1}, kNan},
    {"FmaxIgnoresNan", "fmax", "dd->d", {kNan, -kInf}, -kInf},
    {"FminOfNans", "fmin", "ff->f", {kNan, kNan}, kNan},
    {"EqualOfNan", "equal", "dd->?", {kNan, kNan}, 0},
    {"NotEqualOfNan", "not_equal", "dd->?", {kNan, kNan}, 1},
    {"NanIsTrue", "logical_and", "ff->?", {kNan, 1}, 1},
    {"LogicalNotOfMinusZero", "logical_not", "d->?", {-0.0}, 1},
    {"LogOfZero", "log", "d->d", {0}, -kInf},
    {"LogOfNegative", "log", "f->f", {-1}, kNan},
    {"ExpOverflows", "exp", "f->f", {200}, kInf},
    {"SqrtOfMinusZero", "sqrt", "d->d", {-0.0}, -0.0},
    {"PowerOneOfNan", "power", "dd->d", {1, kNan}, 1},
    {"PowerZeroOfNegative", "power", "dd->d", {-0.0, -3}, -kInf},
    // Half precision, which is computed in f32 and rounded once.
    {"HalfOverflows", "add", "ee->e", {65504, 16}, kInf},
    {"HalfStaysFinite", "add", "ee->e", {65504, 8}, 65504},
    {"HalfTiesToEven", "add", "ee->e", {2048, 1}, 2048},
    {"HalfKeepsSubnormals", "multiply", "ee->e", {0x1p-14, 0x1p-10}, 0x1p-24},
    {"BfloatTiesToEven", "add", "EE->E", {256, 1}, 256},
    {"BfloatRoundsUp", "add", "EE->E", {256, 3}, 260},
    // Complex numbers whose imaginary part is 0.
    {"ComplexMaximumOrdersByReal", "maximum", "DD->D", {2, 1}, 2},
    {"ComplexSignIsUnit", "sign", "D->D", {-3}, -1},
    {"ComplexSqrtOfNegative", "sqrt", "F->F", {-1}, 0},
    {"ComplexAbsolute", "absolute", "F->f", {-3}, 3},
};

class CornerCase : public testing::TestWithParam<Row> {};

TEST_P(CornerCase, IsNumPys) {
  const Row &row = GetParam();
  for (const KernelImage &image : runnable_images()) {
    const Kernel kernel = find_kernel(image, row.function, row.types);
    // Tests one item, and enough items for the vector loop and its remainder.
    for (const int64_t count : {1, 37}) {
      std::vector<double> out;
      ASSERT_EQ(call_kernel(kernel, row.inputs, count, &out), GUF_OK);
      for (const double value : out) {
        if (std::isnan(row.output)) {
          EXPECT_TRUE(std::isnan(value)) << image.target << " returns " << value;
        } else {
          EXPECT_EQ(value, row.output) << image.target;
          EXPECT_EQ(std::signbit(value), std::signbit(row.output)) << image.target;
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, CornerCase, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(NegativePower, FailsWithNumPysText) {
  for (const KernelImage &image : runnable_images()) {
    for (const char *types : {"bb->b", "hh->h", "ii->i", "qq->q"}) {
      const Kernel kernel = find_kernel(image, "power", types);
      EXPECT_EQ(kernel.kind, GUF_LOOP_STATUS) << types;
      std::vector<double> out;
      EXPECT_EQ(call_kernel(kernel, {2, -1}, 5, &out), GUF_E_VALUE) << types;
      EXPECT_EQ(call_kernel(kernel, {2, 3}, 5, &out), GUF_OK) << types;
      EXPECT_STREQ(kernel.failure, "Integers to negative integer powers are not allowed.");
    }
    std::vector<double> out;
    EXPECT_EQ(find_kernel(image, "power", "dd->d").kind, GUF_LOOP_NUMPY);
    EXPECT_EQ(call_kernel(find_kernel(image, "power", "dd->d"), {2, -1}, 1, &out), GUF_OK);
    EXPECT_EQ(out[0], 0.5);
  }
}

TEST(Casts, SaturateAndRoundOnce) {
  struct Cast {
    const char *types;
    double from, to;
  };
  const Cast casts[] = {{"d->b", 300, 127},
                        {"d->B", -5, 0},
                        {"f->i", 3e9, 2147483647},
                        {"f->i", kNan, 0},
                        {"d->q", -kInf, kMin64},
                        {"d->Q", 1e30, 0x1p64},
                        {"d->?", kNan, 1},
                        {"D->f", 2.5, 2.5},
                        {"i->b", 300, 44},
                        {"d->e", 65520, kInf},
                        {"d->e", 65519, 65504},
                        {"q->f", 16777217, 16777216},
                        {"d->e", 0x1.002p0 + 0x1p-40, 0x1.004p0},
                        {"h->D", -7, -7},
                        {"e->E", 2049, 2048},
                        {"?->d", 1, 1},
                        {"E->q", -3, -3}};
  for (const Cast &cast : casts) {
    const BlockRow geometry = {1, {1}, {}, {}, {}};
    Element from = encode(dtype_of(cast.types[0]), cast.from), to = {};
    BlockRow row = geometry;
    row.addresses = {from.bytes, to.bytes};
    row.steps = {{16}, {16}};
    row.dtypes = {dtype_of(cast.types[0]), dtype_of(cast.types[3])};
    const guf_launch_block block = make_block(row);
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().convert(cpu_device(), nullptr, &block, &error), GUF_OK) << error.message;
    EXPECT_EQ(decode(row.dtypes[1], to), cast.to) << cast.types << " of " << cast.from;
  }
}

TEST(Matmul, SumsOverNothingToZero) {
  for (const KernelImage &image : runnable_images()) {
    double out[6] = {1, 2, 3, 4, 5, 6};
    char *args[3] = {nullptr, nullptr, reinterpret_cast<char *>(out)};
    const int64_t dims[4] = {1, 2, 0, 3}, steps[9] = {0, 0, 0, 0, 8, 24, 8, 24, 8};
    const Kernel kernel = find_kernel(image, "matmul", "dd->d");
    reinterpret_cast<guf_loop_numpy>(kernel.entry)(args, dims, steps, nullptr);
    for (const double value : out) EXPECT_EQ(value, 0);
  }
}

TEST(Matmul, ReturnsTheSameBitsForEveryLayout) {
  constexpr int64_t kHeight = 7, kDepth = 300, kWidth = 45;
  std::vector<float> x(kHeight * kDepth), y(kDepth * kWidth), y_transposed(y.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::cos(static_cast<float>(i));
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t c = 0; c < kWidth; ++c) {
      y_transposed[static_cast<size_t>(c * kDepth + k)] = y[static_cast<size_t>(k * kWidth + c)];
    }
  }
  std::vector<float> first;
  for (const KernelImage &image : runnable_images()) {
    const Kernel kernel = find_kernel(image, "matmul", "ff->f");
    for (const bool transposed : {false, true}) {
      std::vector<float> out(kHeight * kWidth);
      char *args[3] = {reinterpret_cast<char *>(x.data()),
                       reinterpret_cast<char *>(transposed ? y_transposed.data() : y.data()),
                       reinterpret_cast<char *>(out.data())};
      const int64_t dims[4] = {1, kHeight, kDepth, kWidth};
      const int64_t steps[9] = {
          0,          0, 0, 4 * kDepth, 4, transposed ? 4 : 4 * kWidth, transposed ? 4 * kDepth : 4,
          4 * kWidth, 4};
      reinterpret_cast<guf_loop_numpy>(kernel.entry)(args, dims, steps, nullptr);
      if (first.empty()) first = out;
      EXPECT_EQ(std::memcmp(first.data(), out.data(), 4 * out.size()), 0)
          << image.target << " transposed " << transposed;
    }
  }
}

}  // namespace
}  // namespace gufunc::cpu
