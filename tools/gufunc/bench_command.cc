// SPDX-License-Identifier: Apache-2.0
// bench: times a ufunc and other libraries. In each round every library runs once, so that a slower
// phase of the machine affects all of them, and the minimum of all rounds counts.
#include <fmt/format.h>
#include <gufunc/gufunc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <span>

#include "bench_copy.h"
#include "bench_peers.h"
#include "bench_plan.h"
#include "bench_plot.h"
#include "bench_report.h"
#include "bench_workload.h"
#include "call_parts.h"
#include "commands.h"
#include "kernel_rows.h"
#include "new_file.h"
#include "npy_file.h"
#include "npy_stream.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFewestRounds = 3;
// The timed calls of one library in one round take about this long. Short rounds find the moments
// in which no other program uses the processor.
constexpr double kRoundNs = 2e6;
constexpr double kRounds = 50;      // that a short row has at least
constexpr double kMostCalls = 1e7;  // per round

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

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

// Refuses rows whose operands do not fit into memory: those of gufunc, of the copy and of the
// peers.
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

// Runs every kind of row once with few elements, so that a call that the library refuses fails
// before the first measurement.
void check_calls(const BenchPlan &plan, guf_ufunc ufunc, const guf_ufunc_info &info) {
  for (BenchCase row : plan.cases) {
    std::fill(row.shape.begin(), row.shape.end(), 2);
    BenchWorkload(ufunc, info, row, plan).sample(1);
  }
}

// A text file that gets its name when it is complete. Without a path there is no file.
class TextFile {
 public:
  // Throws Failure(kFile) if the file cannot be created.
  explicit TextFile(const std::optional<std::string> &path) {
    if (!path || *path == kStandardStream) return;
    path_ = *path;
    file_.emplace(resolve_target(path_), path_, 0666);
  }
  void publish(const std::string &text) {
    if (!file_) return;
    write_all(file_->fd(), std::as_bytes(std::span(text)), path_);
    file_->publish();
  }

 private:
  std::string path_;
  std::optional<NewFile> file_;
};

// The progress on stderr, if it is a terminal: one line, which is erased before anything else is
// printed.
class Progress {
 public:
  explicit Progress(size_t rows) : rows_(rows) {}
  void begin_row(const std::string &what) {
    ++row_;
    what_ = what;
    start_ = Clock::now();
    show("preparing");
  }
  void show_round(int64_t round) {
    if (seconds_since(shown_) > 0.2) show(fmt::format("round {}", round));
  }
  void erase() const {
    if (terminal_) std::fputs("\r\x1b[K", stderr);
  }

 private:
  void show(const std::string &state) {
    if (!terminal_) return;
    const std::string line = fmt::format("row {} of {}: {}, {}, {:.1f} s", row_, rows_, what_,
                                         state, seconds_since(start_));
    std::fputs(fmt::format("\r\x1b[K{:.100}", line).c_str(), stderr);
    shown_ = Clock::now();
  }

  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  size_t rows_, row_ = 0;
  std::string what_;
  Clock::time_point start_, shown_;
};

std::string number_text(double value) {
  return value < 10     ? fmt::format("{:.4f}", value)
         : value < 1000 ? fmt::format("{:.1f}", value)
                        : fmt::format("{:.0f}", value);
}

// The table on stdout. A row is printed as soon as it is measured.
class Table {
 public:
  Table(const std::vector<BenchCase> &cases, const std::vector<std::string> &peers)
      : names_({"method", "dtype", "layout", "shape", "device", "threads", "gufunc ns", "GB/s",
                "copy GB/s"}) {
    for (const std::string &peer : peers) {
      names_.push_back(peer + " ns");
      names_.emplace_back("ratio");
    }
    for (const std::string &name : names_) widths_.push_back(std::max<size_t>(name.size(), 8));
    for (const BenchCase &row : cases) {
      const std::vector<std::string> cells = labels(row);
      for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
    }
  }
  void print_header() const { print(names_); }
  void print_row(const BenchRow &row) const {
    std::vector<std::string> cells = labels(row.what);
    const BenchTime &own = row.times[0];
    cells.push_back(number_text(row.ns_per_element(own)));
    cells.push_back(number_text(own.gb_per_s()));
    cells.push_back(number_text(row.times[1].gb_per_s()));
    for (size_t i = 2; i < row.times.size(); ++i) {
      const BenchTime &time = row.times[i];
      cells.push_back(time.measured() ? number_text(row.ns_per_element(time)) : "-");
      cells.push_back(time.measured() ? fmt::format("{:.2f}", row.ratio(time)) : "-");
    }
    print(cells);
  }

 private:
  static std::vector<std::string> labels(const BenchCase &row) {
    const bool chosen = row.threads == 0;
    return {row.method, guf_dtype_name(row.dtype),
            row.layout, shape_text(row.shape),
            row.device, row.device != "cpu" ? "-" : chosen ? "any" : std::to_string(row.threads)};
  }
  // Aligns words to the left and numbers to the right.
  void print(const std::vector<std::string> &cells) const {
    constexpr size_t kWords = 3;
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string gap = i == 0 ? "" : "  ";
      line += i < kWords || i == 4 ? fmt::format("{}{:<{}}", gap, cells[i], widths_[i])
                                   : fmt::format("{}{:>{}}", gap, cells[i], widths_[i]);
    }
    write_line(line);
    if (std::fflush(stdout) != 0) throw Failure(Exit::kFile, "cannot write to standard output");
  }

  std::vector<std::string> names_;
  std::vector<size_t> widths_;
};

// Something that is timed. sample(calls) returns nanoseconds.
struct Runner {
  BenchTime *time;
  std::function<double(int64_t)> sample;
};

// Measures until the time of the row is over. Each round begins with another library, because the
// memory of the previous one may still be in the cache. The number of calls follows from the best
// time so far.
int64_t measure(const std::vector<Runner> &runners, double seconds, Progress *progress) {
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
                      const BenchPlan &plan, BenchPeers *peers, Progress *progress) {
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
  const std::vector<ModuleHandle> modules = load_modules(options.modules);
  const UfuncHandle ufunc = find_function(modules, options.name);
  const guf_ufunc_info info = info_of(ufunc.get());
  const BenchPlan plan = plan_of(options, ufunc.get(), info);
  check_memory(plan, info);
  check_calls(plan, ufunc.get(), info);
  TextFile json(options.json), svg(options.svg);
  BenchPeers peers(plan.peers, options.python);
  report_missing(peers.missing());
  BenchReport report;
  report.function = info.name;
  report.signature = info.signature;
  report.machine = this_machine(plan.cases);
  report.seconds = plan.seconds;
  report.python_version = peers.python_version();
  report.versions = peers.versions();
  report.missing = peers.missing();
  const Table table(plan.cases, peers.names());
  if (!prints_json) {
    print_line("{} on {}", info.name, machine_text(report));
    print_line(
        "ns per element, minima of interleaved rounds; ratio: time of the peer / time of gufunc");
    table.print_header();
  }
  Progress progress(plan.cases.size());
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
