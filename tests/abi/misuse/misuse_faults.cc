// SPDX-License-Identifier: Apache-2.0
// Defines the kinds of invalid arguments, and the statuses that the headers document for them.
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>

#include "misuse_fixture.h"

namespace misuse {
namespace {

using Statuses = std::set<guf_status>;

constexpr int64_t kHuge = int64_t{1} << 62;
const int64_t kHugeShape[] = {kHuge, kHuge, 0};
const int64_t kNegativeShape[] = {-3, 3, 3};
const int64_t kOtherShape[] = {5, 7, 11};
const int64_t kOutsideAxes[] = {100, -100, 0};
const int64_t kSameAxes[] = {0, 0, 0};
const int64_t kZeros[] = {0, 0, 0};
const int64_t kLarge[] = {1000, 1000, 1000};
const guf_operand kNoScalar = {GUF_OPERAND_NONE, 0, 0, 0, nullptr, nullptr, {0, 0}};
const guf_operand kNoKind = {99, 0, 0, 0, nullptr, nullptr, {0, 0}};
const guf_operand kFlags = {GUF_OPERAND_WEAK_INT, 0, 1, 0, nullptr, nullptr, {0, 0}};
const guf_operand kNoDtype = {GUF_OPERAND_SCALAR, 77, 0, 0, nullptr, nullptr, {0, 0}};
const guf_dtype kNoTypes[] = {GUF_F32, 99, GUF_F32};
const uint64_t kNoAddresses[] = {0, 0, 0};
const uint32_t kManyBlocks[] = {1, 1, 65536}, kNoThreads[] = {1, 0, 1}, kManyThreads[] = {65, 1, 1};

template <class T>
uint64_t word(const T *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

bool is(const Function &function, const char *name) {
  return std::strcmp(function.name, name) == 0;
}

// Adds faults that replace a valid pointer with a pointer to invalid data.
void add_contents(const Function &function, const std::string &name, std::vector<Fault> *out) {
  const auto add = [out](const char *what, uint64_t value, Statuses expected) {
    out->push_back({what, value, std::move(expected)});
  };
  if (name == "shape") {
    add("product overflows", word(kHugeShape), {GUF_E_SHAPE});
    add("a negative extent", word(kNegativeShape), {GUF_E_SHAPE});
    const bool allocates = is(function, "guf_array_alloc") || is(function, "guf_array_alloc_host");
    if (!allocates) add("another size", word(kOtherShape), {GUF_E_SHAPE});
  }
  if (name == "strides") {
    add("elements overlap", word(kZeros), {GUF_E_SHAPE});
    add("they reach too far", word(kHugeShape), {GUF_E_SHAPE});
  }
  if (name == "axes") {
    add("outside", word(kOutsideAxes), {GUF_E_AXIS});
    if (is(function, "guf_array_transpose") || is(function, "guf_array_expand_dims")) {
      add("repeated", word(kSameAxes), {GUF_E_AXIS});
    }
  }
  if (name == "steps") add("zero", word(kZeros), {GUF_E_VALUE});
  if (name == "windows") {
    add("zero", word(kZeros), {GUF_E_SHAPE});
    add("too large", word(kLarge), {GUF_E_SHAPE});
  }
  if (name == "value") {
    add("no scalar", word(&kNoScalar), {GUF_E_ARG});
    add("no kind", word(&kNoKind), {GUF_E_ARG});
    add("flags", word(&kFlags), {GUF_E_ARG});
    add("no dtype", word(&kNoDtype), {GUF_E_ARG, GUF_E_DTYPE});
  }
  if (name == "types") add("no dtype", word(kNoTypes), {GUF_E_DTYPE, GUF_E_NOT_FOUND});
  if (name == "addresses") add("zeros", word(kNoAddresses), {GUF_E_ARG});
  if (name == "spec") {
    for (const char *text :
         {"", ":", "cpu:", "cpu:-1", "cpu:x", "cpu:99999999999", "CPU\n", "a b"}) {
      add(text, word(text), {GUF_E_ARG, GUF_E_NO_BACKEND});
    }
    add("no backend", word("misuse"), {GUF_E_NO_BACKEND});
    add("no device", word("cpu:77"), {GUF_E_NO_DEVICE});
  }
  if (name == "spelling") {
    for (const char *text : {"", "f", "float33", ">f4", "f44444444444444444444", "\xff"}) {
      if (std::strcmp(text, "f") != 0) add(text, word(text), {GUF_E_DTYPE});
    }
  }
  if (name == "path" && is(function, "guf_backend_load")) {
    add("relative", word("misuse.so"), {GUF_E_ARG});
  }
  if (name == "grid") add("too many", word(kManyBlocks), {GUF_E_ARG});
  if (name == "block") {
    add("zeros", word(kNoThreads), {GUF_E_ARG});
    add("too many", word(kManyThreads), {GUF_E_ARG});
  }
  if (name == "args") {
    add("no scalar", word(&kNoScalar), {GUF_E_ARG});
    add("no kind", word(&kNoKind), {GUF_E_ARG});
    add("flags", word(&kFlags), {GUF_E_ARG});
    add("no dtype", word(&kNoDtype), {GUF_E_DTYPE, GUF_E_ARG});
  }
  const bool finds = is(function, "guf_ufunc_find") || is(function, "guf_kernel_find") ||
                     is(function, "guf_apply");
  if (name == "function" || (name == "name" && finds)) {
    for (const char *text : {"", "misuse_none", "a:b:c", ":"}) {
      add(text, word(text), {GUF_E_NOT_FOUND});
    }
  }
}

std::vector<int32_t> broken_numbers(const std::string &name) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  const int32_t high = std::numeric_limits<int32_t>::max();
  if (name == "ndim" || name == "naxes") return {-1, low, 65, high};
  if (name == "order") return {-1, 4, low, high};
  if (name == "casting") return {-1, 6, low, high};
  if (name == "ntypes" || name == "naddresses" || name == "nargs" || name == "ntensors")
    return {-1, 0, 2, low};
  return {};
}

// Returns the size of the first version of a struct.
uint32_t first_size(std::string_view structure, uint32_t size) {
  size_t first = size;
  if (structure == "guf_module_info") first = offsetof(guf_module_info, nkernels);
  if (structure == "guf_ufunc_info") first = offsetof(guf_ufunc_info, roles);
  if (structure == "guf_reduce_args") first = offsetof(guf_reduce_args, parameters);
  return static_cast<uint32_t>(first);
}

}  // namespace

void Fixture::add_handle_faults(const Function &function, const Parameter &parameter,
                                std::vector<Fault> *out) const {
  const std::set<guf_status> good = good_statuses(function);
  for (int kind = 0; kind < kHandleKinds; ++kind) {
    if (kind == parameter.handle || live(kind) == 0) continue;
    out->push_back({"a handle of another kind", live(kind), {GUF_E_HANDLE}});
  }
  for (const auto &[what, handle] : dead_) out->push_back({what, handle, {GUF_E_HANDLE}});
  const guf_status missing = is(function, "guf_stream_get_native") ? GUF_E_ARG : GUF_E_HANDLE;
  out->push_back({"NULL", 0, parameter.null_ok ? good : Statuses{missing}});
}

void Fixture::add_value_faults(const Function &function, const Parameter &parameter,
                               std::vector<Fault> *out) const {
  const std::string name = parameter.name;
  if (parameter.kind == Class::kDtype) {
    if (is(function, "guf_dtype_name")) return;
    for (const uint32_t value : {0U, 1U, ~0U, 0x00012006U, 0x80000000U, GUF_F64 ^ 0x10000U}) {
      out->push_back({"no dtype", value, {GUF_E_DTYPE}});
    }
    return;
  }
  for (const int32_t value : broken_numbers(name)) {
    Statuses expected = {GUF_E_ARG, GUF_E_SHAPE, GUF_E_INDEX, GUF_E_AXIS, GUF_E_VALUE};
    if (name == "order" || name == "casting") expected = {GUF_E_ARG};
    if (name == "ntypes") expected = {GUF_E_ARG, GUF_E_BUFFER_TOO_SMALL, GUF_E_NOT_FOUND};
    out->push_back({std::to_string(value), static_cast<uint32_t>(value), expected});
  }
  if (name == "flags") {
    for (const uint32_t value : {1U << 31, ~0U, 1U << 20}) {
      out->push_back({"unknown flags", value, {GUF_E_ARG}});
    }
  }
  if (name == "index") {
    for (const uint32_t value : {~0U, 1U << 20}) {
      out->push_back({"outside", value, {GUF_E_INDEX}});
    }
  }
  if (name == "memory") {
    for (const uint32_t value : {0U, 4U, ~0U}) out->push_back({"no kind", value, {GUF_E_ARG}});
  }
  if (name == "address" || (name == "size" && is(function, "guf_host_register"))) {
    out->push_back({"0", 0, {GUF_E_ARG}});
  }
  if (name == "native") out->push_back({"0", 0, {GUF_E_ARG}});
  if (name == "capacity") out->push_back({"0", 0, {GUF_E_ARG, GUF_E_BUFFER_TOO_SMALL}});
  if (name == "nbytes") {
    for (const uint64_t value : {0U, 8U, 47U}) {
      out->push_back({"too few", value, {GUF_E_BUFFER_TOO_SMALL}});
    }
  }
}

// Adds faults with invalid struct sizes, and with bytes after the fields of this version.
void Fixture::add_struct_faults(const Function &function, size_t index, std::vector<Fault> *out) {
  const Parameter &parameter = function.parameters[index];
  const auto size = static_cast<uint32_t>(structure(parameter.structure).size);
  const bool read = parameter.kind == Class::kStructIn;
  const unsigned char *const source = read ? struct_buffer(parameter.structure) : outs_[index];
  const uint32_t next = is(function, "guf_apply") ? size : 0;  // size of the second tensor
  const auto add = [&](const char *what, uint32_t given, unsigned char tail, Statuses expected) {
    std::vector<unsigned char> &variant = variants_.emplace_back(size + 64 + next, tail);
    std::memcpy(variant.data(), source, size);
    std::memcpy(variant.data(), &given, sizeof given);
    out->push_back({what, word(variant.data()), std::move(expected)});
  };
  Statuses good = good_statuses(function);
  // guf_module_v1 has only one version, so every other size is an error.
  if (std::strcmp(parameter.structure, "guf_module_v1") == 0) good = {GUF_E_STRUCT};
  // guf_apply computes the address of the second tensor from the struct_size of the first tensor.
  // With another struct_size, there is no valid tensor at the computed address.
  if (is(function, "guf_apply")) good = {GUF_E_STRUCT};
  const uint32_t first = first_size(parameter.structure, size);
  for (const uint32_t given : {0U, 3U, first - 1, ~0U}) {
    add("struct_size", given, 0, {GUF_E_STRUCT});
  }
  if (first != size) add("the first version's size", first, 0, good);
  add("a tail of zeros", size + 64, 0, good);
  add("a tail of ones", size + 64, 0xFF, read ? Statuses{GUF_E_STRUCT} : good);
}

std::set<guf_status> Fixture::good_statuses(const Function &function) const {
  const std::string name = function.name;
  // The cpu does not support these functions.
  static const std::set<std::string> kOfGpus = {
      "guf_stream_adopt",       "guf_stream_begin_capture", "guf_device_get_memory",
      "guf_device_trim_memory", "guf_device_limit_memory",  "guf_device_enable_peer",
      "guf_stream_get_native",  "guf_device_adopt"};
  if (kOfGpus.count(name) != 0) return {GUF_E_UNSUPPORTED};
  if (name == "guf_event_elapsed") return {GUF_E_UNSUPPORTED, GUF_E_ARG};
  if (name == "guf_stream_end_capture") return {GUF_E_CAPTURE};
  if (name == "guf_graph_launch") return {GUF_E_HANDLE};
  if (name == "guf_backend_load" || name == "guf_module_load") return {GUF_E_IO};
  if (name == "guf_module_register" || name == "guf_ufunc_add_module_loop") {
    return {GUF_OK, GUF_E_EXISTS};
  }
  if (name == "guf_ufunc_set_reduction") return {GUF_E_SIGNATURE};
  if (name.ends_with("_outer")) return {GUF_E_SHAPE};  // guf_outer needs a larger output
  if (name == "guf_ufunc_add_loop") return {GUF_E_EXISTS};
  return {GUF_OK};
}

std::vector<Fault> Fixture::faults(const Function &function, size_t index) {
  const Parameter &parameter = function.parameters[index];
  std::vector<Fault> out;
  switch (parameter.kind) {
    case Class::kHandle:
      add_handle_faults(function, parameter, &out);
      return out;
    case Class::kError:
      return out;
    case Class::kDtype:
    case Class::kInt32:
    case Class::kUint32:
    case Class::kUint64:
      add_value_faults(function, parameter, &out);
      return out;
    case Class::kStructIn:
    case Class::kStructOut:
      add_struct_faults(function, index, &out);
      break;
    default:
      add_contents(function, parameter.name, &out);
      break;
  }
  const Statuses missing = {GUF_E_ARG};
  out.push_back({"NULL", 0, parameter.null_ok ? good_statuses(function) : missing});
  return out;
}

}  // namespace misuse
