// SPDX-License-Identifier: Apache-2.0
// The steps of a build, in order. Each step writes its files into the temporary folder; the last
// one moves the module into place.
#include "build.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "core/module/module_digest.h"
#include "files.h"
#include "kernel_entries.h"
#include "listing.h"
#include "rules_check.h"
#include "scanner.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

// Returns whether a source can be text. Reports a file that is too large or binary with one error,
// because the compiler would print a warning for each byte of a binary file.
bool is_text(const std::string &typed, const fs::path &path, Diagnostics *diagnostics) {
  constexpr uint64_t kMax = uint64_t{16} << 20;
  std::error_code failure;
  const uint64_t size = fs::file_size(path, failure);
  if (!failure && size > kMax) {
    return diagnostics->error({}, "{} is too large for a source: expected at most {} bytes, got {}",
                              typed, kMax, size);
  }
  std::string text;
  if (!read_file(path, &text, diagnostics)) return false;
  const size_t at = text.find('\0');
  if (at == std::string::npos) return true;
  return diagnostics->error({}, "{} is not a text file: byte {} is 0", typed, at);
}

// Writes the digest into the module note of the file, with code of the module loader, so that gufcc
// and the loader compute and place the digest in the same way.
bool write_digest(const std::filesystem::path &file, Diagnostics *diagnostics) {
  std::string content;
  if (!read_file(file, &content, diagnostics)) return false;
  guf_error error{};
  error.struct_size = sizeof(error);
  base::ElfFile elf;
  module::ModuleNote note;
  std::array<uint8_t, 32> digest;
  uint64_t offset = 0;
  if (base::ElfFile::open(std::as_bytes(std::span(content)), &elf, &error) != GUF_OK ||
      module::compute_digest(elf, &note, &digest, &offset, &error) != GUF_OK) {
    return diagnostics->error({}, "the linked module is unusable: {}", std::string(error.message));
  }
  std::memcpy(content.data() + offset, digest.data(), digest.size());
  return write_file(file, content, diagnostics);
}

}  // namespace

bool Build::run() {
  if (!folder_.create(diagnostics_)) return false;
  // Compilers put their temporary files and crash reports into TMPDIR, so gufcc removes these files
  // with its folder.
  if (setenv("TMPDIR", folder_.path().c_str(), 1) != 0) {
    return diagnostics_->error({}, "cannot set TMPDIR: {}", std::strerror(errno));
  }
  if (options_.keep) {
    folder_.keep();
    diagnostics_->pass_on(
        fmt::format("gufcc: intermediate files are in {}\n", folder_.path().string()));
  }
  if (!folder_.remove_on_signals(diagnostics_) || !find_sources()) return false;
  compiler_ = std::make_unique<Compiler>(options_, sources_, folder_.path(), diagnostics_);
  if (!compiler_->locate() || !scan_sources()) return false;
  if (options_.list) {
    listing_ = list_functions(module_);
    return true;
  }
  group_units();
  if (!options_.checks.empty()) return check_compilers();
  if (!choose_name() || !choose_targets()) return false;
  if (!options_.object && !check_choice(module_, diagnostics_)) return false;
  if (!options_.no_rules && !check_sources()) return false;
  if (!compile_units() || !refuse_host_only() || !compile_devices()) return false;
  for (const Target &target : targets_) {
    if (!join_level(target)) return false;
  }
  if (!compile_parameters() || !compile_table()) return false;
  if (!(options_.object ? link_object() : link_shared())) return false;
  if (!write_emulation(options_.emulate, Instrumentation::kNone) ||
      !write_emulation(options_.emulate_asan, Instrumentation::kAddressSanitizer)) {
    return false;
  }
  // The module is moved into place last, so only a successful build replaces the module file.
  return write_depfile() && move_into_place(linked(), options_.output, diagnostics_);
}

bool Build::find_sources() {
  for (const std::string &typed : options_.sources) {
    std::error_code failure;
    if (!fs::is_regular_file(typed, failure)) {
      return diagnostics_->error({}, "cannot read the source {}", typed);
    }
    const std::string absolute = absolute_path(typed);
    // Entries contain #include "path", and these characters cannot be escaped there.
    const size_t unfit = absolute.find_first_of("\"\\\n");
    if (unfit != std::string::npos) {
      return diagnostics_->error({}, "cannot include the source {}: its path has {}", absolute,
                                 absolute[unfit] == '"'    ? "a quotation mark"
                                 : absolute[unfit] == '\\' ? "a backslash"
                                                           : "a line break");
    }
    if (!is_text(typed, absolute, diagnostics_)) return false;
    sources_.push_back({typed, absolute});
  }
  return true;
}

