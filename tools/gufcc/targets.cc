// SPDX-License-Identifier: Apache-2.0
// Names and flags of the targets.
#include "targets.h"

#include <algorithm>
#include <sstream>

namespace gufunc::gufcc {
namespace {

Target host(const char *level, Command extra = {}) {
  Target target{std::string("x86-64-") + level,
                level,
                TargetKind::kHost,
                {std::string("-march=x86-64-") + level}};
  target.flags.insert(target.flags.end(), extra.begin(), extra.end());
  return target;
}

// All NVIDIA images are made from PTX for compute capability 7.5. For sm_ targets, ptxas assembles
// the PTX.
Target nvidia(const char *prefix, int arch) {
  const std::string name = prefix + std::to_string(arch);
  Target target{name, name, TargetKind::kNvidia, {}};
  target.arch = arch;
  target.is_ptx = std::string_view(prefix) == "ptx_";
  return target;
}

struct AmdTarget {
  const char *name;
  int isa;  // ISA version for ocml
  const char *group;
  bool wave64;
};
constexpr AmdTarget kAmdTargets[] = {
    {"gfx906", 9006, "gfx9", true},
    {"gfx908", 9008, "gfx9", true},
    {"gfx90a", 9010, "gfx9", true},
    {"gfx942", 9402, "gfx9", true},
    {"gfx9-generic", 9000, "gfx9", true},
    {"gfx1030", 10300, "gfx10-3", false},
    {"gfx10-3-generic", 10300, "gfx10-3", false},
    {"gfx1100", 11000, "gfx11", false},
    {"gfx1101", 11001, "gfx11", false},
    {"gfx11-generic", 11000, "gfx11", false},
    {"gfx1201", 12001, "gfx12", false},
    {"gfx12-generic", 12000, "gfx12", false},
};

Target amd(const AmdTarget &row) {
  Target target{row.name, row.name, TargetKind::kAmd, {}};
  target.arch = row.isa;
  target.group = row.group;
  target.wave64 = row.wave64;
  target.is_generic = target.name.ends_with("-generic");
  return target;
}

// Returns the highest ISA level of this machine. Every x86-64 processor that the project supports
// has level v2 or higher.
std::string host_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
#endif
  return "x86-64-v2";
}

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace

const std::vector<Target> &all_targets() {
  static const auto *const kTargets = [] {
    auto *all = new std::vector<Target>{
        host("v2"), host("v3"),
        // Without this flag, clang uses vectors of 256 bits for v4, because the first processors
        // with AVX-512 reduce their clock for wider vectors.
        host("v4", {"-mprefer-vector-width=512"})};
    for (const int arch : {75, 80, 90, 100, 120}) {
      if (arch == 75) all->push_back(nvidia("ptx_", arch));
      all->push_back(nvidia("sm_", arch));
    }
    for (const AmdTarget &row : kAmdTargets) all->push_back(amd(row));
    return all;
  }();
  return *kTargets;
}

bool select_targets(const std::string &text, std::vector<Target> *out, Diagnostics *diagnostics) {
  for (std::string word : split(text)) {
    if (word == "host") word = host_level();
    bool known = false;
    for (const Target &target : all_targets()) {
      if (word != target.name && !(word == "all" && target.kind == TargetKind::kHost)) continue;
      known = true;
      if (std::none_of(out->begin(), out->end(),
                       [&](const Target &t) { return t.name == target.name; })) {
        out->push_back(target);
      }
    }
    if (!known) {
      std::string valid = "host all";
      for (const Target &target : all_targets()) valid += " " + target.name;
      return diagnostics->usage_error("'{}' is not a target; valid are {}", word, valid);
    }
  }
  if (out->empty()) return diagnostics->usage_error("'{}' selects no target", text);
  return true;
}

bool check_command(const std::string &name, const std::string &compiler, Command *out,
                   Diagnostics *diagnostics) {
  if (name == "nvptx64") {
    *out = {compiler,
            "-x",
            "cuda",
            "-std=c++17",
            "--cuda-device-only",
            "-nocudainc",
            "-nocudalib",
            "--cuda-gpu-arch=sm_75",
            "--cuda-feature=+ptx63",
            "-Wno-unknown-cuda-version"};
  } else if (name == "amdgcn") {
    *out = {compiler,
            "-x",
            "hip",
            "-std=c++17",
            "--cuda-device-only",
            "-nogpuinc",
            "-nogpulib",
            "--offload-arch=gfx1100"};
  } else if (name == "opencl") {
    *out = {"clang-15",  "-x",
            "clcpp",     "-cl-std=CLC++2021",
            "-target",   "spir64-unknown-unknown",
            "-Xclang",   "-finclude-default-header",
            "-emit-llvm"};
  } else if (name == "gcc") {
    // Compiles for the lowest level, optimized because some warnings need optimization. -Wno-psabi:
    // g++ warns about the ABI of 64-byte vectors, which functions of lanes (host_batch.hpp) have as
    // parameters. The ABI does not matter, because these functions are inlined.
    *out = {
        "g++",       "-x",      "c++",       "-std=c++17", "-march=x86-64-v2", "-fno-exceptions",
        "-fno-rtti", "-Werror", "-Wno-psabi"};
  } else {
    return diagnostics->usage_error("--check: '{}' is unknown; valid are nvptx64 amdgcn opencl gcc",
                                    name);
  }
  // The code does not run, so each compiler uses the optimization level with which it compiles
  // fastest. -O0 also inlines always-inline functions, so the compiler checks their code too.
  out->push_back(name == "nvptx64" || name == "opencl" ? "-O0" : "-O1");
  out->insert(out->end(), {"-ffp-contract=off", "-Wall", "-Wextra"});
  return true;
}

}  // namespace gufunc::gufcc
