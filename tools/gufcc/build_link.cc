// SPDX-License-Identifier: Apache-2.0
// The last steps of a build: join the objects of each level, compile the table, and link.
#include "build.h"
#include "kernel_entries.h"
#include "module_file.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

// Joins all objects of an ISA level into one object that exports only its entries. Otherwise the
// linker would merge the inline functions of different levels, and an old processor would run
// instructions of a newer level.
bool Build::join_level(const Target &target) {
  std::string entries;
  Command join = {"ld", "-r", "--force-group-allocation", "-o", work(target.suffix + ".joined.o")};
  for (size_t i = 0; i < units_.size(); ++i) {
    join.push_back(work(unit_name(i, target) + ".o"));
    for (const LoopRef &ref : units_[i].loops) {
      entries += host_entry_name(*ref.loop, target) + "\n";
      if (has_fold(*ref.function, *ref.loop)) entries += fold_entry_name(*ref.loop, target) + "\n";
    }
    for (const RawKernel *kernel : units_[i].kernels) {
      entries += kernel_entry_name(*kernel, target) + "\n";
    }
  }
  const fs::path list = work(target.suffix + ".entries");
  return write_file(list, entries, diagnostics_) && compiler_->run(join, "joining objects") &&
         compiler_->run({"objcopy", "--keep-global-symbols=" + list.string(),
                         work(target.suffix + ".joined.o"), work(target.suffix + ".o")},
                        "localising symbols");
}

bool Build::compile_table() {
  const fs::path table = work("table.c");
  const fs::path frames = work("frames.s");
  std::vector<std::string> files;
  for (const fs::path &file : devices_->frames()) files.push_back(file.string());
  return write_file(table, generate_table(module_, targets_, devices_->rows(), !options_.object),
                    diagnostics_) &&
         write_file(frames, generate_frames(files), diagnostics_) &&
         compiler_->run({compiler_->path(), "-c", frames, "-o", work("frames.o")},
                        "adding images") &&
         compiler_->run({compiler_->path(), "-x", "c", "-std=c11", "-O1", "-fPIC",
                         "-fvisibility=hidden", "-Wall", "-Wextra",
                         "-I" + compiler_->headers().string(), "-c", table, "-o", work("table.o")},
                        "compiling the table");
}

bool Build::link_object() {
  Command join = {"ld", "-r", "-o", work("module.joined.o"), work("table.o"), work("frames.o")};
  for (const Target &target : targets_) join.push_back(work(target.suffix + ".o"));
  join.insert(join.end(), parameters_.begin(), parameters_.end());
  return compiler_->run(join, "joining objects") &&
         compiler_->run({"objcopy", "--keep-global-symbol=gufunc_module_v1_" + module_.name,
                         work("module.joined.o"), linked()},
                        "localising symbols");
}

bool Build::link_shared() {
  const fs::path map = work("module.map");
  const std::string exported = fmt::format(
      "{{ global: gufunc_module_v1; gufunc_module_v1_{}; local: *; }};\n", module_.name);
  if (!write_file(map, exported, diagnostics_)) return false;
  Command link = {compiler_->path(), "-shared",       "-nostdlib",     "-o",
                  linked(),          work("table.o"), work("frames.o")};
  for (const Target &target : targets_) link.push_back(work(target.suffix + ".o"));
  link.insert(link.end(), parameters_.begin(), parameters_.end());
  for (const char *flag : {"-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,defs", "-Wl,-z,noexecstack",
                           "-Wl,--build-id=none", "-Wl,--as-needed", "-lm", "-lc", "-lgcc"}) {
    link.emplace_back(flag);
  }
  link.insert(link.end(), {"-Xlinker", "--version-script=" + map.string()});
  return compiler_->run(link, "linking the module") && write_digest(linked(), diagnostics_);
}

}  // namespace gufunc::gufcc
