// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_grid.h"

#include <algorithm>
#include <cfenv>
#include <numeric>

#include "tests/ptx/ptx_block.h"

namespace ptx {
namespace {

// Sets the default floating-point environment while it exists.
class DefaultEnvironment {
 public:
  DefaultEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultEnvironment() { std::fesetenv(&saved_); }
  DefaultEnvironment(const DefaultEnvironment &) = delete;
  DefaultEnvironment &operator=(const DefaultEnvironment &) = delete;

 private:
  std::fenv_t saved_;
};

// Checks the limits that the text declares for the entry.
void check_launch(const Launch &launch, const Function &entry) {
  if (launch.argument_bytes != entry.uniform_bytes) {
    throw Fault("the entry has " + std::to_string(entry.uniform_bytes) +
                " bytes of parameters, got " + std::to_string(launch.argument_bytes));
  }
  const uint32_t *const limits = entry.text->max_threads;
  if (limits[0] == 0) return;
  const uint32_t threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
  const bool fits = entry.text->requires_threads ? std::equal(limits, limits + 3, launch.threads)
                                                 : threads <= limits[0] * limits[1] * limits[2];
  if (!fits) throw Fault("the block has " + std::to_string(threads) + " threads");
}

std::vector<uint64_t> block_numbers(const Launch &launch) {
  const uint64_t total = uint64_t{launch.blocks[0]} * launch.blocks[1] * launch.blocks[2];
  const bool all = launch.edges == 0 || total / 2 <= launch.edges;
  std::vector<uint64_t> numbers(all ? total : 2 * launch.edges);
  std::iota(numbers.begin(), numbers.end(), uint64_t{0});
  if (!all) {
    std::iota(numbers.begin() + static_cast<ptrdiff_t>(launch.edges), numbers.end(),
              total - launch.edges);
  }
  if (launch.order.descending) std::reverse(numbers.begin(), numbers.end());
  if (launch.order.shuffle_seed != 0) {
    std::mt19937_64 random(launch.order.shuffle_seed);
    std::shuffle(numbers.begin(), numbers.end(), random);
  }
  return numbers;
}

}  // namespace

Result run(const Launch &launch) {
  const DefaultEnvironment environment;
  Result result;
  try {
    const Function &entry = launch.program->entry(launch.entry);
    check_launch(launch, entry);
    RangeCache global(*launch.memory);
    Block block(launch, entry, &global);
    for (const uint64_t number : block_numbers(launch)) {
      block.run(number);
      result.lane_instructions = block.lane_instructions();
    }
  } catch (const Fault &fault) {
    result.fault = fault.what();
  }
  return result;
}

}  // namespace ptx
