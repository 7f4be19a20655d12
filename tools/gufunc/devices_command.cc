// SPDX-License-Identifier: Apache-2.0
// devices: prints every backend and its devices, or the reason why a backend has none. An unusable
// backend or device is reported and is not an error.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "json_values.h"
#include "outcome.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

using nlohmann::ordered_json;

guf_backend_info backend_at(uint32_t index) {
  guf_backend_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_backend_get_info(index, 1, &info, call.error()));
  return info;
}

// Returns the free memory of the whole device, or null if the backend does not report it (cpu). If
// the query fails, the row marks the device as unusable.
ordered_json free_bytes_of(guf_device device, ordered_json *row) {
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  Call call;
  const guf_status status = guf_device_get_memory(device, &memory, call.error());
  if (status == GUF_OK) return memory.free_bytes;
  if (status != GUF_E_UNSUPPORTED) {
    row->update({{"state", guf_status_name(status)}, {"reason", call.error()->message}});
  }
  return nullptr;
}

// Returns the name of a device: "cpu", "cuda:0".
std::string spec_of(const guf_backend_info &backend, int32_t index) {
  if (std::string_view(backend.name) == "cpu") return backend.name;
  return fmt::format("{}:{}", backend.name, index);
}

ordered_json device_of_backend(const guf_backend_info &backend, int32_t index) {
  Call call;
  guf_device device = nullptr;
  const std::string spec = spec_of(backend, index);
  const guf_status status = guf_device_get(nullptr, spec.c_str(), &device, call.error());
  ordered_json row = {{"spec", spec},
                      {"state", guf_status_name(status)},
                      {"reason", status == GUF_OK ? "" : call.error()->message}};
  if (status != GUF_OK) return row;
  guf_device_info info = {};
  info.struct_size = sizeof info;
  call.check(guf_device_get_info(device, &info, call.error()));
  row.update({{"name", info.name},
              {"target", info.target},
              {"units", info.units},
              {"memory_bytes", info.memory_bytes}});
  row["memory_free_bytes"] = free_bytes_of(device, &row);
  return row;
}

ordered_json row_of(const guf_backend_info &backend) {
  ordered_json devices = ordered_json::array();
  for (int32_t i = 0; backend.state == GUF_OK && i < backend.ndevices; ++i) {
    devices.push_back(device_of_backend(backend, i));
  }
  return {{"backend", backend.name},
          {"version", backend.version},
          {"state", guf_status_name(backend.state)},
          {"reason", backend.reason},
          {"driver", backend.driver},
          {"path", backend.path},
          {"devices", devices}};
}

// Returns "usable", or the status and the reason.
std::string state_text(const ordered_json &row) {
  const auto state = row["state"].get<std::string>();
  return state == "GUF_OK" ? "usable" : state + ": " + row["reason"].get<std::string>();
}

std::string size_text(const ordered_json &bytes) {
  constexpr double kGiB = 1 << 30;
  return fmt::format("{:.1f} GiB", bytes.get<double>() / kGiB);
}

void print_device(const ordered_json &device) {
  const auto spec = device["spec"].get<std::string>();
  if (!device.contains("name")) {
    print_line("  {:<10} {}", spec, state_text(device));
    return;
  }
  std::string memory = size_text(device["memory_bytes"]);
  const ordered_json &unused = device["memory_free_bytes"];
  if (!unused.is_null()) memory += " (" + size_text(unused) + " free)";
  print_line("  {:<10} {}, {}, {} units, {}, {}", spec, device["name"].get<std::string>(),
             device["target"].get<std::string>(), device["units"].get<uint32_t>(), memory,
             state_text(device));
}

void print_backend(const ordered_json &row) {
  const auto name = row["backend"].get<std::string>(), version = row["version"].get<std::string>(),
             driver = row["state"] == "GUF_OK" ? row["driver"].get<std::string>() : "";
  print_line("{}{}{}{}{} ({})", name, version.empty() ? "" : " ", version,
             driver.empty() ? "" : ", ", driver, state_text(row));
  for (const auto &device : row["devices"]) print_device(device);
}

}  // namespace

void devices_command(const Common &common) {
  uint32_t count = 0;
  Call call;
  call.check(guf_backend_count(&count, call.error()));
  ordered_json all = ordered_json::array();
  for (uint32_t i = 0; i < count; ++i) all.push_back(row_of(backend_at(i)));
  if (common.json) {
    print_json(all);
    return;
  }
  for (const auto &backend : all) print_backend(backend);
}

}  // namespace gufunc::cli
