// SPDX-License-Identifier: Apache-2.0
// The results of `gufunc bench`, and their JSON form (docs/bench.md).
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_REPORT_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_REPORT_H

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_plan.h"

namespace gufunc::cli {

// The time of one library in one row.
struct BenchTime {
  std::string name;    // "gufunc", "copy", "numpy"
  std::string reason;  // why the library does not run the row; else ""
  double ns = std::numeric_limits<double>::infinity();  // of one call, the minimum of all rounds
  int64_t calls = 1;                                    // in the last round
  uint64_t bytes = 0;                                   // that one call reads and writes

  bool measured() const { return reason.empty(); }
  double gb_per_s() const { return static_cast<double>(bytes) / ns; }
};

struct BenchRow {
  BenchCase what;
  std::vector<guf_dtype> inputs, outputs;  // dtypes
  ValueRange values;                       // of the first input
  int64_t elements = 0;
  uint32_t threads = 0;  // maximum number of threads of the backend; 0: a GPU
  int64_t rounds = 0;
  std::vector<BenchTime> times;  // gufunc, copy, then one per peer

  double ns_per_element(const BenchTime &time) const {
    return time.ns / static_cast<double>(elements);
  }
  // The time of a library divided by the time of gufunc.
  double ratio(const BenchTime &time) const { return time.ns / times[0].ns; }
};

struct Machine {
  std::string cpu;                       // model
  uint32_t cores = 0;                    // physical cores; 0 if the system does not report them
  uint32_t threads = 0;                  // processors of this process
  std::vector<guf_device_info> devices;  // that were measured
};

struct BenchReport {
  std::string function, signature;
  Machine machine;
  double seconds = 0;
  std::string python_version;                   // "" without Python
  std::map<std::string, std::string> versions;  // of peers
  std::map<std::string, std::string> missing;   // peers that are not available, with reasons
  std::vector<BenchRow> rows;
};

Machine this_machine(const std::vector<BenchCase> &cases);

// One line: the machine and the versions of the libraries.
std::string machine_text(const BenchReport &report);

nlohmann::ordered_json report_json(const BenchReport &report);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_REPORT_H