// The default name comes from the output file: "build/foo.so" is module foo.
bool Build::choose_name() {
  if (options_.output.empty()) return diagnostics_->usage_error("no output file: use -o FILE");
  module_.name = options_.name;
  if (module_.name.empty()) {
    module_.name = fs::path(options_.output).filename().string();
    module_.name = module_.name.substr(0, module_.name.find('.'));
  }
  const bool good = !module_.name.empty() && module_.name.size() <= 63 &&
                    std::isdigit(static_cast<unsigned char>(module_.name[0])) == 0 &&
                    std::all_of(module_.name.begin(), module_.name.end(), [](char c) {
                      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                    });
  fs::path place;  // not used: find_output reports an invalid path before the long compilation
  if (good) return find_output(options_.output, &place, diagnostics_);
  return diagnostics_->usage_error(
      "'{}' is not a module name (letters, digits and _): use --name NAME", module_.name);
}

bool Build::scan_sources() {
  std::vector<RawRegistration> registrations;
  bool good = true;
  for (size_t i = 0; i < sources_.size(); ++i) {
    std::string text;
    if (!compiler_->scan(i, &text)) return false;
    good &= scan_registrations(text, static_cast<int>(i), &registrations, diagnostics_);
  }
  module_.fp = options_.fp;
  return good && build_module(registrations, &module_, diagnostics_);
}

Build::Unit &Build::unit_of(int source, FpMode fp) {
  const auto requested = static_cast<size_t>(source);
  const auto unit = std::find_if(units_.begin(), units_.end(), [&](const Unit &u) {
    return u.source == requested && u.fp == fp;
  });
  if (unit != units_.end()) return *unit;
  return units_.emplace_back(Unit{requested, fp, {}, {}, {}});
}

void Build::group_units() {
  for (const Function &function : module_.functions) {
    for (const Loop &loop : function.loops) {
      unit_of(loop.source, loop.fp).loops.push_back({&function, &loop});
    }
  }
  for (const PlainEntry &entry : module_.entries) {
    unit_of(entry.source, module_.fp).plain.push_back(&entry);
  }
  for (const RawKernel &kernel : module_.kernels) {
    unit_of(kernel.source, kernel.fp).kernels.push_back(&kernel);
  }
}

// Returns the device entries of a unit, without the loops that no device can run.
DeviceEntries Build::device_entries(const Unit &unit) const {
  DeviceEntries entries{{}, unit.plain, unit.kernels};
  for (const LoopRef &ref : unit.loops) {
    if (why_not_on_devices(*ref.function, *ref.loop).empty()) entries.loops.push_back(ref);
  }
  return entries;
}

std::string Build::unit_name(size_t unit, const Target &target) const {
  return fmt::format("unit{}_{}", unit, target.suffix);
}

int Build::workers() const {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  return options_.jobs > 0 ? options_.jobs : std::max(processors, 1);
}

Compiler::Unit Build::host_unit(size_t index, const Target &target) const {
  const Unit &unit = units_[index];
  const std::string &source = sources_[unit.source].absolute;
  Compiler::Unit text{
      unit_name(index, target),
      generate_host_entries(source, unit.loops, target) + host_kernel_entries(unit.kernels, target),
      generate_call_probes(source, unit.loops) + kernel_call_probes(unit.kernels),
      generate_probes(source, unit.loops),
      compiler_->host_command(),
      "-c",
      true,
      [this, index, &target](const std::set<int> &on_stack) {
        const Unit &again = units_[index];
        return generate_host_entries(sources_[again.source].absolute, again.loops, target,
                                     on_stack) +
               host_kernel_entries(again.kernels, target);
      }};
  text.has_lines = options_.debug;
  text.command.insert(text.command.end(), target.flags.begin(), target.flags.end());
  text.command.emplace_back(contraction_flag(unit.fp));
  return text;
}

