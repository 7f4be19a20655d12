// SPDX-License-Identifier: Apache-2.0
#include "bench_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "bench_workload.h"
#include "call_parts.h"

namespace gufunc::cli {
namespace {

// Returns the memory that the system can give to programs, in bytes; 0 if it is unknown.
double available_memory() {
  std::ifstream file("/proc/meminfo");
  double kib = 0;
  for (std::string word; file >> word;) {
    if (word == "MemAvailable:") file >> kib;
  }
  double bytes = kib * 1024, limit = 0, used = 0;
  std::ifstream group_limit("/sys/fs/cgroup/memory.max"),
      group_used("/sys/fs/cgroup/memory.current");
  if (group_limit >> limit && group_used >> used) bytes = std::min(bytes, limit - used);
  return bytes;
}

// Returns the free memory of a GPU in bytes.
std::optional<double> free_memory(guf_device device) {
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  if (guf_device_get_memory(device, &memory, nullptr) != GUF_OK) return std::nullopt;
  return static_cast<double>(memory.free_bytes);
}

[[noreturn]] void refuse_memory(const BenchCase &row, double needed, double limit,
                                const std::string &what) {
  throw Failure(Exit::kRunTime,
                fmt::format("--size {}: the operands of {} need {:.2f} GB, more than {:.2f} GB, {}",
                            shape_text(row.shape), guf_dtype_name(row.dtype), needed / 1e9,
                            limit / 1e9, what));
}

}  // namespace

void check_memory(const BenchPlan &plan, const guf_ufunc_info &info) {
  const double half = available_memory() / 2;
  for (const BenchCase &row : plan.cases) {
    const double own = operand_bytes(row, plan, info);
    const double needed = own * (plan.peers.empty() ? 2 : 3);
    if (plan.memory && needed > static_cast<double>(*plan.memory))
      refuse_memory(row, needed, static_cast<double>(*plan.memory), "the value of --memory");
    if (!plan.memory && half > 0 && needed > half)
      refuse_memory(row, needed, half, "half of the available memory; --memory sets another limit");
    const auto free = free_memory(device_of(row.device));
    if (free && needed > *free)
      refuse_memory(row, needed, *free, "the free memory of " + row.device);
  }
}

}  // namespace gufunc::cli
