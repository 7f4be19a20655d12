// SPDX-License-Identifier: Apache-2.0
// The command line options.
#ifndef GUFUNC_TOOLS_GUFCC_OPTIONS_H
#define GUFUNC_TOOLS_GUFCC_OPTIONS_H

#include <string>
#include <vector>

#include "fp_mode.h"

namespace gufunc::gufcc {

struct Options {
  std::vector<std::string> sources;
  std::string output;
  std::string name;  // name of the module; empty: derived from the name of the output file
  std::string targets = "all";
  // Such as "nvptx64,amdgcn,opencl,gcc": gufcc compiles for each target or with each compiler of
  // the list, and writes no module. Empty: no check.
  std::string checks;
  bool no_rules = false;  // do not check the rules of all backends (rules_check.h)
  std::string depfile;
  std::string cache_dir;
  std::string compiler;
  std::string emulate;       // --emulate file to write (emulation_file.h); empty: none
  std::string emulate_asan;  // --emulate file with AddressSanitizer; empty: none
  std::string ptxas;         // empty: from cuda_home, or on the PATH
  std::string cuda_home;     // CUDA toolkit; empty: the toolkit of ptxas
  bool nvcc = false;         // nvcc instead of the kernel compiler makes PTX
  std::string rocm_bitcode;  // folder with ocml.bc; empty: the usual folders
  std::vector<std::string> include_dirs, definitions;
  bool object = false;
  bool compress = true;  // for device images
  bool list = false;
  FpMode fp = FpMode::kStrict;
  bool no_cache = false;
  bool keep = false;
  bool debug = false;  // -g, for host code
  bool verbose = false;
  int jobs = 0;  // 0: one per processor
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OPTIONS_H
