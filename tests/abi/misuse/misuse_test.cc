// SPDX-License-Identifier: Apache-2.0
// Passes invalid arguments to every exported function, and device "auto" in place of every device.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "misuse_fixture.h"
#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"
#include "tests/support/requests.h"

namespace misuse {
namespace {

// Calls every exported function with every kind of invalid argument, with one or two invalid
// arguments at a time. Each call must return a documented status, store the status in the error
// record, and write no output.

class Misuse : public testing::Test {
 protected:
  // The statuses that a call may return. If a call has several invalid arguments, it may report any
  // of them.
  using Statuses = std::set<guf_status>;

  void run(const Function &function, const Words &words, const Statuses &expected,
           const std::string &what) {
    fixture_.remember(function);
    fixture_.prepare(function, words);
    const guf_status status = function.call(words);
    ++cases_;
    if (expected.count(status) == 0) {
      ADD_FAILURE() << function.name << ", " << what << ": " << guf_status_name(status) << ", "
                    << (status != GUF_OK ? fixture_.error()->message : "");
    }
    if (status >= 100) expect_untouched(function, what, status);
    if (status == GUF_OK && expected.count(GUF_OK) != 0)
      fixture_.finish_call(function, words, status);
  }

  void expect_untouched(const Function &function, const std::string &what, guf_status status) {
    const std::string name = function.name;
    // GUF_E_BUFFER_TOO_SMALL is the only failure that writes an output, namely the required length.
    const bool reports_length = status == GUF_E_BUFFER_TOO_SMALL;
    const std::string difference = reports_length ? "" : fixture_.difference(function);
    EXPECT_EQ(difference, "") << name << ", " << what;
    const guf_error &error = *fixture_.error();
    EXPECT_EQ(error.status, status) << name << ", " << what;
    EXPECT_NE(error.message[0], '\0') << name << ", " << what;
    EXPECT_NE(std::memchr(error.message, '\0', sizeof error.message), nullptr);
  }

  static std::string describe(const Function &function, size_t index, const Fault &fault) {
    return std::string(function.parameters[index].name) + " " + fault.what;
  }

  Fixture &fixture_ = Fixture::shared();
  size_t cases_ = 0;
};

TEST_F(Misuse, TheTableHoldsEveryFunction) {
  EXPECT_EQ(kFunctions.size(), kFunctionCount);
  EXPECT_GT(kFunctionCount, 75U);
}

TEST_F(Misuse, ValidArgumentsAreAccepted) {
  for (const Function &function : kFunctions) {
    const Words words = fixture_.good(function);
    run(function, words, fixture_.good_statuses(function), "good arguments");
  }
}

TEST_F(Misuse, EachFaultIsNamed) {
  for (const Function &function : kFunctions) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      fixture_.good(function);
      const size_t count = fixture_.faults(function, i).size();
      for (size_t k = 0; k < count; ++k) {
        Words words = fixture_.good(function);
        const Fault fault = fixture_.faults(function, i)[k];
        words[i] = fault.word;
        run(function, words, fault.expected, describe(function, i, fault));
      }
    }
  }
  RecordProperty("cases", static_cast<int>(cases_));
}

// The error record is optional. A record with an unknown size is not written.
TEST_F(Misuse, ErrorRecordsAreOptional) {
  for (const Function &function : kFunctions) {
    if (function.parameters.empty() || function.parameters.back().kind != Class::kError) continue;
    const size_t last = function.parameters.size() - 1;
    for (size_t i = 0; i < last; ++i) {
      fixture_.good(function);
      const size_t count = fixture_.faults(function, i).size();
      for (size_t k = 0; k < count; ++k) {
        Words words = fixture_.good(function);
        const Fault fault = fixture_.faults(function, i)[k];
        if (fault.expected.count(GUF_OK) != 0) continue;
        words[i] = fault.word;
        guf_error old = {};
        old.struct_size = 500;
        const guf_error before = old;
        words[last] = k % 2 == 0 ? 0 : reinterpret_cast<uint64_t>(&old);
        const guf_status status = function.call(words);
        ++cases_;
        EXPECT_EQ(fault.expected.count(status), 1U) << function.name << ", " << fault.what;
        EXPECT_EQ(std::memcmp(&old, &before, sizeof old), 0) << function.name;
      }
    }
  }
  RecordProperty("cases", static_cast<int>(cases_));
}