// Checks the rules of all backends, whichever targets are chosen.
bool Build::check_sources() {
  return run_parallel(workers(), static_cast<int>(units_.size()), [&](int job) {
    const Unit &unit = units_[static_cast<size_t>(job)];
    return check_rules(
        {fmt::format("rules{}", job), sources_[unit.source].absolute, unit.loops, unit.kernels},
        compiler_.get());
  });
}

// Returns the host targets whose objects are searched for code that only a host can run. Without
// host targets, returns the lowest ISA level, which is then compiled and searched but not linked.
const std::vector<Target> &Build::examined_targets() const {
  static const auto *const kLowest = new std::vector<Target>{all_targets()[0]};
  return targets_.empty() ? *kLowest : targets_;
}

// Plain entries (device entries that belong to no loop) run only on devices. Without host targets,
// a unit that has only plain entries is not compiled for the host.
bool Build::is_compiled(const Unit &unit) const {
  return !targets_.empty() || !unit.loops.empty() || !unit.kernels.empty();
}

bool Build::compile_units() {
  const std::vector<Target> &targets = examined_targets();
  const size_t levels = targets.size();
  return run_parallel(workers(), static_cast<int>(units_.size() * levels), [&](int job) {
    const size_t index = static_cast<size_t>(job) / levels;
    if (!is_compiled(units_[index])) return true;
    const Compiler::Unit unit = host_unit(index, targets[static_cast<size_t>(job) % levels]);
    return compiler_->compile(unit, work(unit.stem + ".o"));
  });
}

bool Build::choose_targets() {
  std::vector<Target> chosen, of_devices;
  if (!select_targets(options_.targets, &chosen, diagnostics_)) return false;
  for (Target &target : chosen) {
    (target.kind == TargetKind::kHost ? targets_ : of_devices).push_back(std::move(target));
  }
  devices_ =
      std::make_unique<DeviceImages>(options_, compiler_.get(), folder_.path(), diagnostics_);
  const bool vendor = std::any_of(units_.begin(), units_.end(),
                                  [](const Unit &unit) { return calls_vendor(unit.fp); });
  if (!devices_->choose(std::move(of_devices), vendor)) return false;
  if (targets_.empty() && !devices_->requested()) {
    return diagnostics_->error({}, "cannot compile for any target of '{}'; see the messages above",
                               options_.targets);
  }
  if (devices_->requested() || !options_.emulate.empty() || !options_.emulate_asan.empty()) {
    assign_families();
  }
  return true;
}

// Assigns the numbers of families. The images of a unit are a family, whose number is 1 + the index
// of the unit. Loops that no device can run get the number of a family without images.
void Build::assign_families() {
  for (RawKernel &kernel : module_.kernels) {
    const Unit &unit = unit_of(kernel.source, kernel.fp);
    kernel.family = 1 + static_cast<uint32_t>(&unit - units_.data());
  }
  for (Function &function : module_.functions) {
    for (Loop &loop : function.loops) {
      const Unit &unit = unit_of(loop.source, loop.fp);
      loop.family = 1 + static_cast<uint32_t>(&unit - units_.data());
      const std::string obstacle = why_not_on_devices(function, loop);
      if (obstacle.empty()) continue;
      loop.family = 1 + static_cast<uint32_t>(units_.size());
      diagnostics_->warn(loop.place, "{}: the loop {}->{} is left out of device images: it has {}",
                         function.name, loop.inputs, loop.outputs, obstacle);
    }
  }
}

std::vector<DeviceUnit> Build::device_units() const {
  std::vector<DeviceUnit> units;
  for (size_t i = 0; i < units_.size(); ++i) {
    const Unit &unit = units_[i];
    const DeviceEntries entries = device_entries(unit);
    const Source &source = sources_[unit.source];
    if (entries.loops.empty() && entries.plain.empty() && entries.kernels.empty()) continue;
    units.push_back(
        {1 + static_cast<uint32_t>(i), source.typed,
         generate_device_entries(source.absolute, entries), device_entry_names(entries),
         generate_call_probes(source.absolute, unit.loops) + kernel_call_probes(unit.kernels),
         unit.fp});
  }
  return units;
}

bool Build::compile_devices() {
  if (!devices_->requested()) return true;
  return devices_->compile(device_units(), workers()) && devices_->pack(workers());
}

