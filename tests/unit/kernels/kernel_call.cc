// SPDX-License-Identifier: Apache-2.0
// Finds loops of the standard library and calls them.
#include "tests/unit/kernels/kernel_call.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace gufunc::cpu {
namespace {

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

}  // namespace

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

}  // namespace gufunc::cpu
