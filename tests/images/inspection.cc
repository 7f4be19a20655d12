// SPDX-License-Identifier: Apache-2.0
// Parses PTX in clang's layout: a function begins with .entry or .func at the start of a line and
// ends with a brace at the start of a line; each instruction is one line.
#include "tests/images/inspection.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "tests/images/image_files.h"

namespace gufunc::images {
namespace {

std::string trimmed(const std::string &line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

// Returns 12 for "name[12]", and 0 without a bracket.
uint64_t bracketed(const std::string &line) {
  const size_t open = line.rfind('[');
  return open == std::string::npos ? 0 : std::strtoull(line.c_str() + open + 1, nullptr, 10);
}

// Returns the name in "\t.visible .entry name(" or ".func  (.param .b32 func_retval0) name(".
std::string name_in(const std::string &line) {
  const size_t end = line.find_last_not_of(" \t(");
  if (end == std::string::npos) return {};
  const size_t first = line.find_last_of(" \t)", end);
  return line.substr(first + 1, end - first);
}

// Splits "fma.rn.f32" into operation, modifiers and type.
std::vector<std::string> parts_of(const std::string &instruction) {
  std::string word;
  std::istringstream words(instruction);
  words >> word;
  if (word.starts_with('@')) words >> word;  // a predicate
  if (word.ends_with(';')) word.pop_back();
  std::vector<std::string> parts;
  std::istringstream dotted(word);
  for (std::string part; std::getline(dotted, part, '.');) parts.push_back(part);
  return parts;
}

bool has(const std::vector<std::string> &parts, const char *part) {
  return std::find(parts.begin() + 1, parts.end(), part) != parts.end();
}

bool breaks_a_rule(const std::vector<std::string> &parts, bool may_fuse) {
  if (parts.empty()) return false;
  if (has(parts, "approx") || has(parts, "ftz")) return true;
  const std::string &what = parts[0];
  if (!has(parts, "f32") && !has(parts, "f64")) return false;
  if (what == "fma" || what == "mad") return !may_fuse || !has(parts, "rn");
  for (const char *exact : {"add", "sub", "mul", "div", "sqrt"}) {
    if (what == exact) return !has(parts, "rn");
  }
  return false;
}

constexpr uint64_t kMaxLds = 65536;  // limit per block on every target

// Returns "guf_ew_sin_f_f_row" for "    .name:           guf_ew_sin_f_f_row".
std::string value_of(const std::string &line) {
  const size_t colon = line.find(':');
  const size_t first = line.find_first_not_of(" ", colon + 1);
  return first == std::string::npos ? "" : line.substr(first);
}

uint64_t number_before(const std::string &line, const std::string &words) {
  const size_t end = line.find(words);
  if (end == std::string::npos) return 0;
  const size_t first = line.find_last_not_of("0123456789", end - 1);
  return std::strtoull(line.c_str() + (first == std::string::npos ? 0 : first + 1), nullptr, 10);
}

// Returns whether a kernel must use neither stack nor scratch memory, as row kernels of elementwise
// loops and raw kernels must.
bool fits_registers(const std::string &name) {
  return name.ends_with("_row") || name.starts_with("guf_rk_");
}

// Returns the name of a function of real numbers in namespace guf: "sin" for "_ZN3guf3sinEf".
// Returns an empty string for other functions.
std::string function_of_numbers(const std::string &function) {
  constexpr char kSpace[] = "_ZN3guf";
  if (!function.starts_with(kSpace)) return {};
  char *end = nullptr;
  const char *const digits = function.c_str() + sizeof kSpace - 1;
  const unsigned long length = std::strtoul(digits, &end, 10);
  const size_t first = static_cast<size_t>(end - function.c_str());
  if (end == digits || first + length >= function.size()) return {};
  const std::string rest = function.substr(first + length);
  const bool of_numbers = rest == "Ef" || rest == "Ed" || rest == "Eff" || rest == "Edd";
  return of_numbers ? function.substr(first, length) : "";
}

bool takes_complex(const std::string &entry, const std::string &function) {
  const size_t types = std::string("guf_ew_").size() + function.size() + 1;
  return types < entry.size() && (entry[types] == 'F' || entry[types] == 'D');
}

}  // namespace

std::vector<PtxFunction> read_ptx(const std::string &text) {
  std::vector<PtxFunction> all;
  std::istringstream lines(text);
  bool in_body = false, in_head = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string trim = trimmed(line);
    const bool entry = trim.find(".entry ") != std::string::npos;
    if (!in_body && !in_head && (entry || trim.find(".func ") != std::string::npos)) {
      all.emplace_back();
      all.back().name = name_in(trim);
      all.back().is_entry = entry;
      in_head = true;
    } else if (in_head && trim.starts_with("{")) {
      in_head = false;
      in_body = true;
    } else if (in_head && trim.ends_with(";")) {  // a declaration
      all.pop_back();
      in_head = false;
    } else if (in_head && trim.starts_with(".param") && all.back().parameter_bytes == 0) {
      all.back().parameter_bytes = bracketed(trim);
    } else if (in_body && line.starts_with("}")) {
      in_body = false;
    } else if (in_body && trim.starts_with(".local ")) {
      all.back().local_bytes += bracketed(trim);
    } else if (in_body && trim.ends_with(";") && !trim.starts_with(".") &&
               !trim.starts_with("//")) {
      all.back().instructions.push_back(trim);
    }
  }
  return all;
}

// Returns whether a kernel keeps the partial sums of a reduction tree on the stack.
bool sums_in_a_tree(const std::string &entry) {
  static const char *const kSums[] = {"log_softmax", "logsumexp", "norm", "softmax"};
  return std::any_of(std::begin(kSums), std::end(kSums), [&](const char *function) {
    return entry.starts_with(std::string("guf_gu_") + function + "_");
  });
}

std::vector<std::string> find_ptx_faults(const PtxFunction &function, bool may_fuse) {
  std::vector<std::string> faults;
  for (const std::string &instruction : function.instructions) {
    if (breaks_a_rule(parts_of(instruction), may_fuse)) {
      faults.push_back(function.name + ": " + instruction);
    }
  }
  // A kernel that uses a whole block may have arrays on the stack.
  if (function.is_entry && function.parameter_bytes > 0 && !function.name.ends_with("_block") &&
      !sums_in_a_tree(function.name) && function.local_bytes >= function.parameter_bytes) {
    faults.push_back(function.name + ": a copy of its block on the stack, " +
                     std::to_string(function.local_bytes) + " bytes");
  }
  return faults;
}

std::vector<AmdKernel> read_amd_notes(const std::string &notes) {
  std::vector<AmdKernel> all;
  std::istringstream lines(notes);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  - .")) all.emplace_back();  // first field of a kernel
    if (all.empty()) continue;
    AmdKernel &kernel = all.back();
    const size_t key = line.find('.');
    // Fields of the kernel are indented by four columns, and fields of its arguments by more.
    if (key != 4) continue;
    const std::string value = value_of(line);
    const std::string name = line.substr(key, line.find(':') - key);
    const uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == ".name") kernel.name = value;
    if (name == ".kernarg_segment_size") kernel.kernarg_bytes = number;
    if (name == ".private_segment_fixed_size") kernel.scratch_bytes = number;
    if (name == ".group_segment_fixed_size") kernel.lds_bytes = number;
    if (name == ".max_flat_workgroup_size") kernel.max_threads = number;
    if (name == ".vgpr_spill_count") kernel.vector_spills = number;
    if (name == ".sgpr_spill_count") kernel.scalar_spills = number;
    if (name == ".uses_dynamic_stack") kernel.dynamic_stack = value == "true";
  }
  return all;
}

