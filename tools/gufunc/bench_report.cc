// SPDX-License-Identifier: Apache-2.0
#include "bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "call_parts.h"

namespace gufunc::cli {
namespace {

using nlohmann::ordered_json;

// Version of the JSON form. It changes if a member is removed or changes its meaning.
constexpr int kVersion = 1;

ordered_json names_of(const std::vector<guf_dtype> &dtypes) {
  ordered_json names = ordered_json::array();
  for (const guf_dtype dtype : dtypes) names.push_back(guf_dtype_name(dtype));
  return names;
}

ordered_json time_json(const BenchRow &row, const BenchTime &time) {
  if (!time.measured()) return {{"reason", time.reason}};
  return {{"ns_per_call", time.ns},
          {"ns_per_element", row.ns_per_element(time)},
          {"gb_per_s", time.gb_per_s()},
          {"calls_per_round", time.calls}};
}

ordered_json row_json(const BenchRow &row) {
  ordered_json peers = ordered_json::object();
  for (size_t i = 2; i < row.times.size(); ++i) {
    const BenchTime &time = row.times[i];
    peers[time.name] = time_json(row, time);
    if (time.measured()) peers[time.name]["ratio"] = row.ratio(time);
  }
  return {{"method", row.what.method},
          {"dtype", guf_dtype_name(row.what.dtype)},
          {"inputs", names_of(row.inputs)},
          {"outputs", names_of(row.outputs)},
          {"layout", row.what.layout},
          {"shape", row.what.shape},
          {"elements", row.elements},
          {"bytes", row.times[0].bytes},
          {"values", {static_cast<double>(row.values.low), static_cast<double>(row.values.high)}},
          {"device", row.what.device},
          {"threads", row.what.threads},
          {"threads_used", row.threads},
          {"rounds", row.rounds},
          {"gufunc", time_json(row, row.times[0])},
          {"copy", time_json(row, row.times[1])},
          {"peers", peers}};
}

ordered_json machine_json(const Machine &machine) {
  ordered_json devices = ordered_json::array();
  for (const guf_device_info &device : machine.devices) {
    devices.push_back({{"spec", device.spec},
                       {"name", device.name},
                       {"target", device.target},
                       {"units", device.units}});
  }
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"threads", machine.threads},
          {"devices", devices}};
}

}  // namespace

Machine this_machine(const std::vector<BenchCase> &cases) {
  Machine machine;
  std::ifstream file("/proc/cpuinfo");
  std::set<std::pair<std::string, std::string>> cores;
  std::string package;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) machine.cpu = value;
    if (line.starts_with("physical id")) package = value;
    if (line.starts_with("core id")) cores.emplace(package, value);
  }
  machine.cores = static_cast<uint32_t>(cores.size());
  const auto describe = [](const std::string &spec) {
    guf_device_info info = {};
    info.struct_size = sizeof info;
    Call call;
    call.check(guf_device_get_info(device_of(spec), &info, call.error()));
    return info;
  };
  machine.threads = describe("cpu").units;
  for (const BenchCase &row : cases) {
    if (std::none_of(machine.devices.begin(), machine.devices.end(),
                     [&](const guf_device_info &known) { return row.device == known.spec; }))
      machine.devices.push_back(describe(row.device));
  }
  return machine;
}

std::string machine_text(const BenchReport &report) {
  const Machine &machine = report.machine;
  std::string text = machine.cpu.empty() ? "unknown cpu" : machine.cpu;
  if (machine.cores != 0)
    text += fmt::format(", {} core{}", machine.cores, machine.cores == 1 ? "" : "s");
  text += ", " + threads_text(machine.threads);
  for (const guf_device_info &device : machine.devices) {
    if (std::string_view(device.spec) != "cpu")
      text += fmt::format("; {}: {}", device.spec, device.name);
  }
  text += fmt::format("; gufunc {}", guf_version_string());
  for (const auto &[name, version] : report.versions) text += fmt::format(", {} {}", name, version);
  return text;
}

ordered_json report_json(const BenchReport &report) {
  ordered_json rows = ordered_json::array();
  for (const BenchRow &row : report.rows) rows.push_back(row_json(row));
  return {{"schema", "gufunc-bench"},
          {"version", kVersion},
          {"function", report.function},
          {"signature", report.signature},
          {"library", guf_version_string()},
          {"machine", machine_json(report.machine)},
          {"python",
           report.python_version.empty() ? ordered_json() : ordered_json(report.python_version)},
          {"peers", report.versions},
          {"missing", report.missing},
          {"seconds", report.seconds},
          {"rows", rows}};
}

}  // namespace gufunc::cli
