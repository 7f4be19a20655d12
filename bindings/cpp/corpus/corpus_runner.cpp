// SPDX-License-Identifier: Apache-2.0
// Runs the corpus through gufunc.hpp, and compares the result of each call with the expectation of
// its case. Usage: corpus_runner CORPUS_FOLDER DEVICE MODULE.so...
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "corpus_call.hpp"

// ---- elements

namespace {

// Comparisons of floats of one format by their bits.
template <class Bits, class Value, int Mantissa, int Exponent>
struct Real {
  static constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1U;
  static constexpr Bits kInfinity = ((Bits{1} << Exponent) - 1) << Mantissa;
  static Bits bits(const unsigned char *place) {
    Bits read;
    std::memcpy(&read, place, sizeof read);
    return read;
  }
  static double value(const unsigned char *place) {
    Value read;
    std::memcpy(&read, place, sizeof read);
    return static_cast<double>(read);
  }
  static bool nan(Bits x) { return (x & kMagnitude) > kInfinity; }
  static bool same(const unsigned char *found, const unsigned char *expected) {
    const Bits a = bits(found), b = bits(expected);
    return a == b || (nan(a) && nan(b));
  }
  // Returns the position of x among all floats of the format in ascending order. The difference of
  // two ranks is the distance of the floats in ulp. The rank of 0 and -0 is 0.
  static int64_t rank(Bits x) {
    const auto size = static_cast<int64_t>(x & kMagnitude);
    return x == (x & kMagnitude) ? size : -size;
  }
  static bool near(const unsigned char *found, const unsigned char *expected, int64_t ulp) {
    const Bits a = bits(found), b = bits(expected);
    if (ulp == 0 || nan(a) || nan(b)) return same(found, expected);
    const int64_t x = rank(a), y = rank(b);
    return x == y || (x < y ? static_cast<uint64_t>(y) - static_cast<uint64_t>(x)
                            : static_cast<uint64_t>(x) - static_cast<uint64_t>(y)) <=
                         static_cast<uint64_t>(ulp);
  }
  // Compares both parts of a complex number with a tolerance in ulp of the larger part.
  static bool near_complex(const unsigned char *found, const unsigned char *expected, int64_t ulp) {
    const double largest =
        std::max(std::abs(value(expected)), std::abs(value(expected + sizeof(Bits))));
    const double step =
        largest > 0 && std::isfinite(largest) ? std::ldexp(1, std::ilogb(largest) - Mantissa) : 0;
    for (size_t k = 0; k < 2; ++k, found += sizeof(Bits), expected += sizeof(Bits)) {
      if (same(found, expected)) continue;
      const double difference = std::abs(value(found) - value(expected));
      if (ulp == 0 || !(difference <= static_cast<double>(ulp) * step)) return false;
    }
    return true;
  }
};
using F16 = Real<uint16_t, uint16_t, 10, 5>;
using BF16 = Real<uint16_t, uint16_t, 7, 8>;
using F32 = Real<uint32_t, float, 23, 8>;
using F64 = Real<uint64_t, double, 52, 11>;

bool right(gufunc::DType dtype, uint32_t itemsize, const unsigned char *found,
           const unsigned char *expected, int64_t ulp) {
  switch (dtype.get()) {
    case GUF_F16:
      return F16::near(found, expected, ulp);
    case GUF_BF16:
      return BF16::near(found, expected, ulp);
    case GUF_F32:
      return F32::near(found, expected, ulp);
    case GUF_F64:
      return F64::near(found, expected, ulp);
    case GUF_C64:
      return F32::near_complex(found, expected, ulp);
    case GUF_C128:
      return F64::near_complex(found, expected, ulp);
    default:
      return std::memcmp(found, expected, itemsize) == 0;
  }
}

// Calls `visit` with the address of each element, in C order.
template <class Visit>
void walk(const Placed &placed, Visit visit) {
  std::vector<int64_t> index(placed.shape.size(), 0);
  for (const int64_t extent : placed.shape)
    if (extent == 0) return;
  unsigned char *place = placed.first;
  for (;;) {
    visit(place);
    size_t axis = index.size();
    for (; axis > 0; --axis) {
      place += placed.strides[axis - 1];
      if (++index[axis - 1] < placed.shape[axis - 1]) break;
      place -= placed.strides[axis - 1] * placed.shape[axis - 1];
      index[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

std::string shape_differs(const Json &expected, gufunc::DType dtype, const gufunc::Ints &shape) {
  if (expected.at("dtype") != dtype.name()) return std::string("dtype ") + dtype.name();
  if (expected.at("shape") != Json(std::vector<int64_t>(shape.begin(), shape.end())))
    return "shape " + Json(std::vector<int64_t>(shape.begin(), shape.end())).dump();
  return "";
}

}  // namespace

std::string elements(const Json &expected, const Blob &blob, gufunc::DType dtype, uint64_t count,
                     const unsigned char *found) {
  const guf_dtype_info info = dtype.info();
  const int64_t ulp = expected.at("ulp");
  if (expected.at("nbytes") != count * info.itemsize) return "the result's number of bytes";
  const unsigned char *right_ones = blob.at(expected.at("at"), count * info.itemsize);
  const unsigned char *defined =
      expected.contains("defined") ? blob.at(expected.at("defined"), count) : nullptr;
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t place = k * info.itemsize;
    if (defined != nullptr && defined[k] == 0) continue;
    if (!right(dtype, info.itemsize, found + place, right_ones + place, ulp))
      return "element " + std::to_string(k) + " of " + info.name;
  }
  return "";
}

// ---- results

std::string Case::result(const Json &expected, const Placed &given) const {
  std::string why = shape_differs(expected, given.dtype, given.shape);
  if (!why.empty()) return why;
  const guf_dtype_info info = given.dtype.info();
  const size_t part = info.kind == GUF_KIND_COMPLEX ? info.itemsize / 2 : info.itemsize;
  std::vector<unsigned char> all;
  walk(given, [&](const unsigned char *place) {
    for (size_t k = 0; k < info.itemsize; ++k)
      all.push_back(place[given.swapped ? k / part * part + part - 1 - k % part : k]);
  });
  return elements(expected, blob, given.dtype, all.size() / info.itemsize, all.data());
}

std::string Case::result(const Json &expected, const gufunc::Array &made) const {
  const gufunc::Ints shape = made.shape(), strides = made.strides();
  std::string why = shape_differs(expected, made.dtype(), shape);
  if (!why.empty()) return why;
  if (expected.contains("strides") && made.size() != 0) {
    std::vector<int64_t> found;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] > 1) found.push_back(strides[axis]);
    if (expected.at("strides") != Json(found)) return "strides " + Json(found).dump();
  }
  std::vector<unsigned char> all(made.nbytes() + 1);
  made.copy_to_host(all.data(), made.nbytes());
  return elements(expected, blob, made.dtype(), made.size(), all.data());
}

// Checks that the buffers are unchanged outside the operands in `written`.
std::string Case::others_kept(const std::vector<const Placed *> &written) const {
  for (size_t number = 0; number < buffers.size(); ++number) {
    const Buffer &buffer = buffers[number];
    std::vector<bool> touched(buffer.nbytes);
    for (const Placed *placed : written) {
      if (placed->buffer != static_cast<int>(number)) continue;
      const uint32_t itemsize = placed->dtype.info().itemsize;
      walk(*placed, [&](const unsigned char *place) {
        for (uint32_t k = 0; k < itemsize; ++k)
          touched[static_cast<size_t>(place - buffer.data) + k] = true;
      });
    }
    for (size_t k = 0; k < buffer.nbytes; ++k)
      if (!touched[k] && buffer.data[k] != buffer.before[k])
        return "byte " + std::to_string(k) + " of buffer " + std::to_string(number) + " changed";
  }
  return "";
}

std::string Case::judge(const gufunc::Error &error) const {
  const Json &expect = json.at("expect");
  const std::string actual = std::string(error.name()) + " \"" + error.what() + "\"";
  if (expect.at("status") != error.name())
    return "expected " + expect.at("status").get<std::string>() + ", got " + actual;
  if (expect.at("message") != error.what())
    return "expected " + expect.at("message").dump() + ", got " + actual;
  if (expect.at("argument") != error.argument() || expect.at("axis") != error.axis())
    return "expected " + expect.dump() + ", got argument " + std::to_string(error.argument()) +
           ", axis " + std::to_string(error.axis());
  return expect.value("written", false) ? "" : others_kept({});
}

std::string Case::judge(const std::vector<gufunc::Array> &made) const {
  const Json &expect = json.at("expect");
  if (expect.at("status") != "GUF_OK")
    return "expected " + expect.at("status").get<std::string>() + ", got GUF_OK";
  if (expect.contains("fp_flags") && expect.at("fp_flags") != fp_flags)
    return "fp_flags " + std::to_string(fp_flags);
  std::vector<const Placed *> written;
  size_t fresh = 0, number = 0;
  for (const Json &expected : expect.at("results")) {
    const Placed *given = nullptr;
    if (expect.contains("inouts"))
      given = &inputs.at(expect.at("inouts").at(number));
    else if (json.at("method") == "at")
      given = &inputs[0];
    else if (!outputs.empty())
      given = &outputs.at(number);
    const bool is_given_tensor = given != nullptr && given->operand.is_tensor();
    const std::string why =
        is_given_tensor ? result(expected, *given) : result(expected, made.at(fresh++));
    if (!why.empty()) return why;
    if (is_given_tensor) written.push_back(given);
    ++number;
  }
  if (fresh != made.size()) return std::to_string(made.size()) + " results";
  return others_kept(written);
}

// ---- cases and groups

static std::vector<unsigned char> file_of(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) throw std::runtime_error(path.string() + " cannot be read");
  return bytes;
}

