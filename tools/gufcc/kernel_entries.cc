// SPDX-License-Identifier: Apache-2.0
// Only the compiler knows the parameter types of a kernel. The table points to a record of these
// types, which a separate translation unit defines. The entries unpack the launch arguments with
// templates of the dialect (gufunc/kernel/raw_entry.hpp).
#include "kernel_entries.h"

#include <algorithm>
#include <charconv>

#include "entry_text.h"
#include "generate.h"

namespace gufunc::gufcc {
namespace {

constexpr char kKernelKeys[] = "name= doc= fp= threads= shared=";
constexpr uint32_t kMaxThreads = 1024;       // threads of a block, on devices of both vendors
constexpr uint32_t kMaxShared = 227 * 1024;  // shared bytes of a block, on any device
constexpr size_t kMaxDocText = 4096;

bool read_number(const Place &place, const std::string &key, const std::string &value, uint32_t low,
                 uint32_t high, uint32_t *out, Diagnostics *diagnostics) {
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), *out);
  if (failure == std::errc() && end == value.data() + value.size() && *out >= low && *out <= high) {
    return true;
  }
  return diagnostics->error(place, "{}: expected {} to {}, got '{}'", key, low, high, value);
}

bool read_option(const Place &place, const std::string &text, RawKernel *kernel,
                 Diagnostics *diagnostics) {
  const size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (equals == std::string::npos) {
    return diagnostics->error(place, "'{}' is not an option of a kernel; valid are {}", text,
                              kKernelKeys);
  }
  if (key == "name") {
    kernel->name = value;
  } else if (key == "doc") {
    if (value.size() > kMaxDocText) {
      return diagnostics->error(place, "doc: expected at most {} characters, got {}", kMaxDocText,
                                value.size());
    }
    kernel->doc = value;
  } else if (key == "fp") {
    return read_fp_mode(place, value, &kernel->fp, diagnostics);
  } else if (key == "threads") {
    return read_number(place, key, value, 1, kMaxThreads, &kernel->threads, diagnostics);
  } else if (key == "shared") {
    return read_number(place, key, value, 0, kMaxShared, &kernel->shared_bytes, diagnostics);
  } else {
    return diagnostics->error(place, "'{}' is not an option of a kernel; valid are {}", key,
                              kKernelKeys);
  }
  return true;
}

std::string signature_of(const RawKernel &kernel) {
  return fmt::format("guf::raw::signature<decltype(&::{})>", kernel.callee);
}

// Returns a template whose call of the kernel has the line number of the registration.
std::string invoke_text(const RawKernel &kernel) {
  return fmt::format(
      "# {} {}\n"
      "template <class... A> static GUF_DEVICE_ONLY void invoke(A... a) {{ ::{}(a...); }}\n"
      "# 1 \"{}\"\n",
      kernel.place.line, quoted(kernel.place.file), kernel.callee, kEntriesFile);
}

}  // namespace

bool add_kernel(const RawRegistration &raw, Module *module, Diagnostics *diagnostics) {
  RawKernel kernel;
  kernel.fp = module->fp;
  kernel.name = last_component(raw.function);
  kernel.callee = raw.function;
  kernel.place = raw.place;
  kernel.source = raw.source;
  kernel.declares_shared = raw.declares_shared;
  kernel.synchronizes = raw.declares_sync;
  for (const std::string &text : raw.arguments) {
    if (!read_option(raw.place, text, &kernel, diagnostics)) return false;
  }
  if (!is_identifier(kernel.name) || kernel.name.size() > 63) {
    return diagnostics->error(raw.place, "'{}' is not a name: letters, digits and _, at most 63",
                              kernel.name);
  }
  kernel.symbol = "guf_rk_" + kernel.name;
  for (const RawKernel &other : module->kernels) {
    if (other.name != kernel.name) continue;
    return diagnostics->error(raw.place, "the kernel {} is registered at {}:{} already; use name=",
                              kernel.name, other.place.file, other.place.line);
  }
  module->kernels.push_back(std::move(kernel));
  return true;
}

