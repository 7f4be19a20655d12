// SPDX-License-Identifier: Apache-2.0
// PTX is made by the kernel compiler, for the oldest architecture and a version that drivers since
// r418 take; ptxas raises it. AMD's code objects are linked by lld, as raw ELF.
#include "device_tools.h"

#include <cstdlib>

#include "files.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

const Command kDeviceFlags = {"-std=c++17", "--cuda-device-only", "-O3", "-Wall",
                              "-Wextra",    "-Wno-pass-failed"};

bool has_file(const fs::path &path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

// A program as the shell finds it; empty when it is nowhere.
fs::path on_path(const std::string &name) {
  const char *const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && has_file(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

fs::path first_file(const std::vector<fs::path> &candidates) {
  for (const fs::path &candidate : candidates) {
    if (has_file(candidate)) return candidate;
  }
  return {};
}

// ocml asks these while it is optimized, and what they rule out disappears: for that they have to
// be constants of the module, with linkage that can be dropped. The library's own know no new ISA.
std::string constants_text(const Target &target) {
  const auto line = [](const char *name, const char *type, int value, int align) {
    return fmt::format(
        "@__oclc_{} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant {} {}, align "
        "{}\n",
        name, type, value, align);
  };
  return "target triple = \"amdgcn-amd-amdhsa\"\n" + line("ISA_version", "i32", target.arch, 4) +
         line("ABI_version", "i32", target.is_generic ? 600 : 500, 4) +
         line("wavefrontsize64", "i8", target.wave64 ? 1 : 0, 1) +
         line("finite_only_opt", "i8", 0, 1) + line("unsafe_math_opt", "i8", 0, 1) +
         line("daz_opt", "i8", 0, 1) + line("correctly_rounded_sqrt32", "i8", 1, 1);
}

}  // namespace

std::string DeviceTools::find_ptxas() {
  const std::string of_home =
      options_.cuda_home.empty() ? "" : (fs::path(options_.cuda_home) / "bin" / "ptxas").string();
  if (!options_.ptxas.empty()) {
    ptxas_ = options_.ptxas;
  } else if (has_file(of_home)) {
    ptxas_ = of_home;
  } else {
    ptxas_ = on_path("ptxas").string();
  }
  if (ptxas_.empty()) return "no ptxas; say --ptxas FILE or --cuda-home DIR";
  const ProcessResult version = run_process({ptxas_, "--version"});
  if (version.status != 0) return fmt::format("'{}' does not run", ptxas_);
  // "ptxas: NVIDIA (R) ...": the name is the one that it was called by.
  ptxas_version_ =
      version.output.substr(std::min(version.output.find(": "), version.output.size()));
  return {};
}

std::string DeviceTools::find_nvidia() {
  const fs::path inside = fs::path("nvvm") / "libdevice" / "libdevice.10.bc";
  std::vector<fs::path> candidates;
  if (!options_.cuda_home.empty()) candidates.push_back(fs::path(options_.cuda_home) / inside);
  std::error_code failure;
  const fs::path program =
      fs::canonical(ptxas_.empty() ? on_path("ptxas") : fs::path(ptxas_), failure);
  if (!failure) candidates.push_back(program.parent_path().parent_path() / inside);
  candidates.emplace_back("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc");
  libdevice_ = first_file(candidates);
  return libdevice_.empty() ? "no libdevice.10.bc; say --cuda-home DIR" : "";
}

std::string DeviceTools::find_amd() {
  std::vector<fs::path> candidates;
  for (const char *const folder :
       {"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode",
        "/opt/rocm/amdgcn/bitcode"}) {
    candidates.push_back(fs::path(folder) / "ocml.bc");
  }
  if (!options_.rocm_bitcode.empty()) candidates = {fs::path(options_.rocm_bitcode) / "ocml.bc"};
  ocml_ = first_file(candidates);
  if (ocml_.empty()) return "no ocml.bc; say --rocm-bitcode DIR; on Debian: rocm-device-libs";
  // The compiler prints a path where it finds the linker, else the name.
  const ProcessResult linker = run_process({compiler_->path(), "--print-prog-name=lld"});
  const std::string found = linker.output.substr(0, linker.output.find('\n'));
  if (linker.status == 0 && has_file(found)) return {};
  return "no lld beside the kernel compiler; on Debian: lld-19";
}

bool DeviceTools::hash_file(const fs::path &file, std::string *out) {
  std::string bytes;
  if (file.empty()) return true;
  if (!read_file(file, &bytes, diagnostics_)) return false;
  *out = ObjectCache::key(bytes);
  return true;
}

bool DeviceTools::locate(std::vector<Target> *targets) {
  const auto wants = [&](auto condition) {
    return std::any_of(targets->begin(), targets->end(), condition);
  };
  const auto is_sass = [](const Target &t) { return t.kind == TargetKind::kNvidia && !t.is_ptx; };
  const std::string listed = run_process({compiler_->path(), "--print-targets"}).output;
  const auto lacks = [&](const char *backend) {
    return listed.find(backend) == std::string::npos
               ? fmt::format("'{}' has no backend {}", compiler_->path(), backend)
               : "";
  };
  std::string no_sass, no_nvidia, no_amd;
  if (wants(is_sass)) no_sass = find_ptxas();
  if (wants([](const Target &t) { return t.kind == TargetKind::kNvidia; })) {
    no_nvidia = lacks("nvptx64");
    if (no_nvidia.empty()) no_nvidia = find_nvidia();
  }
  if (wants([](const Target &t) { return t.kind == TargetKind::kAmd; })) {
    no_amd = lacks("amdgcn");
    if (no_amd.empty()) no_amd = find_amd();
  }
  std::erase_if(*targets, [&](const Target &target) {
    std::string why = target.kind == TargetKind::kAmd      ? no_amd
                      : target.kind == TargetKind::kNvidia ? no_nvidia
                                                           : "";
    if (why.empty() && is_sass(target)) why = no_sass;
    if (!why.empty()) diagnostics_->warn({}, "target {} is skipped: {}", target.name, why);
    return !why.empty();
  });
  if (!hash_file(libdevice_, &libdevice_hash_) || !hash_file(ocml_, &ocml_hash_)) return false;
  return std::all_of(targets->begin(), targets->end(), [&](const Target &target) {
    return target.kind != TargetKind::kAmd || make_constants(target);
  });
}

fs::path DeviceTools::constants(const Target &target) const {
  return work_ / (target.suffix + ".oclc.bc");
}

bool DeviceTools::make_constants(const Target &target) {
  const fs::path text = work_ / (target.suffix + ".oclc.ll");
  return write_file(text, constants_text(target), diagnostics_) &&
         compiler_->run({compiler_->path(), "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir",
                         "-emit-llvm", "-c", text, "-o", constants(target)},
                        "compiling constants of the device library");
}

void DeviceTools::add_nvidia(const Target &target, Compiler::Unit *unit) const {
  unit->command = {compiler_->path(), "-x", "cuda"};
  unit->command.insert(unit->command.end(), kDeviceFlags.begin(), kDeviceFlags.end());
  for (const char *flag : {"-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_75",
                           "--cuda-feature=+ptx63", "-Wno-unknown-cuda-version"}) {
    unit->command.emplace_back(flag);
  }
  unit->action = "-S";
  // Of architectures whose text is the same, one is compiled.
  unit->places = {fmt::format("-DGUF_ARCH={}", target.arch), "-Xclang", "-mlink-builtin-bitcode",
                  "-Xclang", libdevice_.string()};
  unit->places_key = libdevice_hash_;
}

void DeviceTools::add_amd(const Target &target, Compiler::Unit *unit) const {
  unit->command = {compiler_->path(), "-x", "hip"};
  unit->command.insert(unit->command.end(), kDeviceFlags.begin(), kDeviceFlags.end());
  for (const char *flag : {"-nogpuinc", "-nogpulib", "--no-gpu-bundle-output"}) {
    unit->command.emplace_back(flag);
  }
  unit->command.push_back("--offload-arch=" + target.name);
  if (target.is_generic) unit->command.emplace_back("-mcode-object-version=6");
  unit->action = "-c";
  for (const fs::path &bitcode : {ocml_, constants(target)}) {
    for (const std::string &flag : {std::string("-Xclang"), std::string("-mlink-builtin-bitcode"),
                                    std::string("-Xclang"), bitcode.string()}) {
      unit->places.push_back(flag);
    }
  }
  unit->places_key = ocml_hash_ + constants_text(target);
}

Command DeviceTools::ptxas_command(const Target &target) const {
  return {ptxas_, fmt::format("-arch=sm_{}", target.arch)};
}

std::string DeviceTools::ptxas_key(const Target &target) const {
  return fmt::format("{}-arch=sm_{}\n", ptxas_version_, target.arch);
}

}  // namespace gufunc::gufcc
