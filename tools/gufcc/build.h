// SPDX-License-Identifier: Apache-2.0
// Compiles sources into a module. A build scans the sources, generates and compiles entries for
// each ISA level, generates the table, links, and writes the digest.
#ifndef GUFUNC_TOOLS_GUFCC_BUILD_H
#define GUFUNC_TOOLS_GUFCC_BUILD_H

#include "compiler.h"
#include "device_images.h"
#include "emulation_file.h"
#include "files.h"
#include "generate.h"
#include "host_only.h"

namespace gufunc::gufcc {

class Build {
 public:
  Build(const Options &options, Diagnostics *diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  bool run();

  // The table that --list prints.
  const std::string &listing() const { return listing_; }

 private:
  // Loops of one source that are compiled with the same flags.
  struct Unit {
    size_t source = 0;
    FpMode fp = FpMode::kStrict;
    std::vector<LoopRef> loops;
    std::vector<const PlainEntry *> plain;  // compiled only for devices
    std::vector<const RawKernel *> kernels;
  };

  bool find_sources();
  bool choose_name();
  bool scan_sources();
  void group_units();
  Unit &unit_of(int source, FpMode fp);
  DeviceEntries device_entries(const Unit &unit) const;
  void assign_families();
  bool choose_targets();
  std::vector<DeviceUnit> device_units() const;
  bool compile_devices();
  bool write_emulation(const std::string &output, Instrumentation instrumentation);
  bool check_compilers();
  bool check_compiler(const std::string &name, size_t unit);
  int workers() const;
  Compiler::Unit host_unit(size_t index, const Target &target) const;
  bool check_sources();
  const std::vector<Target> &examined_targets() const;
  bool is_compiled(const Unit &unit) const;
  bool compile_units();
  bool refuse_host_only();
  void report_host_only(size_t index, const Target &target, const std::vector<HostOnly> &found);
  bool join_level(const Target &target);
  bool compile_parameters();
  bool compile_table();
  bool link_shared();
  bool link_object();
  bool write_depfile();
  std::filesystem::path work(const std::string &name) const { return folder_.path() / name; }
  // The linked module, before it is moved into place.
  std::filesystem::path linked() const { return work("module"); }
  std::string unit_name(size_t unit, const Target &target) const;

  const Options &options_;
  Diagnostics *diagnostics_;
  TemporaryFolder folder_;
  std::vector<Source> sources_;
  std::vector<Target> targets_;  // host targets
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<DeviceImages> devices_;
  Module module_;
  std::vector<Unit> units_;
  std::vector<std::filesystem::path> parameters_;  // objects with the parameter records
  std::string listing_;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_BUILD_H
