// SPDX-License-Identifier: Apache-2.0
// Helpers shared by several commands.
#include "call_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "npy_stream.h"
#include "npz_file.h"
#include "outcome.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

// Whether two paths name the same file. The file does not have to exist.
bool same_file(const std::string &a, const std::string &b) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (a == b || fs::equivalent(a, b, code)) return true;
  const auto whole = [](const std::string &path) {
    std::error_code failed;
    return fs::weakly_canonical(fs::absolute(path, failed), failed);
  };
  const fs::path first = whole(a);
  return !first.empty() && first == whole(b);
}

// Wraps a tensor operand in an array handle. Returns an empty handle for an array operand.
ArrayHandle wrapped_of(const guf_operand &operand) {
  ArrayHandle wrapped;
  Call call;
  if (operand.array == nullptr)
    call.check(guf_array_wrap(operand.tensor, nullptr, nullptr, 0, wrapped.out(), call.error()));
  return wrapped;
}

}  // namespace

void usage(const std::string &message) {
  throw Failure(Exit::kUsage, message);
}

void refuse_value(const char *option, const std::string &expected, std::string_view got) {
  usage(fmt::format("{}: expected {}, got '{}'", option, expected, got));
}

void check_one_destination(bool output, bool into, bool inplace) {
  if (output + into + inplace > 1) usage("-o, --into and --inplace: expected only one of them");
}

void check_one_per_result(const std::string &name, size_t nresults, const char *option,
                          size_t given) {
  if (given == 0 || given == nresults) return;
  usage(fmt::format("{}: {} result{}, but {} was given {} time{}", name, nresults,
                    nresults == 1 ? "" : "s", option, given, given == 1 ? "" : "s"));
}

void check_different_files(const char *option, const std::vector<std::string> &paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] == kStandardStream) continue;  // standard output accepts several arrays in a row
    for (size_t j = 0; j < i; ++j) {
      if (!same_file(paths[j], paths[i])) continue;
      usage(fmt::format("{} {}: the same file as {} {}, expected one of its own per result", option,
                        paths[i], option, paths[j]));
    }
  }
}

void check_streams(const std::vector<std::string> &outputs, const std::vector<std::string> &into,
                   bool json) {
  for (const std::string &path : into) {
    if (path == kStandardStream || npz_path_of(path))
      usage(fmt::format("--into {}: expected an existing .npy file", path));
  }
  if (std::find(outputs.begin(), outputs.end(), kStandardStream) == outputs.end()) return;
  if (json) usage("-o -: standard output receives the array or --json, not both");
  check_standard_output();
}

const char *role_name(int32_t role) {
  return role == GUF_ROLE_INOUT ? "inout" : role == GUF_ROLE_OUT ? "out" : "in";
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, comma - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    parts.push_back(part);
    begin = comma + 1;
  }
  return parts;
}

int32_t casting_of(const std::optional<std::string> &name) {
  static constexpr const char *kNames[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  if (!name) return GUF_CASTING_DEFAULT;
  for (int32_t i = 0; i < 5; ++i) {
    if (*name == kNames[i]) return GUF_CASTING_NO + i;
  }
  refuse_value("--casting", "no, equiv, safe, same_kind or unsafe", *name);
}

int32_t order_of(const std::string &letter) {
  static constexpr std::pair<const char *, int32_t> kOrders[] = {
      {"K", GUF_ORDER_KEEP}, {"A", GUF_ORDER_ANY}, {"C", GUF_ORDER_C}, {"F", GUF_ORDER_F}};
  for (const auto &[name, order] : kOrders) {
    if (letter == name) return order;
  }
  refuse_value("--order", "K, A, C or F", letter);
}

int64_t axis_of(std::string_view text, std::string_view whole, const char *expected) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    refuse_value("--axis", expected, whole);
  return value;
}

uint32_t threads_of(const std::optional<std::string> &text) {
  uint32_t value = 0;
  if (!text) return value;
  const char *const last = text->data() + text->size();
  const auto [end, code] = std::from_chars(text->data(), last, value);
  if (end != last || code != std::errc()) {
    refuse_value("--threads",
                 fmt::format("a number from 0, the backend's choice, to {}", UINT32_MAX), *text);
  }
  return value;
}

