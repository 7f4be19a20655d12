// SPDX-License-Identifier: Apache-2.0
// The targets that kernels are compiled for.
#ifndef GUFUNC_TOOLS_GUFCC_TARGETS_H
#define GUFUNC_TOOLS_GUFCC_TARGETS_H

#include <string>
#include <vector>

#include "diagnostic.h"
#include "process.h"

namespace gufunc::gufcc {

enum class TargetKind { kHost, kNvidia, kAmd };

struct Target {
  std::string name;    // "x86-64-v3", as the image table spells it
  std::string suffix;  // of entry symbols: "v3"
  TargetKind kind = TargetKind::kHost;
  Command flags;
  int arch = 0;             // NVIDIA: 90, what GUF_ARCH is; AMD: the ISA's version, 11000
  bool is_ptx = false;      // NVIDIA: the text itself
  const char *group = "";   // AMD: targets that are compressed together, "gfx11"
  bool wave64 = false;      // AMD
  bool is_generic = false;  // AMD: runs on several
};

// Every name that --targets takes.
const std::vector<Target> &all_targets();

// Reads "x86-64-v2,sm_90", "all" (every host level) or "host" (the highest level this machine
// runs).
bool select_targets(const std::string &text, std::vector<Target> *out, Diagnostics *diagnostics);

// What --check takes: nvptx64, amdgcn, opencl, gcc. Compiler and flags, without files: `compiler`;
// for opencl clang-15, since later ones write nothing that OpenCL drivers read; for gcc, which
// compiles host entries, g++.
bool check_command(const std::string &name, const std::string &compiler, Command *out,
                   Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_TARGETS_H