TEST_F(Misuse, PairsOfFaultsAreRefused) {
  for (const Function &function : kFunctions) {
    const size_t count = function.parameters.size();
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = i + 1; j < count; ++j) {
        fixture_.good(function);
        const size_t ni = fixture_.faults(function, i).size();
        const size_t nj = fixture_.faults(function, j).size();
        for (size_t k = 0; k < ni * nj; ++k) {
          Words words = fixture_.good(function);
          const Fault first = fixture_.faults(function, i)[k / nj];
          const Fault second = fixture_.faults(function, j)[k % nj];
          Statuses expected = first.expected;
          expected.insert(second.expected.begin(), second.expected.end());
          const bool both_fine = first.expected.count(GUF_OK) + second.expected.count(GUF_OK) == 2;
          // naxes has no effect if axes is NULL.
          const bool no_list = std::strcmp(function.parameters[i].name, "naxes") == 0 &&
                               std::strcmp(function.parameters[j].name, "axes") == 0 &&
                               second.word == 0;
          if (!both_fine && !no_list) expected.erase(GUF_OK);
          words[i] = first.word;
          words[j] = second.word;
          run(function, words, expected,
              describe(function, i, first) + " and " + describe(function, j, second));
        }
      }
    }
  }
  RecordProperty("cases", static_cast<int>(cases_));
  EXPECT_GT(cases_, 50000U);
}

// Sets every field of every input struct to values that the headers do not allow.

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

// Tests handles in operands. Every invalid handle, and every valid handle of a different kind, is
// passed as the array of each operand of each method, and as the device of the operand's tensor.

// Operands that can be used together: a matrix, a row, an index, a mask and a number.
struct Ground {
  double matrix[6] = {1, 2, 3, 4, 5, 6};
  double row[3] = {7, 7, 7};
  int64_t index[1] = {0};
  uint8_t mask[3] = {1, 1, 1};
  gufunc::Operands operands;
  const guf_operand whole = *operands.tensor({GUF_F64, matrix, {2, 3}, {}, 0});
  const guf_operand place = *operands.tensor({GUF_I64, index, {1}, {}, 0});
  guf_operand input = whole, same = whole, indices = place;
  guf_operand output = *operands.tensor({GUF_F64, row, {3}, {}, 0});
  guf_operand where = *operands.tensor({GUF_BOOL, mask, {3}, {}, 0});
  guf_operand initial = gufunc::weak_int_of(0);
};

struct Site {
  const char *name;
  guf_operand Ground::*operand;
  guf_status (*call)(guf_ufunc, Ground &, guf_error *);
};

guf_status reduce(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &ground.input;
  args.output = &ground.output;
  args.where = &ground.where;
  args.initial = &ground.initial;
  guf_resolution found = {};
  found.struct_size = sizeof found;
  const guf_status requested = requests::resolve_reduce(ufunc, &args, &found, nullptr);
  const guf_status done = guf_reduce(ufunc, &args, error);
  EXPECT_EQ(requested, done);
  return done;
}

template <bool kStretches>
guf_status accumulate(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  guf_accumulate_args args = {};
  args.struct_size = sizeof args;
  args.input = &ground.input;
  args.output = &ground.same;
  guf_operand none = {};
  if (!kStretches) return guf_accumulate(ufunc, &args, error);
  if (ground.same.tensor == ground.whole.tensor) args.output = &none;
  args.indices = &ground.indices;
  const guf_status status = guf_reduceat(ufunc, &args, error);
  if (none.kind == GUF_OPERAND_ARRAY) guf_array_release(none.array, nullptr);
  return status;
}

guf_status outer(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  const guf_operand inputs[] = {ground.input, ground.initial};
  guf_operand output = ground.same;
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  args.outputs = &output;
  args.noutputs = 1;
  args.where = &ground.where;
  return guf_outer(ufunc, &args, error);
}

guf_status at(guf_ufunc ufunc, Ground &ground, guf_error *error) {
  guf_at_args args = {};
  args.struct_size = sizeof args;
  args.array = &ground.input;
  args.indices = &ground.indices;
  args.nindices = 1;
  args.operand = &ground.initial;
  return guf_at(ufunc, &args, error);
}

const Site kSites[] = {
    {"reduce input", &Ground::input, reduce},
    {"reduce output", &Ground::output, reduce},
    {"reduce where", &Ground::where, reduce},
    {"reduce initial", &Ground::initial, reduce},
    {"accumulate input", &Ground::input, accumulate<false>},
    {"accumulate output", &Ground::same, accumulate<false>},
    {"reduceat input", &Ground::input, accumulate<true>},
    {"reduceat output", &Ground::same, accumulate<true>},
    {"reduceat indices", &Ground::indices, accumulate<true>},
    {"outer first", &Ground::input, outer},
    {"outer second", &Ground::initial, outer},
    {"outer output", &Ground::same, outer},
    {"outer where", &Ground::where, outer},
    {"at array", &Ground::input, at},
    {"at indices", &Ground::indices, at},
    {"at operand", &Ground::initial, at},
};