bool has_descriptor(const std::string &symbols, const std::string &kernel) {
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(" " + kernel + ".kd")) return line.find(" 64 OBJECT ") != std::string::npos;
  }
  return false;
}

std::vector<PtxasLine> read_ptxas(const std::string &message) {
  std::vector<PtxasLine> all;
  std::set<std::string> entries;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    constexpr char kEntry[] = "Compiling entry function '",
                   kProperties[] = "Function properties for ";
    if (const size_t at = line.find(kEntry); at != std::string::npos) {
      const size_t first = at + sizeof kEntry - 1;
      entries.insert(line.substr(first, line.find('\'', first) - first));
    } else if (const size_t place = line.find(kProperties); place != std::string::npos) {
      all.emplace_back();
      all.back().name = line.substr(place + sizeof kProperties - 1);
      all.back().is_entry = entries.contains(all.back().name);
    } else if (line.find(" bytes stack frame") != std::string::npos && !all.empty()) {
      all.back().stack_bytes = number_before(line, " bytes stack frame");
      all.back().spill_bytes =
          number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    }
  }
  return all;
}

bool may_fuse(const std::string &function) {
  static const std::set<std::string> kFunctions = {
      "acos",         "acosh", "asin",  "asinh",     "atan", "atan2", "atanh", "cbrt",
      "cos",          "cosh",  "erf",   "erfc",      "exp",  "exp2",  "expm1", "floor_divide",
      "floor_modulo", "fmod",  "hypot", "lgamma",    "log",  "log10", "log1p", "log2",
      "pow",          "sin",   "sinh",  "remainder", "tan",  "tanh",  "tgamma"};
  if (kFunctions.contains(function_of_numbers(function))) return true;
  const std::string name = function_of(function);
  // The conversions between radians and degrees use a factor that is a sum of two numbers.
  // logaddexp and complex functions compute with such sums.
  static const std::set<std::string> kReal = {"deg2rad",    "degrees", "logaddexp",
                                              "logaddexp2", "rad2deg", "radians"};
  static const std::set<std::string> kComplex = {
      "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "exp2", "expm1", "float_power",
      "log",    "log10",   "log1p",  "log2",    "power",  "sqrt",    "tan",  "tanh"};
  return kReal.contains(name) || (kComplex.contains(name) && takes_complex(function, name));
}

