// SPDX-License-Identifier: Apache-2.0
// info: describes files without reading their elements.
#include <fcntl.h>
#include <fmt/format.h>
#include <gufunc/gufunc.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "call_parts.h"
#include "commands.h"
#include "json_values.h"
#include "kernel_rows.h"
#include "npy_file.h"
#include "npy_stream.h"
#include "npz_file.h"
#include "outcome.h"
#include "owned_handle.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

using nlohmann::ordered_json;

ordered_json array_row(const NpyHeader &header) {
  uint64_t size = 1;
  for (const int64_t extent : header.shape) size *= static_cast<uint64_t>(extent);
  const std::vector<int64_t> strides =
      contiguous_strides(header.dtype, header.shape, header.fortran_order);
  const bool fortran = is_fortran(header.dtype, static_cast<int32_t>(header.shape.size()),
                                  header.shape.data(), strides.data());
  return {{"dtype", guf_dtype_name(header.dtype)},
          {"byte_order", header.swapped ? "swapped" : "native"},
          {"shape", header.shape},
          {"order", fortran ? "F" : "C"},
          {"size", size},
          {"bytes", header.data_size}};
}

// Returns a text such as "float64, shape (2, 3), C order, 6 elements, 48 bytes".
std::string array_text(const ordered_json &row) {
  const auto shape = row["shape"].get<std::vector<int64_t>>();
  const auto size = row["size"].get<uint64_t>(), bytes = row["bytes"].get<uint64_t>();
  return fmt::format(
      "{}{}, shape ({}{}), {} order, {} element{}, {} byte{}", row["dtype"].get<std::string>(),
      row["byte_order"] == "swapped" ? " (byte-swapped)" : "", fmt::join(shape, ", "),
      shape.size() == 1 ? "," : "", row["order"].get<std::string>(), size, size == 1 ? "" : "s",
      bytes, bytes == 1 ? "" : "s");
}

ordered_json npz_row(const std::string &path, bool raw) {
  ordered_json arrays = ordered_json::array();
  for (const NpzArray &array : NpzInput(path).arrays(raw)) {
    arrays.push_back({{"name", array.name}});
    arrays.back().update(array_row(array.header));
    arrays.back()["compressed"] = array.compressed;
    arrays.back()["stored_bytes"] = array.stored_size;
  }
  return {{"file", path}, {"kind", "npz"}, {"arrays", arrays}};
}

// Describes a module without running any of its code.
ordered_json module_row(const std::string &path) {
  Call call;
  ModuleHandle handle;
  call.check(
      guf_module_load(nullptr, path.c_str(), GUF_MODULE_DATA_ONLY, handle.out(), call.error()));
  guf_module_info info = {};
  info.struct_size = sizeof info;
  call.check(guf_module_get_info(handle.get(), &info, call.error()));
  ordered_json functions = ordered_json::array();
  for (const std::string &name : function_names(handle)) {
    const UfuncHandle ufunc = find_ufunc(name);
    const guf_ufunc_info function = info_of(ufunc.get());
    functions.push_back({{"name", name},
                         {"signature", function.signature},
                         {"nin", function.nin},
                         {"nout", function.nout},
                         {"doc", function.doc}});
  }
  ordered_json row = {{"file", path},
                      {"kind", "module"},
                      {"name", info.name},
                      {"images", info.nimages},
                      {"functions", functions}};
  std::vector<ModuleHandle> modules;
  modules.push_back(std::move(handle));
  row["kernels"] = kernel_rows(modules);
  return row;
}

// Detects the kind of file from its first bytes, not from its name.
ordered_json row_of(const std::string &path, bool raw) {
  ordered_json row = {{"file", path}, {"kind", "npy"}};
  if (path == kStandardStream) {
    NpyHeader header;
    read_standard_input(raw, &header);
    row.update(array_row(header));
    return row;
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 4> magic = {};
  if (file.get() < 0 || ::read(file.get(), magic.data(), magic.size()) < 0) fail_file(path, "read");
  const std::string_view start(magic.data(), magic.size());
  if (start.starts_with("PK")) return npz_row(path, raw);
  if (start ==
      "\x7f"
      "ELF")
    return module_row(path);
  const auto npz = npz_path_of(path);
  if (npz) return npz_row(path, raw);
  row.update(array_row(read_npy_file_header(file.get(), raw, path)));
  return row;
}

void print_row(const ordered_json &row) {
  const auto file = row["file"].get<std::string>(), kind = row["kind"].get<std::string>();
  if (kind == "npy") {
    print_line("{}: {}", file, array_text(row));
  } else if (kind == "npz") {
    print_line("{}: {} array{}", file, row["arrays"].size(), row["arrays"].size() == 1 ? "" : "s");
    for (const ordered_json &array : row["arrays"])
      print_line("  {}: {}{}", array["name"].get<std::string>(), array_text(array),
                 array["compressed"].get<bool>() ? ", compressed" : "");
  } else {
    print_line("{}: module {}", file, row["name"].get<std::string>());
    for (const ordered_json &function : row["functions"]) {
      const auto signature = function["signature"].get<std::string>();
      print_line("  {}  {}  {}", function["name"].get<std::string>(),
                 signature.empty() ? fmt::format("{} in, {} out", function["nin"].get<int>(),
                                                 function["nout"].get<int>())
                                   : signature,
                 function["doc"].get<std::string>());
    }
    for (const ordered_json &kernel : row["kernels"])
      print_line("  {}  raw kernel ({})", kernel["name"].get<std::string>(),
                 kernel["kernel"].get<std::string>());
  }
}

}  // namespace

void info_command(const Common &common, const std::vector<std::string> &files, bool raw) {
  ordered_json rows = ordered_json::array();
  for (const std::string &file : files) rows.push_back(row_of(file, raw));
  if (common.json) return print_json(rows);
  for (const ordered_json &row : rows) print_row(row);
}

}  // namespace gufunc::cli