std::string kernel_entry_name(const RawKernel &kernel, const Target &target) {
  return kernel.symbol + "__" + target.suffix;
}

std::string kernel_parameters_name(const RawKernel &kernel) {
  return kernel.symbol + "_parameters";
}

std::string host_kernel_entries(const std::vector<const RawKernel *> &kernels,
                                const Target &target) {
  if (kernels.empty()) return {};
  std::string text = "#include <gufunc/raw_kernel.hpp>\n";
  int number = 0;
  for (const RawKernel *kernel : kernels) {
    text += fmt::format(
        "namespace {{ struct guf_raw_callee_{0} {{\n{1}}}; }}\n"
        "extern \"C\" __attribute__((visibility(\"hidden\"))) void {2}(guf::device::work_item "
        "*item, const void *arguments) {{ typedef {3} form; form::run<guf_raw_callee_{0}>(*(const "
        "form::arguments *)arguments, item); }}\n",
        number, invoke_text(*kernel), kernel_entry_name(*kernel, target), signature_of(*kernel));
    ++number;
  }
  return text;
}

std::string device_kernel_callee(const RawKernel &kernel, const std::string &callee) {
  const bool shared = kernel.declares_shared;
  return fmt::format(
      "struct {0} {{\ntypedef {1} form;\ntypedef form::arguments arguments;\n{2}"
      "static GUF_DEVICE_ONLY void call(const arguments &p{3}) {{ form::run<{0}>(p, {4}); }}\n"
      "}};\n",
      callee, signature_of(kernel), invoke_text(kernel), shared ? ", char *shared" : "",
      shared ? "shared" : "nullptr");
}

std::string kernel_call_probes(const std::vector<const RawKernel *> &kernels) {
  constexpr int kMaxParameters = 32;
  if (kernels.empty()) return {};
  // The text uses none of the dialect's own assertions, because their errors would point at lines
  // of the dialect.
  std::string text = "#include <gufunc/raw_kernel.hpp>\n";
  for (const RawKernel *kernel : kernels) {
    const std::string form = signature_of(*kernel);
    const std::string line =
        fmt::format("# {} {}\n", kernel->place.line, quoted(kernel->place.file));
    const auto probe = [&](const std::string &condition, const std::string &complaint) {
      text += fmt::format("{}static_assert({}, \"{}{}: {}\");\n", line, condition, kCallMark,
                          kernel->callee, complaint);
    };
    probe(form + "::is_kernel", "expected void (guf::block, ...), got a function of another type");
    for (int i = 1; i <= kMaxParameters; ++i) {
      probe(fmt::format("{}::bad != {}", form, i),
            fmt::format("parameter {} after the block is not a number, a pointer to numbers or a "
                        "guf::view of at most 8 dimensions",
                        i));
    }
    probe(form + "::count <= guf::raw::kMaxParameters", "expected at most 32 parameters");
    probe(form + "::words * 8 <= guf::raw::kMaxBytes",
          "its arguments take more than 2048 bytes; pass arrays by pointer or guf::view");
  }
  return text;
}

std::string kernel_parameters(const std::string &source,
                              const std::vector<const RawKernel *> &kernels) {
  std::string text = fmt::format(
      "#include {}\n#include <gufunc/module_table.h>\n#include <gufunc/raw_kernel.hpp>\n"
      "static_assert(sizeof(guf::raw::parameter_row) == sizeof(guf_module_parameter), \"\");\n",
      quoted(source));
  for (const RawKernel *kernel : kernels) {
    const std::string name = kernel_parameters_name(*kernel);
    text += fmt::format(
        "extern \"C\" {{ extern __attribute__((visibility(\"hidden\"))) const "
        "guf_module_parameters {0}; const guf_module_parameters {0} = {{{1}::count, "
        "sizeof({1}::arguments), (const guf_module_parameter "
        "*)guf::raw::rows<decltype(&::{2})>::row}}; }}\n",
        name, signature_of(*kernel), kernel->callee);
  }
  return text;
}

}  // namespace gufunc::gufcc
