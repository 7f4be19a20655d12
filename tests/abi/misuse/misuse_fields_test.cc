// SPDX-License-Identifier: Apache-2.0
// Sets every field of every input struct to values that the headers do not allow.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "misuse_fixture.h"

namespace misuse {
namespace {

using Statuses = std::set<guf_status>;

// The expected statuses for an invalid value of a field. For a field without an entry, every status
// except an internal error is correct.
const std::map<std::string, Statuses> kExpected = {
    {"guf_tensor.dtype", {GUF_E_DTYPE}},
    {"guf_tensor.ndim", {GUF_E_SHAPE}},
    {"guf_tensor.flags", {GUF_E_ARG}},
    {"guf_tensor.address", {GUF_E_ARG}},
    {"guf_tensor.shape", {GUF_E_ARG}},
    {"guf_tensor.device", {GUF_E_HANDLE}},
    {"guf_call_args.flags", {GUF_E_ARG}},
    {"guf_call_args.ninputs", {GUF_E_ARG}},
    {"guf_call_args.noutputs", {GUF_E_ARG}},
    {"guf_call_args.inputs", {GUF_E_ARG}},
    {"guf_call_args.outputs", {GUF_E_ARG}},
    {"guf_call_args.options.stream", {GUF_E_HANDLE}},
    {"guf_call_args.options.device", {GUF_E_HANDLE}},
    {"guf_call_args.options.fp_report", {GUF_E_ARG}},
    {"guf_call_args.options.fp_fail", {GUF_E_ARG}},
    {"guf_call_args.options.reserved", {GUF_E_ARG}},
    {"guf_call_args.reserved", {GUF_E_ARG}},
    {"guf_call_args.casting", {GUF_E_ARG}},
    {"guf_call_args.order", {GUF_E_ARG}},
    {"guf_call_args.host_policy", {GUF_E_ARG}},
    {"guf_call_args.dtype", {GUF_E_DTYPE, GUF_E_NO_LOOP}},
    {"guf_reduce_args.flags", {GUF_E_ARG}},
    {"guf_reduce_args.input", {GUF_E_ARG}},
    {"guf_reduce_args.output", {GUF_E_ARG}},
    {"guf_reduce_args.options.stream", {GUF_E_HANDLE}},
    {"guf_reduce_args.options.device", {GUF_E_HANDLE}},
    {"guf_reduce_args.options.fp_report", {GUF_E_ARG}},
    {"guf_reduce_args.options.fp_fail", {GUF_E_ARG}},
    {"guf_reduce_args.options.reserved", {GUF_E_ARG}},
    {"guf_reduce_args.order", {GUF_E_ARG}},
    {"guf_reduce_args.dtype", {GUF_E_DTYPE}},
    {"guf_accumulate_args.flags", {GUF_E_ARG}},
    {"guf_accumulate_args.input", {GUF_E_ARG}},
    {"guf_accumulate_args.output", {GUF_E_ARG}},
    {"guf_accumulate_args.options.stream", {GUF_E_HANDLE}},
    {"guf_accumulate_args.options.device", {GUF_E_HANDLE}},
    {"guf_accumulate_args.options.fp_report", {GUF_E_ARG}},
    {"guf_accumulate_args.options.fp_fail", {GUF_E_ARG}},
    {"guf_accumulate_args.options.reserved", {GUF_E_ARG}},
    {"guf_accumulate_args.order", {GUF_E_ARG}},
    {"guf_accumulate_args.dtype", {GUF_E_DTYPE}},
    {"guf_reduce_args.naxis", {GUF_E_ARG}},
    {"guf_reduce_args.noutputs", {GUF_E_ARG}},
    {"guf_request.operation", {GUF_E_ARG}},
    {"guf_request.call", {GUF_E_ARG}},
    {"guf_chunk_options.flags", {GUF_E_ARG}},
    {"guf_chunk_options.depth", {GUF_E_ARG}},
    {"guf_chunk_options.reserved", {GUF_E_ARG}},
    {"guf_reduction_desc.flags", {GUF_E_ARG}},
    {"guf_reduction_desc.merge", {GUF_E_HANDLE}},
    {"guf_reduction_desc.finish", {GUF_E_HANDLE}},
    {"guf_at_args.flags", {GUF_E_ARG}},
    {"guf_at_args.array", {GUF_E_ARG}},
    {"guf_at_args.indices", {GUF_E_ARG}},
    {"guf_at_args.operand", {GUF_E_VALUE}},
    {"guf_at_args.options.stream", {GUF_E_HANDLE}},
    {"guf_at_args.options.device", {GUF_E_HANDLE}},
    {"guf_at_args.options.fp_report", {GUF_E_ARG}},
    {"guf_at_args.options.fp_fail", {GUF_E_ARG}},
    {"guf_at_args.options.reserved", {GUF_E_ARG}},
    {"guf_at_args.reserved", {GUF_E_ARG}},
    {"guf_at_args.nindices", {GUF_E_ARG}},
    {"guf_ufunc_desc.nin", {GUF_E_ARG}},
    {"guf_ufunc_desc.nout", {GUF_E_ARG}},
    {"guf_ufunc_desc.identity", {GUF_E_ARG}},
    {"guf_ufunc_desc.flags", {GUF_E_ARG}},
    {"guf_ufunc_desc.nroles", {GUF_E_ARG}},
    {"guf_ufunc_desc.name", {GUF_E_ARG}},
    {"guf_loop_desc.kind", {GUF_E_ARG}},
    {"guf_loop_desc.flags", {GUF_E_ARG}},
    {"guf_loop_desc.ntypes", {GUF_E_ARG}},
    {"guf_loop_desc.types", {GUF_E_ARG}},
    {"guf_loop_desc.numpy", {GUF_E_ARG}},
    {"guf_module_v1.kernel_abi", {GUF_E_ABI}},
    {"guf_module_v1.name", {GUF_E_BAD_FILE}},
    {"guf_module_v1.functions", {GUF_E_BAD_FILE}},
    {"guf_module_v1.images", {GUF_E_BAD_FILE}},
};

std::vector<uint64_t> broken_values(Fixture &fixture, const std::string &name, const Field &field) {
  constexpr uint32_t kLow = 0x80000000U;
  switch (field.kind) {
    case Class::kInt32:
      if (name == "guf_call_args.naxes" || name == "guf_call_args.ndims") return {~0U, kLow};
      if (name == "guf_reduce_args.naxis") return {kLow, 99};  // -1 is GUF_ALL_AXES
      return {~0U, kLow, 99};
    case Class::kUint32:
      if (name == "guf_module_v1.kernel_abi") return {0, 99};
      if (name.ends_with(".flags")) return {kLow, ~0U, 1U << 20};
      if (name.ends_with(".fp_report") || name.ends_with(".fp_fail")) return {kLow, ~0U};
      if (name.ends_with(".reserved")) return {1, ~0U};
      return {};
    case Class::kDtype:
      return {1, ~0U, 0x00012006U};
    case Class::kHandle: {
      std::vector<uint64_t> handles = {1, ~uint64_t{0}, uint64_t{1} << 40};
      for (int kind = 0; kind < kHandleKinds; ++kind) {
        if (kind != field.handle && fixture.live(kind) != 0) handles.push_back(fixture.live(kind));
      }
      return handles;
    }
    default:
      return {0};
  }
}

// Returns whether functions ignore the field, because the valid struct does not use it.
bool is_unused(const std::string &name) {
  static const std::set<std::string> kUnused = {"guf_call_args.where",
                                                "guf_call_args.signature",
                                                "guf_call_args.axes",
                                                "guf_call_args.axis",
                                                "guf_call_args.dims",
                                                "guf_reduce_args.axis",
                                                "guf_reduce_args.initial",
                                                "guf_reduce_args.where",
                                                "guf_accumulate_args.indices",
                                                "guf_accumulate_args.axis",
                                                "guf_request.reduce",
                                                "guf_request.accumulate",
                                                "guf_request.at"};
  return kUnused.count(name) != 0;
}

class Fields {
 public:
  void run(Fixture &fixture, const Function &function, size_t index) {
    const Struct &structure = fixture.structure(function.parameters[index].structure);
    for (const Field &field : structure.fields) {
      const std::string name = std::string(structure.name) + "." + field.name;
      if (is_unused(name)) continue;
      for (const uint64_t value : broken_values(fixture, name, field)) {
        Words words = fixture.good(function);
        const bool narrow = field.kind == Class::kInt32 || field.kind == Class::kUint32 ||
                            field.kind == Class::kDtype;
        unsigned char *const buffer = fixture.struct_buffer(structure.name);
        std::memcpy(buffer + field.offset, &value, narrow ? 4 : 8);
        words[index] = reinterpret_cast<uint64_t>(buffer);
        check(fixture, function, words, name + " = " + std::to_string(value), name);
      }
    }
  }
  size_t cases() const { return cases_; }

 private:
  void check(Fixture &fixture, const Function &function, const Words &words,
             const std::string &what, const std::string &name) {
    fixture.remember(function);
    const guf_status status = function.call(words);
    ++cases_;
    const auto expected = kExpected.find(name);
    EXPECT_NE(status, GUF_E_INTERNAL) << function.name << ", " << what;
    if (expected != kExpected.end()) {
      EXPECT_EQ(expected->second.count(status), 1U)
          << function.name << ", " << what << ": " << guf_status_name(status) << ", "
          << (status == GUF_OK ? "" : fixture.error()->message);
    }
    if (status != GUF_OK) {
      EXPECT_EQ(fixture.difference(function), "") << function.name << ", " << what;
    } else {
      fixture.finish_call(function, words, status);
    }
  }

  size_t cases_ = 0;
};

TEST(MisuseFields, AreChecked) {
  Fixture &fixture = Fixture::shared();
  Fields fields;
  for (const Function &function : kFunctions) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      if (function.parameters[i].kind == Class::kStructIn) fields.run(fixture, function, i);
    }
  }
  RecordProperty("cases", static_cast<int>(fields.cases()));
  EXPECT_GT(fields.cases(), 200U);
}

}  // namespace
}  // namespace misuse