// Runs a case. Returns the reason why it failed; "" if it passed.
static std::string run(const Json &json, const Blob &blob, gufunc::Device device) try {
  Case one(json, blob);
  try {
    const std::vector<gufunc::Array> made = call(one, device);
    device.synchronize();
    return one.judge(made);
  } catch (const gufunc::Error &error) {
    return one.judge(error);
  }
} catch (const std::exception &failure) {
  return failure.what();
}

// Returns the FNV-1a digest of a text.
static uint64_t digest(const std::string &text) {
  uint64_t found = 0xcbf29ce484222325;
  for (const char byte : text) found = (found ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return found;
}

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "corpus_runner CORPUS_FOLDER DEVICE MODULE.so...\n");
    return 2;
  }
  const gufunc::Device device{std::string(argv[2])};
  std::vector<gufunc::Module> modules;
  for (int k = 3; k < argc; ++k) modules.emplace_back(argv[k]);
  std::vector<std::filesystem::path> groups;
  for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".json") groups.push_back(entry.path());
  std::sort(groups.begin(), groups.end());
  int count = 0, failed = 0;
  for (std::filesystem::path &path : groups) {
    const std::vector<unsigned char> text = file_of(path);
    const Json group = Json::parse(text.begin(), text.end());
    const Blob blob{file_of(path.replace_extension(".bin"))};
    if (group.at("format") != 1) throw std::runtime_error(path.string() + ": another format");
    std::string ids;
    const int before = count;
    for (const Json &json : group.at("cases")) {
      const std::string why = run(json, blob, device), id = json.at("id");
      ids += id + '\n';
      ++count;
      if (why.empty()) continue;
      ++failed;
      std::printf("%s: %s\n", id.c_str(), why.c_str());
    }
    std::printf("%s: %d judged, fnv1a %016" PRIx64 "\n", path.stem().c_str(), count - before,
                digest(ids));
  }
  std::printf("%d cases, %d passed, %d failed\n", count, count - failed, failed);
  return failed != 0 || count == 0;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
