// SPDX-License-Identifier: Apache-2.0
// What device images need beside the kernel compiler: NVIDIA's assembler and the vendors' bitcode.
#ifndef GUFUNC_TOOLS_GUFCC_DEVICE_TOOLS_H
#define GUFUNC_TOOLS_GUFCC_DEVICE_TOOLS_H

#include "compiler.h"

namespace gufunc::gufcc {

class DeviceTools {
 public:
  DeviceTools(const Options &options, Compiler *compiler, std::filesystem::path work,
              Diagnostics *diagnostics)
      : options_(options), compiler_(compiler), work_(std::move(work)), diagnostics_(diagnostics) {}

  // Looks for what `targets` need. Those that lack something are removed with a warning. False when
  // what the command line named is not there, or something that is there cannot be read.
  bool locate(std::vector<Target> *targets);

  // Compiler and flags that make PTX, or a target's code object, `fast` with contraction. What is
  // added to a Compiler::Unit: the rest of its fields are the caller's.
  void add_nvidia(const Target &target, bool fast, Compiler::Unit *unit) const;
  void add_amd(const Target &target, bool fast, Compiler::Unit *unit) const;

  // ptxas and flags that make a target's machine code of PTX, without files.
  Command ptxas_command(const Target &target) const;
  // What its output depends on beside the PTX: flags and version, not where it lies.
  std::string ptxas_key(const Target &target) const;

 private:
  // Why targets of a kind cannot be made; `text` is empty when they can.
  struct Lack {
    std::string text;
    bool was_named = false;  // on the command line: a mistake, not a machine without
  };
  Lack find_ptx_maker();
  Lack find_nvcc();
  Lack find_libdevice();
  Lack find_ptxas();
  Lack find_amd();
  Lack find_backend(const char *name) const;
  bool drop_without(std::vector<Target> *targets, const Lack &lack,
                    const std::function<bool(const Target &)> &serves);
  void add_common(bool fast, Compiler::Unit *unit) const;
  void add_clang_ptx(Compiler::Unit *unit) const;
  void add_nvcc_ptx(bool fast, Compiler::Unit *unit) const;
  bool hash_file(const std::filesystem::path &file, std::string *out);
  bool make_constants(const Target &target);
  std::filesystem::path constants(const Target &target) const;

  const Options &options_;
  Compiler *const compiler_;
  const std::filesystem::path work_;
  Diagnostics *const diagnostics_;
  std::string ptxas_, ptxas_version_, nvcc_;
  std::filesystem::path libdevice_, ocml_;
  std::string libdevice_hash_, ocml_hash_;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_DEVICE_TOOLS_H
