// SPDX-License-Identifier: Apache-2.0
// Tests that the core and the plugin agree on which standard functions may be reordered. The core
// reads the flags of a function from ops.def, and the plugin reads them from the registrations of
// its kernels. Also tests which loops have a reduction entry.
#include <gufunc/ops_loops.h>

#include <cstring>
#include <map>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kReorders = GUF_FUNCTION_COMMUTATIVE | GUF_FUNCTION_ASSOCIATIVE;

std::map<std::string, uint32_t> flags_of_operations() {
  std::map<std::string, uint32_t> flags;
#define GUF_OP(name, nin, nout, signature, identity, bits, loops, doc) flags[#name] = (bits);
#define GUF_OP_REDUCTION(name, nin, nout, signature, bits, loops, merge, finish, doc) \
  flags[#name] = (bits);
#define GUF_OP_PART(name, nin, nout, loops, doc) flags[#name] = 0;
#include <gufunc/ops.def>
  return flags;
}

TEST(StandardFlags, AreThoseOfTheOperations) {
  const std::map<std::string, uint32_t> expected = flags_of_operations();
  const guf_module_v1 &table = *cpu().builtins();
  uint32_t folds = 0;
  for (uint32_t f = 0; f < table.nfunctions; ++f) {
    const guf_module_function &function = table.functions[f];
    const auto found = expected.find(function.name);
    ASSERT_NE(found, expected.end()) << function.name;
    EXPECT_EQ(function.flags & kReorders, found->second & kReorders) << function.name;
    for (uint32_t l = 0; l < function.nloops; ++l) {
      const guf_module_loop &loop = function.loops[l];
      const bool same =
          function.nin == 2 && loop.types[0] == loop.types[1] && loop.types[0] == loop.types[2];
      const bool wants = function.nout == 1 && function.signature == nullptr && same;
      EXPECT_EQ(loop.fold != 0, wants) << loop.name;
      EXPECT_LE(loop.fold, table.nkernels) << loop.name;
      folds += wants ? 1 : 0;
    }
  }
  EXPECT_GT(folds, 150u);
}

}  // namespace
}  // namespace gufunc::cpu
