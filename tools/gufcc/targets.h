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
  std::string name;    // as in the image table, such as "x86-64-v3"
  std::string suffix;  // suffix of entry symbols: "v3"
  TargetKind kind = TargetKind::kHost;
  Command flags;
  int arch = 0;             // NVIDIA: GUF_ARCH, such as 90; AMD: ISA version, such as 11000
  bool is_ptx = false;      // NVIDIA: the image is PTX text
  const char *group = "";   // AMD: targets compressed together, such as "gfx11"
  bool wave64 = false;      // AMD
  bool is_generic = false;  // AMD: runs on several processors
};

// Every target that --targets accepts.
const std::vector<Target> &all_targets();

// Parses "x86-64-v2,sm_90", "all" (every host level) or "host" (the highest level of this machine).
bool select_targets(const std::string &text, std::vector<Target> *out, Diagnostics *diagnostics);

// Returns the compiler and its flags, without files, for a name that --check accepts. The compiler
// is `compiler` for nvptx64 and amdgcn, clang-15 for opencl, because OpenCL drivers cannot read the
// output of later versions, and g++ for gcc, which compiles host entries.
bool check_command(const std::string &name, const std::string &compiler, Command *out,
                   Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_TARGETS_H
