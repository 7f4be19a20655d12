// SPDX-License-Identifier: Apache-2.0
// bench: times a ufunc and other libraries. In each round every library runs once, so that a slower
// phase of the machine affects all of them, and the minimum of all rounds counts.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "bench_copy.h"
#include "bench_memory.h"
#include "bench_peers.h"
#include "bench_plan.h"
#include "bench_plot.h"
#include "bench_progress.h"
#include "bench_report.h"
#include "bench_table.h"
#include "bench_workload.h"
#include "call_parts.h"
#include "commands.h"
#include "kernel_rows.h"
#include "npy_stream.h"
#include "terminal.h"
#include "text_file.h"

namespace gufunc::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFewestRounds = 3;
// The timed calls of one library in one round take about this long. Short rounds find the moments
// in which no other program uses the processor.
constexpr double kRoundNs = 2e6;
constexpr double kRounds = 50;      // that a short row has at least
constexpr double kMostCalls = 1e7;  // per round

// Runs every kind of row once with few elements, so that a call that the library refuses fails
// before the first measurement.
void check_calls(const BenchPlan &plan, guf_ufunc ufunc, const guf_ufunc_info &info) {
  for (BenchCase row : plan.cases) {
    std::fill(row.shape.begin(), row.shape.end(), 2);
    BenchWorkload(ufunc, info, row, plan).sample(1);
  }
}

// Something that is timed. sample(calls) returns nanoseconds.
struct Runner {
  BenchTime *time;
  std::function<double(int64_t)> sample;
};

// Measures until the time of the row is over. Each round begins with another library, because the
// memory of the previous one may still be in the cache. The number of calls follows from the best
// time so far.
int64_t measure(const std::vector<Runner> &runners, double seconds, BenchProgress *progress) {
  const auto start = Clock::now();
  const double count = static_cast<double>(runners.size());
  const double round_ns = std::min(kRoundNs, seconds * 1e9 / kRounds / count);
  int64_t rounds = 0;
  while (rounds < kFewestRounds || seconds_since(start) < seconds) {
    for (size_t i = 0; i < runners.size(); ++i) {
      const Runner &runner = runners[(i + static_cast<size_t>(rounds)) % runners.size()];
      BenchTime &time = *runner.time;
      const double ns = runner.sample(time.calls) / static_cast<double>(time.calls);
      time.ns = std::max(std::min(time.ns, ns), 1e-3);
      time.calls = static_cast<int64_t>(std::clamp(round_ns / time.ns, 1.0, kMostCalls));
    }
    progress->show_round(++rounds);
  }
  return rounds;
}

BenchRow measured_row(guf_ufunc ufunc, const guf_ufunc_info &info, const BenchCase &what,
                      const BenchPlan &plan, BenchPeers *peers, BenchProgress *progress) {
  BenchWorkload work(ufunc, info, what, plan);
  BenchRow row;
  row.what = what;
  for (const BenchOperand &input : work.inputs()) row.inputs.push_back(input.dtype);
  for (const BenchOperand &output : work.outputs()) row.outputs.push_back(output.dtype);
  row.values = work.values();
  row.elements = work.elements();
  row.threads = what.device == "cpu" ? work.threads() : 0;
  BenchCopy copy(work.device(), work.bytes(), row.threads);
  row.times.push_back({.name = "gufunc", .bytes = work.bytes()});
  row.times.push_back({.name = "copy", .bytes = copy.bytes()});
  const auto reasons = peers->prepare(info.name, what, plan, work);
  for (const std::string &name : peers->names())
    row.times.push_back({.name = name, .reason = reasons.at(name), .bytes = work.bytes()});
  std::vector<Runner> runners = {
      {&row.times[0], [&](int64_t calls) { return work.sample(calls); }},
      {&row.times[1], [&](int64_t calls) { return copy.sample(calls); }}};
  for (size_t i = 2; i < row.times.size(); ++i) {
    BenchTime *const time = &row.times[i];
    if (!time->measured()) continue;
    runners.push_back(
        {time, [peers, time](int64_t calls) { return peers->sample(time->name, calls); }});
  }
  row.rounds = measure(runners, plan.seconds, progress);
  return row;
}

// Names the peers that are left out in one line on stderr.
void report_missing(const std::map<std::string, std::string> &missing) {
  std::vector<std::string> parts;
  parts.reserve(missing.size());
  for (const auto &[name, reason] : missing) parts.push_back(fmt::format("{} ({})", name, reason));
  if (!parts.empty()) report("gufunc: not measured: {}", fmt::join(parts, ", "));
}

}  // namespace

void bench_command(const BenchOptions &options) {
  const bool prints_json = options.json == kStandardStream;
  if (options.svg == kStandardStream) usage("--svg: expected a file, got '-'");
  if (options.json && options.svg)
    check_different_files("--json and --svg", {*options.json, *options.svg});
  TextFile json("--json", options.json), svg("--svg", options.svg);
  const std::vector<ModuleHandle> modules = load_modules(options.modules);
  const UfuncHandle ufunc = find_function(modules, options.name);
  const guf_ufunc_info info = info_of(ufunc.get());
  const BenchPlan plan = plan_of(options, ufunc.get(), info);
  check_memory(plan, {}, ufunc.get(), info);
  check_calls(plan, ufunc.get(), info);
  BenchPeers peers(plan.peers, options.python);
  report_missing(peers.missing());
  check_memory(plan, peers.names(), ufunc.get(), info);
  BenchReport report;
  report.function = info.name;
  report.signature = info.signature;
  report.machine = this_machine(plan.cases);
  report.seconds = plan.seconds;
  report.python_version = peers.python_version();
  report.versions = peers.versions();
  report.missing = peers.missing();
  const BenchTable table(plan.cases, peers.names());
  if (!prints_json) {
    print_line("{} on {}", info.name, machine_text(report));
    print_line(
        "ns per element, minima of interleaved rounds; ratio: time of the peer / time of gufunc");
    table.print_header();
  }
  BenchProgress progress(plan.cases.size());
  for (const BenchCase &row : plan.cases) {
    progress.begin_row(fmt::format("{} {} {} {}", row.method, guf_dtype_name(row.dtype), row.layout,
                                   shape_text(row.shape)));
    report.rows.push_back(measured_row(ufunc.get(), info, row, plan, &peers, &progress));
    progress.erase();
    if (!prints_json) table.print_row(report.rows.back());
  }
  const std::string text =
      report_json(report).dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) +
      "\n";
  if (prints_json) write_output(text);
  json.publish(text);
  svg.publish(plot_svg(report, plan.plots_time));
}

}  // namespace gufunc::cli
