// SPDX-License-Identifier: Apache-2.0
// Tests that every violation of the plugin contract is rejected with the expected state and
// message, and that no code of a rejected file runs.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cfenv>
#include <filesystem>
#include <string>

#include "core/plugin/list_backends.h"
#include "core/plugin/registry.h"
#include "tests/support/fresh_error.h"
#include "tests/support/temporary_folder.h"

namespace gufunc::plugin {
namespace {

using ::testing::HasSubstr;

std::string bad_path(const std::string &kind) {
  return GUFUNC_TEST_PLUGINS "/bad/libgufunc_backend_" + kind + ".so";
}

struct Row {
  const char *kind;
  guf_status status;
  const char *text;
  int32_t native_code = 0;
};

void PrintTo(const Row &row, std::ostream *out) {
  *out << row.kind;
}

class BadPlugin : public ::testing::TestWithParam<Row> {};

const Row kRows[] = {
    {"no_symbol", GUF_E_ABI, "exports no gufunc_backend_open_v1"},
    {"null_table", GUF_E_ABI, "name: expected the required slot, got NULL"},
    {"wrong_major", GUF_E_ABI, "it is not a plugin of ABI 1"},
    {"more_exports", GUF_E_ABI, "it exports bad_plugin_helper, expected gufunc_backend_open_v1"},
    {"needs_gufunc", GUF_E_ABI, "it is linked with libgufunc.so"},
    {"needs_driver", GUF_E_ABI, "it is linked with libcuda.so.1, expected the driver opened in"},
    {"origin", GUF_E_ABI, "its run path is $ORIGIN/../lib, expected one without $ORIGIN"},
    {"unmapped", GUF_E_ABI, "it may be unmapped, expected the linker option -z nodelete"},
    {"lazy", GUF_E_ABI, "its symbols are bound lazily, expected the linker option -z now"},
    {"short_table", GUF_E_ABI, "its table ends before slot 'memory_free': expected "},
    {"long_table", GUF_E_ABI, "bytes written after it"},
    {"missing_slot", GUF_E_ABI, "launch: expected the required slot, got NULL"},
    {"throws", GUF_E_ABI, "its entry threw an exception"},
    {"wrong_name", GUF_E_ABI, "name of the table: expected wrong_name, got another"},
    {"minor", GUF_E_ABI, "minor of the table: expected 0 to 0, got 3"},
    {"odd_status", GUF_E_ABI, "its entry returned 2, which is not an error status"},
    {"refuses", GUF_E_ABI, "backend refuses does not open; status 904: it is Sunday", 42},
    {"hostile", GUF_E_ABI, "plugin ABI: expected 1.7, got 1.1"},
    {"isa", GUF_E_ABI, "instructions that this machine lacks; expected x86-64-v9"},
    {"garbled", GUF_E_BAD_FILE, "expected a number, got 'priority=high'"},
    {"no_note", GUF_E_BAD_FILE, "it has no backend note"},
};

TEST_P(BadPlugin, IsRefusedWithItsReason) {
  guf_error error = fresh_error();
  std::span<Record *const> before, after;
  ASSERT_EQ(backends(&before, nullptr), GUF_OK);
  EXPECT_EQ(load_backend(bad_path(GetParam().kind).c_str(), &error), GetParam().status);
  EXPECT_THAT(error.message, HasSubstr(GetParam().text));
  EXPECT_EQ(error.native_code, GetParam().native_code);
  ASSERT_EQ(backends(&after, nullptr), GUF_OK);
  EXPECT_EQ(after.size(), before.size());
  // The status is the same without an error record.
  EXPECT_EQ(load_backend(bad_path(GetParam().kind).c_str(), nullptr), GetParam().status);
}

TEST_P(BadPlugin, IsListedWithItsReason) {
  const TemporaryFolder folder;
  std::filesystem::copy(bad_path(GetParam().kind), folder.path());
  ListingRules rules;
  rules.sources.path = folder.path();
  ASSERT_EQ(base::process_trust(&rules.trust, nullptr), GUF_OK);
  std::vector<std::unique_ptr<Record>> list;
  ASSERT_EQ(list_backends(rules, &list, nullptr), GUF_OK);
  ASSERT_EQ(list.size(), 1u);
  Record &record = *list[0];
  EXPECT_EQ(record.name, GetParam().kind);
  EXPECT_EQ(open_backend(record, nullptr), GetParam().status);
  EXPECT_EQ(record.state().status, GetParam().status);
  EXPECT_THAT(record.state().reason, HasSubstr(GetParam().text));
  // A second probe returns the stored status and does not open the plugin again.
  EXPECT_EQ(probe_backend(record, nullptr), GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(Rows, BadPlugin, ::testing::ValuesIn(kRows),
                         [](const auto &row) { return std::string(row.param.kind); });

TEST(BadPlugins, OneThatIsFineLoadsOnce) {
  guf_error error = fresh_error();
  ASSERT_EQ(load_backend(bad_path("fine").c_str(), &error), GUF_OK) << error.message;
  EXPECT_EQ(load_backend(bad_path("fine").c_str(), &error), GUF_E_EXISTS);
  EXPECT_THAT(error.message, HasSubstr("a backend named fine is loaded already"));
}

// A plugin with a valid table whose first calls fail.
struct ProbeRow {
  const char *kind;
  const char *text;
};

void PrintTo(const ProbeRow &row, std::ostream *out) {
  *out << row.kind;
}

class BadProbe : public ::testing::TestWithParam<ProbeRow> {};

const ProbeRow kProbes[] = {
    {"throws_in_probe", "slot 'probe' threw an exception"},
    {"negative_count", "slot 'probe' counted -5 devices, expected 0 to 4096"},
    {"huge_count", "slot 'probe' counted 100000 devices, expected 0 to 4096"},
    {"odd_probe", "slot 'probe' returned 1, expected 0 or a status of 100 or more"},
    {"odd_open", "slot 'device_open' returned 2, expected 0 or a status of 100 or more"},
};

TEST_P(BadProbe, IsRefusedWithItsReason) {
  guf_error error = fresh_error();
  ASSERT_EQ(load_backend(bad_path(GetParam().kind).c_str(), &error), GUF_OK) << error.message;
  backend::Device *device = nullptr;
  EXPECT_EQ(find_device(GetParam().kind, &device, &error), GUF_E_ABI);
  EXPECT_THAT(error.message, HasSubstr(GetParam().text));
  EXPECT_EQ(device, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Rows, BadProbe, ::testing::ValuesIn(kProbes),
                         [](const auto &row) { return std::string(row.param.kind); });

#if defined(__x86_64__)
TEST(BadPlugins, FastMathConstructorsDoNotReachTheCaller) {
  const uint32_t before = __builtin_ia32_stmxcsr();
  ASSERT_EQ(load_backend(bad_path("fast_math").c_str(), nullptr), GUF_OK);
  EXPECT_EQ(__builtin_ia32_stmxcsr(), before);
  // If the plugin is opened without the library's protection, it does change the control word.
  const TemporaryFolder folder;
  const std::string copy = folder.path() / "fast_math_copy.so";
  std::filesystem::copy(bad_path("fast_math"), copy);
  ASSERT_NE(dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  EXPECT_NE(__builtin_ia32_stmxcsr(), before);
  __builtin_ia32_ldmxcsr(before);
}
#endif

TEST(BadPlugins, PathsThatAreNoPluginFile) {
  guf_error error = fresh_error();
  EXPECT_EQ(load_backend(nullptr, &error), GUF_E_ARG);
  EXPECT_EQ(load_backend("libgufunc_backend_fine.so", &error), GUF_E_ARG);
  EXPECT_EQ(load_backend("/nonexistent/libgufunc_backend_x.so", &error), GUF_E_IO);
  EXPECT_EQ(load_backend("/dev/null", &error), GUF_E_IO);
  EXPECT_EQ(load_backend("/tmp", &error), GUF_E_IO);
  const TemporaryFolder folder;
  const std::string fifo = folder.path() / "libgufunc_backend_fifo.so";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(load_backend(fifo.c_str(), &error), GUF_E_IO);  // opening the FIFO must not block
  EXPECT_THAT(error.message, HasSubstr("is not a regular file"));
  const std::string empty = folder.path() / "libgufunc_backend_empty.so";
  fclose(fopen(empty.c_str(), "w"));
  EXPECT_EQ(load_backend(empty.c_str(), &error), GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, testing::EndsWith("/libgufunc_backend_empty.so is empty"));
}

}  // namespace
}  // namespace gufunc::plugin
