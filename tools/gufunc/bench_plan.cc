// SPDX-License-Identifier: Apache-2.0
#include "bench_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "call_parts.h"
#include "owned_handle.h"
#include "type_keywords.h"

namespace gufunc::cli {
namespace {

constexpr size_t kMostDimensions = 8;

const std::vector<std::string> kMethods = {"call", "reduce", "accumulate"};
const std::vector<std::string> kLayouts = {"contiguous", "strided", "broadcast", "transposed"};
const std::vector<std::string> kPeers = {"numpy", "numba", "torch", "cupy"};

// Parses a list: splits the value of an option at commas and calls parse(part) for each part.
// Refuses an empty part, and parts with equal values, such as 1000 and 1e3. shown(value) is the
// text of a value in this message.
template <class Parse, class Shown>
auto list_of(const char *option, const std::string &text, Parse parse, Shown shown) {
  std::vector<decltype(parse(std::string()))> list;
  for (const std::string_view part : parts_of(text)) {
    if (part.empty()) refuse_value(option, "a list without empty parts", text);
    auto value = parse(std::string(part));
    if (std::find(list.begin(), list.end(), value) != list.end())
      usage(fmt::format("{}: {} is given twice", option, shown(value)));
    list.push_back(std::move(value));
  }
  return list;
}

std::vector<std::string> words_of(const char *option, const std::string &text,
                                  const std::vector<std::string> &known) {
  const auto parse = [&](const std::string &word) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      refuse_value(option, fmt::format("a list of {}", fmt::join(known, ", ")), word);
    return word;
  };
  return list_of(option, text, parse, [](const std::string &word) { return word; });
}

// Parses "1e6" or "1000x1000".
std::vector<int64_t> shape_of(const std::string &text) {
  std::vector<int64_t> shape;
  double elements = 1;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    const auto extent = number_of<double>(std::string_view(text).substr(begin, end - begin));
    elements *= extent.value_or(0);
    const bool fits = extent && *extent >= 1 && *extent == std::floor(*extent) &&
                      elements <= kMostElements && shape.size() < kMostDimensions;
    if (!fits) {
      refuse_value("--size",
                   fmt::format("numbers of elements from 1 to {:.0e}, such as 1000 or 1e6, or "
                               "shapes of up to {} dimensions, such as 1000x1000",
                               kMostElements, kMostDimensions),
                   text);
    }
    shape.push_back(static_cast<int64_t>(*extent));
    begin = end + 1;
  }
  return shape;
}

// Returns about as many elements in two dimensions of similar extents.
std::vector<int64_t> square_of(int64_t elements) {
  const auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  return {rows, elements / rows};
}

// Returns the shapes of the rows with this layout. In a two-dimensional layout, a number becomes a
// shape of two dimensions, and must not become one that is given too.
std::vector<std::vector<int64_t>> shapes_of_layout(const std::string &layout,
                                                   std::vector<std::vector<int64_t>> shapes) {
  if (layout != "broadcast" && layout != "transposed") return shapes;
  const std::vector<std::vector<int64_t>> given = shapes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].size() == 1) shapes[i] = square_of(shapes[i][0]);
    const auto same =
        std::find(shapes.begin(), shapes.begin() + static_cast<ptrdiff_t>(i), shapes[i]);
    if (same == shapes.begin() + static_cast<ptrdiff_t>(i)) continue;
    usage(fmt::format("--size: {} and {} are both {} in the layout {}",
                      shape_text(given[static_cast<size_t>(same - shapes.begin())]),
                      shape_text(given[i]), shape_text(shapes[i]), layout));
  }
  return shapes;
}

// Whether a dtype is neither a datetime type nor structured.
bool is_number(guf_dtype dtype) {
  const int32_t kind = info_of(dtype).kind;
  return kind != GUF_KIND_DATETIME && kind != GUF_KIND_TIMEDELTA && kind != GUF_KIND_STRUCTURED;
}

// Parses a dtype by NumPy's names. The names f16, f32, f64, c64 and c128, which NumPy does not
// have, count bits.
guf_dtype bench_dtype_of(const std::string &text) {
  static constexpr std::pair<const char *, guf_dtype> kByBits[] = {
      {"f16", GUF_F16}, {"f32", GUF_F32}, {"f64", GUF_F64}, {"c64", GUF_C64}, {"c128", GUF_C128}};
  for (const auto &[name, dtype] : kByBits) {
    if (text == name) return dtype;
  }
  guf_dtype dtype = 0;
  Call call;
  call.check(guf_dtype_parse(text.c_str(), &dtype, call.error()), "--dtype: ");
  if (!is_number(dtype)) refuse_value("--dtype", "a number or bool", text);
  return dtype;
}