bool Build::write_emulation(const std::string &output, Instrumentation instrumentation) {
  if (output.empty()) return true;
  const fs::path file = work("emu.so");
  return make_emulation(device_units(), devices_->images(), instrumentation, folder_.path(),
                        workers(), compiler_.get(), file) &&
         move_into_place(file, output, diagnostics_);
}

// Reports code that only a host can run, for the first ISA level in which the compiled kernels
// contain such code.
bool Build::refuse_host_only() {
  for (const Target &target : examined_targets()) {
    for (size_t i = 0; i < units_.size(); ++i) {
      if (!is_compiled(units_[i])) continue;
      const fs::path file = work(unit_name(i, target) + ".o");
      std::string bytes;
      ObjectFile object;
      if (!read_file(file, &bytes, diagnostics_)) return false;
      if (!object.parse(std::move(bytes))) {
        return diagnostics_->error({}, "the compiler wrote no ELF object: {}", file.string());
      }
      report_host_only(i, target, find_host_only(object, options_.debug));
    }
    if (diagnostics_->failed()) return false;
  }
  return true;
}

void Build::report_host_only(size_t index, const Target &target,
                             const std::vector<HostOnly> &found) {
  if (found.empty()) return;
  const std::map<std::string, Place> places =
      compiler_->find_symbols(host_unit(index, target), work("with_lines.o"));
  for (const HostOnly &one : found) {
    const auto place = places.find(one.symbol);
    diagnostics_->error(
        place == places.end() ? Place{sources_[units_[index].source].typed} : place->second, "{}",
        one.message);
  }
}

// Compiles the parameter records even without host targets, because the library reads the types of
// a kernel's parameters from these records.
bool Build::compile_parameters() {
  for (size_t i = 0; i < units_.size(); ++i) {
    const Unit &unit = units_[i];
    if (unit.kernels.empty()) continue;
    Compiler::Unit made;
    made.stem = fmt::format("parameters{}", i);
    made.text = kernel_parameters(sources_[unit.source].absolute, unit.kernels);
    made.call_probe =
        generate_call_probes(sources_[unit.source].absolute, {}) + kernel_call_probes(unit.kernels);
    made.command = compiler_->host_command();
    parameters_.push_back(work(made.stem + ".o"));
    if (!compiler_->compile(made, parameters_.back())) return false;
  }
  return true;
}

bool Build::check_compilers() {
  std::vector<std::string> names;
  std::istringstream words(options_.checks);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  const size_t count = names.size();
  return run_parallel(workers(), static_cast<int>(units_.size() * count), [&](int job) {
    return check_compiler(names[static_cast<size_t>(job) % count],
                          static_cast<size_t>(job) / count);
  });
}

bool Build::check_compiler(const std::string &name, size_t index) {
  const Unit &unit = units_[index];
  Compiler::Unit text;
  text.stem = fmt::format("{}_{}", name, index);
  text.quiet = false;
  const std::string &source = sources_[unit.source].absolute;
  const bool host = name == "gcc";
  text.text = host ? generate_host_entries(source, unit.loops, all_targets()[0]) +
                         host_kernel_entries(unit.kernels, all_targets()[0])
                   : generate_device_entries(source, device_entries(unit));
  text.call_probe = generate_call_probes(source, unit.loops) + kernel_call_probes(unit.kernels);
  // For nvptx64 and amdgcn, the compiler stops at assembly, because an object might have to be
  // linked with the vendor's mathematical library.
  text.action = name == "opencl" || host ? "-c" : "-S";
  if (!check_command(name, compiler_->path(), &text.command, diagnostics_)) return false;
  text.command.insert(text.command.end(), compiler_->include_flags().begin(),
                      compiler_->include_flags().end());
  if (!host && calls_vendor(unit.fp)) text.command.emplace_back("-DGUF_VENDOR_MATH");
  return compiler_->compile(text, work(text.stem + ".out"));
}

bool Build::write_depfile() {
  if (options_.depfile.empty()) return true;
  auto escaped = [](std::string path) {
    replace_all(&path, "$", "$$");
    replace_all(&path, " ", "\\ ");
    replace_all(&path, "#", "\\#");
    return path;
  };
  std::string text = escaped(options_.output) + ":";
  for (const std::string &file : compiler_->dependencies()) text += " \\\n  " + escaped(file);
  const fs::path written = work("depfile");
  return write_file(written, text + "\n", diagnostics_) &&
         move_into_place(written, options_.depfile, diagnostics_);
}

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
