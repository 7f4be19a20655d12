// SPDX-License-Identifier: Apache-2.0
// Calls every exported function with every kind of invalid argument, with one or two invalid
// arguments at a time. Each call must return a documented status, store the status in the error
// record, and write no output.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "misuse_fixture.h"

namespace misuse {
namespace {

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

}  // namespace
}  // namespace misuse