std::vector<std::vector<guf_dtype>> loop_dtypes_of(guf_ufunc ufunc, const guf_ufunc_info &info) {
  std::vector<std::vector<guf_dtype>> loops;
  for (uint32_t i = 0; i < info.nloops; ++i) {
    std::vector<guf_dtype> types(static_cast<size_t>(info.nin) + static_cast<size_t>(info.nout));
    Call call;
    call.check(guf_ufunc_loop_types(ufunc, i, static_cast<int32_t>(types.size()), types.data(),
                                    call.error()));
    loops.push_back(std::move(types));
  }
  return loops;
}

// Returns the loop whose inputs all have this dtype, or else the first loop whose first input has
// it, such as fi->f of ldexp.
std::vector<guf_dtype> loop_of(const std::vector<std::vector<guf_dtype>> &loops, guf_dtype dtype,
                               const guf_ufunc_info &info) {
  const std::vector<guf_dtype> *found = nullptr;
  std::vector<std::string> firsts;
  for (const std::vector<guf_dtype> &loop : loops) {
    firsts.emplace_back(guf_dtype_name(loop[0]));
    if (loop[0] != dtype) continue;
    if (std::count(loop.begin(), loop.begin() + info.nin, dtype) == info.nin) return loop;
    if (found == nullptr) found = &loop;
  }
  if (found != nullptr) return *found;
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  throw Failure(Exit::kRefused,
                fmt::format("--dtype {}: {} has no loop with this input, expected one of {}",
                            guf_dtype_name(dtype), info.name, fmt::join(firsts, ", ")));
}

std::vector<guf_dtype> dtypes_of(const std::optional<std::string> &text,
                                 const std::vector<std::vector<guf_dtype>> &loops,
                                 const guf_ufunc_info &info) {
  if (text) return list_of("--dtype", *text, bench_dtype_of, guf_dtype_name);
  for (const guf_dtype dtype : {GUF_F64, GUF_I64}) {
    for (const std::vector<guf_dtype> &loop : loops) {
      if (loop[0] == static_cast<uint32_t>(dtype)) return {loop[0]};
    }
  }
  const guf_dtype first = loops.front()[0];
  if (!is_number(first)) {
    throw Failure(Exit::kRefused,
                  fmt::format("{}: bench supports only numbers and bool, and its first loop has {}",
                              info.name, guf_dtype_name(first)));
  }
  return {first};
}

// Returns the names of the devices, with an index: "cuda" is "cuda:0".
std::vector<std::string> devices_of(const std::string &text) {
  const auto parse = [](const std::string &name) {
    guf_device_info info = {};
    info.struct_size = sizeof info;
    Call call;
    call.check(guf_device_get_info(device_of(name), &info, call.error()));
    return std::string(info.spec);
  };
  return list_of("--device", text, parse, [](const std::string &spec) { return spec; });
}

std::vector<uint32_t> thread_counts_of(const std::string &text) {
  return list_of("--threads", text, threads_of, [](uint32_t count) { return count; });
}

double seconds_of(const std::string &text) {
  const auto value = number_of<double>(text);
  if (!value || *value <= 0 || *value > 3600)
    refuse_value("--seconds", "a number above 0, up to 3600", text);
  return *value;
}

bool plots_time(const std::string &text) {
  if (text != "throughput" && text != "time") refuse_value("--plot", "throughput or time", text);
  return text == "time";
}

// Whether a rule determines the size of a core dimension, such as that of p in "p=max(n-1,0)".
bool has_rule(const std::string &dimension, const guf_ufunc_info &info) {
  const std::string rules = info.rules;
  for (size_t begin = 0; begin < rules.size();) {
    const size_t end = std::min(rules.find(';', begin), rules.size());
    const std::string left = rules.substr(begin, std::min(rules.find('=', begin), end) - begin);
    if (core_dimensions(left) == std::vector<std::string>{dimension}) return true;
    begin = end + 1;
  }
  return false;
}

// Parses --dim. Calls need the sizes of all core dimensions that no rule determines.
std::vector<std::pair<std::string, int64_t>> dims_of(const std::vector<std::string> &texts,
                                                     bool called, const guf_ufunc_info &info) {
  const std::vector<std::string> known = core_dimensions(info.signature);
  if (known.empty() && !texts.empty()) {
    throw Failure(Exit::kRefused,
                  fmt::format("--dim {}: {} has no core dimensions", texts[0], info.name));
  }
  std::vector<std::pair<std::string, int64_t>> dims;
  for (const std::string &text : texts) {
    const size_t equals = std::min(text.find('='), text.size());
    const auto size =
        number_of<double>(std::string_view(text).substr(std::min(equals + 1, text.size())));
    const std::string name = text.substr(0, equals);
    if (!size || *size < 1 || *size > kMostElements || *size != std::floor(*size) ||
        std::find(known.begin(), known.end(), name) == known.end()) {
      refuse_value("--dim",
                   fmt::format("NAME=SIZE with a core dimension of {} and a size of at least 1",
                               info.signature),
                   text);
    }
    if (std::any_of(dims.begin(), dims.end(), [&](const auto &dim) { return dim.first == name; }))
      usage(fmt::format("--dim: {} is given twice", name));
    dims.emplace_back(name, static_cast<int64_t>(*size));
  }
  for (const std::string &name : called ? known : std::vector<std::string>()) {
    if (!has_rule(name, info) &&
        std::none_of(dims.begin(), dims.end(), [&](const auto &dim) { return dim.first == name; }))
      usage(fmt::format("--dim: expected {}=SIZE, a core dimension of {}", name, info.signature));
  }
  return dims;
}