uint64_t bytes_of_option(const char *option, const std::string &text) {
  uint64_t value = 0;
  const char *const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const size_t power = unit.empty() ? 0 : std::string("KMG").find(unit) + 1;
  const bool known = unit.empty() || (unit.size() == 1 && power != 0);
  const bool fits = code == std::errc() && known && value <= (UINT64_MAX >> (10 * power));
  if (!fits || value == 0) {
    refuse_value(option, "a number of bytes below 2^64, such as 65536, 64K, 8M or 1G", text);
  }
  return value << (10 * power);
}

guf_dtype dtype_of(const std::optional<std::string> &name) {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  Call call;
  if (name) call.check(guf_dtype_parse(name->c_str(), &dtype, call.error()));
  return dtype;
}

guf_device device_of(const std::optional<std::string> &spec) {
  guf_device device = nullptr;
  Call call;
  if (spec) call.check(guf_device_get(nullptr, spec->c_str(), &device, call.error()));
  return device;
}

guf_device device_in(const std::string &explanation) {
  const std::string line = explanation.substr(0, explanation.find('\n'));
  const size_t begin = line.find(" on ") + 4;
  return device_of(line.substr(begin, line.find(": ", begin) - begin));
}

guf_operand tensor_operand(const guf_tensor *tensor) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_TENSOR;
  operand.tensor = tensor;
  return operand;
}

guf_ufunc_info info_of(guf_ufunc ufunc) {
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_ufunc_get_info(ufunc, &info, call.error()));
  return info;
}

size_t results_of(const guf_ufunc_info &info) {
  if (info.nout != 0) return static_cast<size_t>(info.nout);
  return static_cast<size_t>(std::count_if(info.roles, info.roles + info.nin,
                                           [](int32_t role) { return role != GUF_ROLE_IN; }));
}

guf_array_info info_of(const guf_operand &operand) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  Call call;
  const ArrayHandle wrapped = wrapped_of(operand);
  guf_array const array = wrapped.get() == nullptr ? operand.array : wrapped.get();
  call.check(guf_array_get_info(array, &info, call.error()));
  return info;
}

uint32_t itemsize_of(guf_dtype dtype) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  return guf_dtype_get_info(dtype, &info, nullptr) == GUF_OK ? info.itemsize : 0;
}

bool is_fortran(guf_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  auto expected = static_cast<int64_t>(itemsize_of(dtype));
  int32_t longer = 0;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
    ++longer;
  }
  return longer > 1 && expected != 0;
}

uint32_t most_threads(const std::string &explanation) {
  const size_t line = explanation.find("threads: ");
  if (line == std::string::npos) return 0;
  const size_t end = explanation.find_first_of("\n;", line);
  const std::string words = explanation.substr(line, end - line);
  const size_t most = words.find("up to ");
  const char *const digits = words.c_str() + (most == std::string::npos ? 9 : most + 6);
  return static_cast<uint32_t>(std::strtoul(digits, nullptr, 10));
}

void report_time(const std::string &name, guf_device device, const std::string &explanation,
                 double seconds, uint64_t bytes, uint64_t elements) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_device_get_info(device, &info, call.error()));
  const bool cpu = info.host_memory != 0;  // a GPU has no thread count, only units
  const uint32_t threads = cpu ? most_threads(explanation) : 0;
  const uint32_t used = threads == 0 ? info.units : threads;
  report("{} on {} ({}, {}, {} {}{}): {:.6f} s, {:.2f} GB/s, {:.1f} M elements/s", name, info.spec,
         info.name, info.target, used, cpu ? "thread" : "unit", used == 1 ? "" : "s", seconds,
         static_cast<double>(bytes) / seconds / 1e9, static_cast<double>(elements) / seconds / 1e6);
}

std::string values_text(const guf_operand &operand) {
  const ArrayHandle wrapped = wrapped_of(operand);
  guf_array const array = wrapped.get() == nullptr ? operand.array : wrapped.get();
  const std::string text = text_of([&](char *to, uint64_t *length, guf_error *error) {
    return guf_array_print(array, to, length, error);
  });
  return text.substr(0, text.rfind('\n'));  // drop the line with shape, dtype and device
}

}  // namespace gufunc::cli
