// SPDX-License-Identifier: Apache-2.0
// Finds the tools for device images besides the kernel compiler: ptxas, nvcc, lld and the vendors'
// bitcode.
#ifndef GUFUNC_TOOLS_GUFCC_DEVICE_TOOLS_H
#define GUFUNC_TOOLS_GUFCC_DEVICE_TOOLS_H

#include "compiler.h"

namespace gufunc::gufcc {

class DeviceTools {
 public:
  DeviceTools(const Options &options, Compiler *compiler, std::filesystem::path work,
              Diagnostics *diagnostics)
      : options_(options), compiler_(compiler), work_(std::move(work)), diagnostics_(diagnostics) {}

  // Finds the tools that `targets` need, and if `vendor` is true, the vendors' mathematical
  // libraries. Targets whose tools are missing are removed with a warning. Returns false if a tool
  // that the command line names is missing, or if a file cannot be read or made.
  bool locate(std::vector<Target> *targets, bool vendor);

  // Set the command of `unit`, which makes PTX (add_nvidia) or the code object of `target`
  // (add_amd). The caller sets the names and sources.
  void add_nvidia(const Target &target, FpMode fp, Compiler::Unit *unit) const;
  void add_amd(const Target &target, FpMode fp, Compiler::Unit *unit) const;

  // ptxas and its flags for a target, without files.
  Command ptxas_command(const Target &target) const;
  // The part of a cache key that identifies ptxas: its version and flags, but not its path.
  std::string ptxas_key(const Target &target) const;

 private:
  // The reason why the images for a kind of target cannot be made. `text` is empty if they can be.
  struct Lack {
    std::string text;
    // An error instead of a warning: the command line names the tool, or the compiler failed.
    bool was_named = false;
  };
  Lack find_ptx_maker(bool vendor);
  Lack find_nvcc();
  Lack find_libdevice();
  Lack find_ptxas();
  Lack find_amd(bool vendor);
  Lack find_ocml();
  Lack find_backend(const char *name) const;
  bool drop_without(std::vector<Target> *targets, const Lack &lack,
                    const std::function<bool(const Target &)> &serves);
  void add_common(FpMode fp, Compiler::Unit *unit) const;
  void add_clang_ptx(FpMode fp, Compiler::Unit *unit) const;
  void add_nvcc_ptx(FpMode fp, Compiler::Unit *unit) const;
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
