// SPDX-License-Identifier: Apache-2.0
// The kernel compiler (or nvcc) makes PTX for the oldest architecture; clang's PTX has a version
// that drivers since r418 accept. For sm_ targets, ptxas assembles the PTX. lld links AMD's code
// objects as raw ELF.
#include "device_tools.h"

#include <cstdlib>

#include "files.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

const Command kDeviceFlags = {"-std=c++17", "--cuda-device-only", "-O2", "-Wall",
                              "-Wextra",    "-Wno-pass-failed"};

bool has_file(const fs::path &path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

// Searches the folders of PATH. Returns "" if the program is not found.
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

// Returns LLVM IR with the constants that configure ocml, AMD's mathematical library. The optimizer
// reads the constants and removes code of ocml that they exclude. It can do this only if the module
// itself defines the constants, with a linkage that allows their removal. The constants that ship
// with ocml lack new ISAs.
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

// Uses the ptxas or the CUDA toolkit that the command line names, and otherwise searches PATH.
DeviceTools::Lack DeviceTools::find_ptxas() {
  const bool named = !options_.ptxas.empty() || !options_.cuda_home.empty();
  ptxas_ = !options_.ptxas.empty()       ? options_.ptxas
           : !options_.cuda_home.empty() ? (fs::path(options_.cuda_home) / "bin" / "ptxas").string()
                                         : on_path("ptxas").string();
  if (ptxas_.empty()) return {"no ptxas: use --ptxas FILE or --cuda-home DIR"};
  const ProcessResult version = run_process({ptxas_, "--version"});
  if (version.status != 0) return {fmt::format("'{}' does not run", ptxas_), named};
  // Removes the prefix of "ptxas: NVIDIA (R) ...", which is the name by which ptxas was called.
  ptxas_version_ =
      version.output.substr(std::min(version.output.find(": "), version.output.size()));
  return {};
}

DeviceTools::Lack DeviceTools::find_nvcc() {
  nvcc_ = options_.cuda_home.empty() ? on_path("nvcc").string()
                                     : (fs::path(options_.cuda_home) / "bin" / "nvcc").string();
  if (nvcc_.empty()) return {"no nvcc on the PATH: use --cuda-home DIR", true};
  if (run_process({nvcc_, "--version"}).status == 0) return {};
  return {fmt::format("nvcc not found: '{}' does not run", nvcc_), true};
}

// Searches the folders that NVIDIA's toolkits and Debian use.
DeviceTools::Lack DeviceTools::find_libdevice() {
  const auto inside = [](const fs::path &home) {
    return first_file(
        {home / "nvvm" / "libdevice" / "libdevice.10.bc", home / "libdevice" / "libdevice.10.bc"});
  };
  if (!options_.cuda_home.empty()) {
    libdevice_ = inside(absolute_path(options_.cuda_home));
    if (!libdevice_.empty()) return {};
    return {fmt::format("'{}' has no nvvm/libdevice/libdevice.10.bc", options_.cuda_home), true};
  }
  std::error_code failure;
  const fs::path program =
      fs::canonical(ptxas_.empty() ? on_path("ptxas") : fs::path(ptxas_), failure);
  if (!failure) libdevice_ = inside(program.parent_path().parent_path());
  if (libdevice_.empty()) libdevice_ = inside("/usr/lib/nvidia-cuda-toolkit");
  if (!libdevice_.empty()) return {};
  return {"no libdevice.10.bc: use --cuda-home DIR"};
}

DeviceTools::Lack DeviceTools::find_backend(const char *name) const {
  const ProcessResult listed = run_process({compiler_->path(), "--print-targets"});
  if (listed.status != 0) {
    return {fmt::format("'{} --print-targets' failed: {}", compiler_->path(), listed.output), true};
  }
  if (listed.output.find(name) != std::string::npos) return {};
  return {fmt::format("'{}' has no backend {}", compiler_->path(), name)};
}

DeviceTools::Lack DeviceTools::find_ptx_maker(bool vendor) {
  if (options_.nvcc) return find_nvcc();
  const Lack lack = find_backend("nvptx64");
  const bool needs_libdevice = vendor || !options_.cuda_home.empty();
  return lack.text.empty() && needs_libdevice ? find_libdevice() : lack;
}

DeviceTools::Lack DeviceTools::find_ocml() {
  if (!options_.rocm_bitcode.empty()) {
    ocml_ = first_file({fs::path(absolute_path(options_.rocm_bitcode)) / "ocml.bc"});
    if (!ocml_.empty()) return {};
    return {fmt::format("'{}' has no ocml.bc", options_.rocm_bitcode), true};
  }
  ocml_ = first_file({"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc",
                      "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode/ocml.bc",
                      "/opt/rocm/amdgcn/bitcode/ocml.bc"});
  if (!ocml_.empty()) return {};
  return {"no ocml.bc: use --rocm-bitcode DIR; on Debian: rocm-device-libs"};
}

DeviceTools::Lack DeviceTools::find_amd(bool vendor) {
  if (const Lack lack = find_backend("amdgcn"); !lack.text.empty()) return lack;
  if (vendor || !options_.rocm_bitcode.empty()) {
    if (const Lack lack = find_ocml(); !lack.text.empty()) return lack;
  }
  // The compiler prints a path if it finds the linker, else only the name.
  const ProcessResult linker = run_process({compiler_->path(), "--print-prog-name=lld"});
  if (linker.error != 0) return {linker.output, true};
  const std::string found = linker.output.substr(0, linker.output.find('\n'));
  if (linker.status == 0 && has_file(found)) return {};
  return {"no lld beside the kernel compiler; on Debian: lld-19"};
}

bool DeviceTools::hash_file(const fs::path &file, std::string *out) {
  std::string bytes;
  if (file.empty()) return true;
  if (!read_file(file, &bytes, diagnostics_)) return false;
  *out = ObjectCache::key(bytes);
  return true;
}

bool DeviceTools::drop_without(std::vector<Target> *targets, const Lack &lack,
                               const std::function<bool(const Target &)> &serves) {
  if (lack.text.empty()) return true;
  for (const Target &target : *targets) {
    if (!serves(target)) continue;
    if (lack.was_named) {
      return diagnostics_->error({}, "cannot compile for target {}: {}", target.name, lack.text);
    }
    diagnostics_->warn({}, "target {} is skipped: {}", target.name, lack.text);
  }
  std::erase_if(*targets, serves);
  return true;
}

bool DeviceTools::locate(std::vector<Target> *targets, bool vendor) {
  const auto of_amd = [](const Target &t) { return t.kind == TargetKind::kAmd; };
  const auto of_nvidia = [](const Target &t) { return t.kind == TargetKind::kNvidia; };
  const auto is_sass = [&](const Target &t) { return of_nvidia(t) && !t.is_ptx; };
  const auto has_target = [&](const auto &serves) {
    return std::any_of(targets->begin(), targets->end(), serves);
  };
  // A ptxas that --ptxas names must run, even if the only NVIDIA target is PTX, which needs none.
  const bool names_ptxas = !options_.ptxas.empty();
  const auto is_assembled = [&](const Target &t) {
    return names_ptxas ? of_nvidia(t) : is_sass(t);
  };
  if (has_target(is_assembled) && !drop_without(targets, find_ptxas(), is_assembled)) return false;
  if (has_target(of_nvidia) && !drop_without(targets, find_ptx_maker(vendor), of_nvidia)) {
    return false;
  }
  if (has_target(of_amd) && !drop_without(targets, find_amd(vendor), of_amd)) return false;
  if (!hash_file(libdevice_, &libdevice_hash_) || !hash_file(ocml_, &ocml_hash_)) return false;
  return std::all_of(targets->begin(), targets->end(), [&](const Target &target) {
    return !vendor || !of_amd(target) || make_constants(target);
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

// Adds the flags that clang gets for every device target, after the flags of the target.
void DeviceTools::add_common(FpMode fp, Compiler::Unit *unit) const {
  if (calls_vendor(fp)) unit->command.emplace_back("-DGUF_VENDOR_MATH");
  unit->command.insert(unit->command.end(), compiler_->include_flags().begin(),
                       compiler_->include_flags().end());
  unit->command.emplace_back(contraction_flag(fp));
}

void DeviceTools::add_clang_ptx(FpMode fp, Compiler::Unit *unit) const {
  unit->command = {compiler_->path(), "-x", "cuda"};
  unit->command.insert(unit->command.end(), kDeviceFlags.begin(), kDeviceFlags.end());
  for (const char *flag : {"-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_75",
                           "--cuda-feature=+ptx63", "-Wno-unknown-cuda-version"}) {
    unit->command.emplace_back(flag);
  }
  unit->action = "-S";
  add_common(fp, unit);
  if (!calls_vendor(fp)) return;
  for (const std::string &flag : {std::string("-Xclang"), std::string("-mlink-builtin-bitcode"),
                                  std::string("-Xclang"), libdevice_.string()}) {
    unit->places.push_back(flag);
  }
  unit->stack_key = libdevice_hash_;
}

// nvcc links its own libdevice. -w suppresses nvcc's warnings: warnings about kernels repeat the
// kernel compiler's, and all other warnings are about branches that are unreachable for the given
// template arguments.
void DeviceTools::add_nvcc_ptx(FpMode fp, Compiler::Unit *unit) const {
  unit->command = {nvcc_, "-x", "cu", "-std=c++17", "-O3", "-w", "-arch=compute_75"};
  unit->command.emplace_back(fp == FpMode::kFast ? "-fmad=true" : "-fmad=false");
  if (calls_vendor(fp)) unit->command.emplace_back("-DGUF_VENDOR_MATH");
  const Command flags = compiler_->open_include_flags();
  unit->command.insert(unit->command.end(), flags.begin(), flags.end());
  unit->action = "-ptx";
  unit->is_nvcc = true;
}

void DeviceTools::add_nvidia(const Target &target, FpMode fp, Compiler::Unit *unit) const {
  // GUF_ARCH is not part of the key: architectures with the same preprocessed text share one
  // compilation.
  unit->places = {fmt::format("-DGUF_ARCH={}", target.arch)};
  options_.nvcc ? add_nvcc_ptx(fp, unit) : add_clang_ptx(fp, unit);
}

void DeviceTools::add_amd(const Target &target, FpMode fp, Compiler::Unit *unit) const {
  unit->command = {compiler_->path(), "-x", "hip"};
  unit->command.insert(unit->command.end(), kDeviceFlags.begin(), kDeviceFlags.end());
  for (const char *flag : {"-nogpuinc", "-nogpulib", "--no-gpu-bundle-output"}) {
    unit->command.emplace_back(flag);
  }
  unit->command.push_back("--offload-arch=" + target.name);
  if (target.is_generic) unit->command.emplace_back("-mcode-object-version=6");
  unit->action = "-c";
  add_common(fp, unit);
  if (!calls_vendor(fp)) return;
  for (const fs::path &bitcode : {ocml_, constants(target)}) {
    for (const std::string &flag : {std::string("-Xclang"), std::string("-mlink-builtin-bitcode"),
                                    std::string("-Xclang"), bitcode.string()}) {
      unit->places.push_back(flag);
    }
  }
  unit->stack_key = ocml_hash_ + constants_text(target);
}

Command DeviceTools::ptxas_command(const Target &target) const {
  return {ptxas_, fmt::format("-arch=sm_{}", target.arch)};
}

std::string DeviceTools::ptxas_key(const Target &target) const {
  return fmt::format("{}-arch=sm_{}\n", ptxas_version_, target.arch);
}

}  // namespace gufunc::gufcc
