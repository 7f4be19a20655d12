// SPDX-License-Identifier: Apache-2.0
// Transposes blocks of every element size. A block consists of squares that the fast path handles
// and of remaining rows and columns.
#include "backends/cpu/loops/transpose.h"

#include <cstring>
#include <vector>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

class Transpose : public testing::TestWithParam<uint32_t> {};

TEST_P(Transpose, TransposesBlocks) {
  const int64_t size = GetParam();
  for (const int64_t lines : {1, 2, 3, 4, 7, 8, 16, 17, 33}) {
    for (const int64_t length : {1, 2, 3, 4, 7, 8, 16, 17, 31}) {
      const int64_t from_step = length * size + 3, to_step = lines * size + 5;
      std::vector<char> from(static_cast<size_t>(lines * from_step));
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 256);
      std::vector<char> to(static_cast<size_t>(length * to_step), 1), expected = to;
      for (int64_t i = 0; i < lines; ++i) {
        for (int64_t j = 0; j < length; ++j) {
          std::memcpy(expected.data() + j * to_step + i * size,
                      from.data() + i * from_step + j * size, GetParam());
        }
      }
      transpose(to.data(), to_step, from.data(), from_step, lines, length, GetParam());
      EXPECT_EQ(to, expected) << lines << " lines of " << length;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Transpose, testing::Values(1, 2, 4, 8, 16));

}  // namespace
}  // namespace gufunc::cpu