std::vector<std::pair<std::string, uint64_t>> wrong_handles(const Fixture &fixture, int kind) {
  std::vector<std::pair<std::string, uint64_t>> handles = fixture.dead();
  handles.emplace_back("null", 0);
  for (int other = 0; other < kHandleKinds; ++other) {
    if (other != kind) handles.emplace_back("another kind", fixture.live(other));
  }
  return handles;
}

class MisuseOperands : public ::testing::Test {
 protected:
  void try_all(int kind, const std::function<void(Ground &, guf_operand *, uint64_t)> &spoil) {
    guf_ufunc add = nullptr;
    ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add, nullptr), GUF_OK);
    size_t cases = 0;
    for (const Site &site : kSites) {
      for (const auto &[what, handle] : wrong_handles(Fixture::shared(), kind)) {
        if (kind != kArray && handle == 0) continue;  // NULL is a valid device
        Ground ground;
        spoil(ground, &(ground.*site.operand), handle);
        guf_error error = fresh_error();
        EXPECT_EQ(site.call(add, ground, &error), GUF_E_HANDLE)
            << site.name << ", " << what << ": " << error.message;
        EXPECT_EQ(ground.row[0], 7) << site.name;
        EXPECT_EQ(ground.matrix[1], 2) << site.name;
        ++cases;
      }
    }
    EXPECT_GT(cases, 300U);
    guf_ufunc_release(add, nullptr);
  }
};

TEST_F(MisuseOperands, OfMethodsRejectStaleArrays) {
  try_all(kArray, [](Ground &, guf_operand *operand, uint64_t handle) {
    *operand = {GUF_OPERAND_ARRAY, 0, 0, 0, reinterpret_cast<guf_array>(handle), nullptr, {0, 0}};
  });
}

TEST_F(MisuseOperands, OfMethodsRejectStaleDevices) {
  guf_tensor spoilt = {};
  try_all(kDevice, [&](Ground &ground, guf_operand *operand, uint64_t handle) {
    spoilt = operand->kind == GUF_OPERAND_TENSOR ? *operand->tensor : *ground.place.tensor;
    spoilt.device = reinterpret_cast<guf_device>(handle);
    *operand = {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, &spoilt, {0, 0}};
  });
}

// Passes the handle of device "auto" as every parameter and every struct field that is a device.
// The result must be the same as for the handle of an ordinary device, and never GUF_E_HANDLE.

class MisuseAuto : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(guf_device_get(nullptr, "auto", &auto_, nullptr), GUF_OK);
    ASSERT_NE(reinterpret_cast<uint64_t>(auto_), fixture_.live(kDevice));
  }
  void run(const Function &function, const Words &words, const std::string &what) {
    fixture_.prepare(function, words);
    const guf_status status = function.call(words);
    EXPECT_EQ(fixture_.good_statuses(function).count(status), 1U)
        << function.name << ", " << what << ": " << guf_status_name(status) << ", "
        << (status == GUF_OK ? "" : fixture_.error()->message);
    if (status == GUF_OK) fixture_.finish_call(function, words, status);
    ++cases_;
  }
  void run_fields(const Function &function, size_t index) {
    const Struct &structure = fixture_.structure(function.parameters[index].structure);
    for (const Field &field : structure.fields) {
      if (field.kind != Class::kHandle || field.handle != kDevice) continue;
      Words words = fixture_.good(function);
      unsigned char *const buffer = fixture_.struct_buffer(structure.name);
      std::memcpy(buffer + field.offset, &auto_, sizeof auto_);
      words[index] = reinterpret_cast<uint64_t>(buffer);
      run(function, words, std::string(structure.name) + "." + field.name);
    }
  }

  Fixture &fixture_ = Fixture::shared();
  guf_device auto_ = nullptr;
  size_t cases_ = 0;
};

TEST_F(MisuseAuto, IsADeviceToEveryParameter) {
  for (const Function &function : kFunctions) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      const Parameter &parameter = function.parameters[i];
      if (parameter.kind != Class::kHandle || parameter.handle != kDevice) continue;
      Words words = fixture_.good(function);
      words[i] = reinterpret_cast<uint64_t>(auto_);
      run(function, words, parameter.name);
    }
  }
  EXPECT_GE(cases_, 18U);
}

TEST_F(MisuseAuto, IsADeviceToEveryField) {
  for (const Function &function : kFunctions) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      if (function.parameters[i].kind == Class::kStructIn) run_fields(function, i);
    }
  }
  EXPECT_GE(cases_, 10U);
}

}  // namespace
}  // namespace misuse
