// SPDX-License-Identifier: Apache-2.0
// Tests the number of threads that a process may use, read from files that the test writes.
#include "backends/cpu/base/thread_count.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

struct Row {
  const char *name;
  std::vector<std::pair<const char *, const char *>> files;  // paths below the root, and contents
  const char *membership;
  uint32_t threads;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"NoFiles", {}, "0::/a/b\n", 0},
    {"V2Max", {{"a/cpu.max", "max 100000\n"}}, "0::/a\n", 0},
    {"V2Quota", {{"a/cpu.max", "150000 100000\n"}}, "0::/a\n", 2},
    {"V2ParentIsSmaller",
     {{"a/b/cpu.max", "800000 100000\n"}, {"a/cpu.max", "300000 100000\n"}},
     "0::/a/b\n",
     3},
    {"V2RootOfANamespace", {{"cpu.max", "50000 100000\n"}}, "0::/\n", 1},
    {"V1Quota",
     {{"cpu/g/cpu.cfs_quota_us", "250000\n"}, {"cpu/g/cpu.cfs_period_us", "100000\n"}},
     "5:memory:/other\n4:cpu,cpuacct:/g\n",
     3},
    {"V1Unlimited",
     {{"cpu/g/cpu.cfs_quota_us", "-1\n"}, {"cpu/g/cpu.cfs_period_us", "100000\n"}},
     "4:cpuacct,cpu:/g\n",
     0},
    {"V1OtherController",
     {{"cpu/g/cpu.cfs_quota_us", "100000\n"}, {"cpu/g/cpu.cfs_period_us", "100000\n"}},
     "4:cpuset:/g\n",
     0},
    {"Nonsense", {{"a/cpu.max", "many 0\n"}}, "0::/a\n", 0},
    {"ZeroPeriod", {{"a/cpu.max", "1000 0\n"}}, "0::/a\n", 0},
    {"BrokenLines", {}, "::\n:\n\n0:", 0},
};

class CgroupThreads : public testing::TestWithParam<Row> {};

TEST_P(CgroupThreads, ReadsTheSmallestLimit) {
  char folder[] = "/tmp/gufunc_cgroup_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  for (const auto &[path, text] : GetParam().files) {
    const auto file = std::filesystem::path(folder) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  EXPECT_EQ(cgroup_threads(folder, GetParam().membership), GetParam().threads);
  std::filesystem::remove_all(folder);
}
INSTANTIATE_TEST_SUITE_P(Rows, CgroupThreads, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(GrantedThreads, FollowTheUsersNumber) {
  cpu();
  auto &config = test_host().config;
  config["GUFUNC_NUM_THREADS"] = "7";
  EXPECT_EQ(thread_limit().threads, 7u);
  EXPECT_EQ(thread_limit().by, ThreadLimitSource::kUser);
  config.erase("GUFUNC_NUM_THREADS");
  const ThreadLimit machine = thread_limit();
  EXPECT_GE(machine.threads, 1u);
  EXPECT_TRUE(machine.by == ThreadLimitSource::kAffinity ||
              machine.by == ThreadLimitSource::kQuota);
  for (const char *wrong : {"0", "-1", "two", "3x", "99999999999999999999", "1025"}) {
    config["GUFUNC_NUM_THREADS"] = wrong;
    test_host().log.clear();
    EXPECT_EQ(thread_limit().threads, machine.threads) << wrong;
    EXPECT_EQ(test_host().log.size(), 1u) << wrong;
  }
  config.erase("GUFUNC_NUM_THREADS");
}

}  // namespace
}  // namespace gufunc::cpu