// Refuses functions that `bench` does not support.
void check_function(const guf_ufunc_info &info) {
  const bool writes_inputs = std::any_of(info.roles, info.roles + info.nin,
                                         [](int32_t role) { return role != GUF_ROLE_IN; });
  if (info.nin == 0 || info.nout == 0 || writes_inputs || info.nloops == 0) {
    throw Failure(Exit::kRefused, fmt::format("{}: bench supports functions that have inputs, "
                                              "outputs and loops and do not write their inputs",
                                              info.name));
  }
  if (std::string_view(info.rules).find("value") != std::string_view::npos) {
    throw Failure(Exit::kRefused,
                  fmt::format("{}: bench does not support a size that is the value of an input: {}",
                              info.name, info.rules));
  }
}

void check_case(const BenchCase &row, const guf_ufunc_info &info) {
  if (row.method == "reduce" && info.nresults > 1) {
    throw Failure(Exit::kRefused, fmt::format("--method reduce: {} has {} results, expected one",
                                              info.name, info.nresults));
  }
  const char *const refused =
      row.method == "call" && info.signature[0] != '\0' && row.layout != "contiguous"
          ? "{} has core dimensions, expected contiguous"
      : row.layout != "broadcast" ? nullptr
      : row.method != "call"      ? "a {1} of {0} has one input"
      : info.nin < 2              ? "{} has one input, expected at least two"
                                  : nullptr;
  if (refused != nullptr) {
    throw Failure(Exit::kRefused,
                  fmt::format("--layout {}: {}", row.layout,
                              fmt::format(fmt::runtime(refused), info.name, row.method)));
  }
}

void add_axis(const BenchOptions &options, const std::vector<std::string> &methods,
              BenchPlan *plan) {
  plan->axis = 0;
  if (!options.axis) return;
  if (methods == std::vector<std::string>{"call"})
    usage("--axis: expected --method reduce or accumulate");
  if (*options.axis == "none" &&
      std::find(methods.begin(), methods.end(), "accumulate") != methods.end())
    usage("--axis none: --method accumulate needs one axis");
  plan->axis.reset();
  if (*options.axis != "none")
    plan->axis = axis_of(*options.axis, *options.axis, "an integer or none");
}

}  // namespace

guf_dtype_info info_of(guf_dtype dtype) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_dtype_get_info(dtype, &info, call.error()));
  return info;
}

std::string shape_text(const std::vector<int64_t> &shape) {
  return shape.empty() ? "1" : fmt::format("{}", fmt::join(shape, "x"));
}

std::string threads_text(uint32_t threads) {
  return threads == 0 ? "" : fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

BenchPlan plan_of(const BenchOptions &options, guf_ufunc ufunc, const guf_ufunc_info &info) {
  check_function(info);
  BenchPlan plan;
  const auto loops = loop_dtypes_of(ufunc, info);
  const auto methods = words_of("--method", options.methods, kMethods);
  const auto layouts = words_of("--layout", options.layouts, kLayouts);
  const auto threads = thread_counts_of(options.threads);
  const auto dtypes = dtypes_of(options.dtypes, loops, info);
  const auto devices = devices_of(options.devices);
  const auto shapes = list_of("--size", options.sizes, shape_of, shape_text);
  if (options.peers != "none") plan.peers = words_of("--peers", options.peers, kPeers);
  plan.seconds = seconds_of(options.seconds);
  if (options.values) plan.values = values_of(*options.values);
  if (options.memory) plan.memory = bytes_of_option("--memory", *options.memory);
  plan.plots_time = plots_time(options.plot);
  const bool called = std::find(methods.begin(), methods.end(), "call") != methods.end();
  plan.dims = dims_of(options.dims, called, info);
  add_axis(options, methods, &plan);
  for (const std::string &device : devices) {
    const bool cpu = device == "cpu";  // the number of threads concerns only the cpu
    for (const std::string &method : methods) {
      for (const guf_dtype dtype : dtypes) {
        const bool call = method == "call";
        const auto loop = call ? loop_of(loops, dtype, info) : std::vector<guf_dtype>();
        for (const std::string &layout : layouts) {
          for (const uint32_t count : cpu ? threads : std::vector<uint32_t>{0}) {
            for (const auto &shape : shapes_of_layout(layout, shapes)) {
              plan.cases.push_back({method, dtype, layout, shape, device, count, loop});
              check_case(plan.cases.back(), info);
            }
          }
        }
      }
    }
  }
  return plan;
}

}  // namespace gufunc::cli
