// SPDX-License-Identifier: Apache-2.0
#include "bench_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "bench_operands.h"
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

// Returns the free memory of a GPU in bytes; nothing if it is unknown.
std::optional<double> free_memory(guf_device device) {
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  if (guf_device_get_memory(device, &memory, nullptr) != GUF_OK) return std::nullopt;
  return static_cast<double>(memory.free_bytes);
}

// The memory that a row needs, in bytes.
struct Memory {
  double host = 0;
  double device = 0;  // of a GPU
};

double bytes_of(const BenchOperand &operand) {
  return static_cast<double>(operand.size) * itemsize_of(operand.dtype);
}

// The Python process makes one set of operands in host memory, which its libraries share. On a GPU,
// PyTorch and CuPy also have a set each. gufunc makes an input of a GPU in host memory first.
Memory memory_of(const BenchCase &row, const std::vector<BenchOperand> &inputs,
                 const std::vector<BenchOperand> &outputs, const std::vector<std::string> &peers) {
  const auto has = [&](const char *name) {
    return std::find(peers.begin(), peers.end(), name) != peers.end();
  };
  double own = 0, results = 0, greatest = 0;
  for (const BenchOperand &input : inputs) {
    own += bytes_of(input);
    greatest = std::max(greatest, bytes_of(input));
  }
  for (const BenchOperand &output : outputs) results += bytes_of(output);
  own += results;
  const double of_python = peers.empty() ? 0 : own;
  // Functions of PyTorch without out= allocate their results.
  const double of_torch = has("torch") ? results : 0;
  const double measured = own + static_cast<double>(moved_bytes(inputs, outputs)) + of_torch;
  if (row.device == "cpu") return {measured + of_python, 0};
  return {greatest + of_python, measured + (has("torch") ? own : 0) + (has("cupy") ? own : 0)};
}

void check_limit(const BenchCase &row, double needed, const std::string &device,
                 std::optional<double> limit, const std::string &what) {
  if (!limit || needed <= *limit) return;
  throw Failure(
      Exit::kRunTime,
      fmt::format("--size {}: the operands of {} need {:.2f} GB{}, more than {:.2f} GB, {}",
                  shape_text(row.shape), guf_dtype_name(row.dtype), needed / 1e9, device,
                  *limit / 1e9, what));
}

}  // namespace

void check_memory(const BenchPlan &plan, const std::vector<std::string> &peers, guf_ufunc ufunc,
                  const guf_ufunc_info &info) {
  const double half = available_memory() / 2;
  for (const BenchCase &row : plan.cases) {
    const Memory needed =
        memory_of(row, inputs_of(row, plan, info), outputs_of(ufunc, row, plan, info), peers);
    const std::string on_device = " on " + row.device;
    if (plan.memory) {
      const auto limit = static_cast<double>(*plan.memory);
      check_limit(row, needed.host, "", limit, "the value of --memory");
      check_limit(row, needed.device, on_device, limit, "the value of --memory");
    } else if (half > 0) {
      check_limit(row, needed.host, "", half,
                  "half of the available memory; --memory sets another limit");
    }
    if (row.device == "cpu") continue;
    check_limit(row, needed.device, on_device, free_memory(device_of(row.device)),
                "the free memory of " + row.device);
  }
}

}  // namespace gufunc::cli