std::vector<std::string> find_amd_faults(const AmdKernel &kernel,
                                         const guf::device::emulated_kernel &known) {
  std::vector<std::string> faults;
  const auto require = [&](bool good, const std::string &what) {
    if (!good) faults.push_back(kernel.name + ": " + what);
  };
  require(kernel.kernarg_bytes == known.argument_bytes,
          "arguments of " + std::to_string(kernel.kernarg_bytes) + " bytes, its block has " +
              std::to_string(known.argument_bytes));
  require(kernel.max_threads == known.max_threads,
          "blocks of " + std::to_string(kernel.max_threads) + ", expected " +
              std::to_string(known.max_threads));
  require(kernel.lds_bytes <= kMaxLds, "local memory of " + std::to_string(kernel.lds_bytes));
  require(!kernel.dynamic_stack, "a stack of open size");
  if (fits_registers(kernel.name)) {
    require(kernel.scratch_bytes == 0, "scratch of " + std::to_string(kernel.scratch_bytes));
    require(kernel.vector_spills == 0 && kernel.scalar_spills == 0, "spilled registers");
  }
  return faults;
}

std::vector<std::string> find_ptxas_faults(const PtxasLine &line) {
  if (!line.is_entry || !fits_registers(line.name)) return {};
  std::vector<std::string> faults;
  if (line.stack_bytes > 0) {
    faults.push_back(line.name + ": a stack of " + std::to_string(line.stack_bytes));
  }
  if (line.spill_bytes > 0) faults.push_back(line.name + ": spilled registers");
  return faults;
}

}  // namespace gufunc::images
