// SPDX-License-Identifier: Apache-2.0
// A record describes each device entry. The translation unit of the entry defines the record,
// because the size of the struct that the entry receives is known only there. The table of the file
// copies the records when the file is loaded.
#include "emulation_file.h"

#include <algorithm>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

// The ISA level has fused multiply-add, as devices have, so that results have the same bits. An
// entry computes one work-item, so more optimization, vectors and unrolled loops save little run
// time, but take a third of the compile time.
const Command kEmulationFlags = {"-x",
                                 "c++",
                                 "-std=c++17",
                                 "-O1",
                                 "-march=x86-64-v3",
                                 "-DGUF_EMULATE",
                                 "-fPIC",
                                 "-fvisibility=hidden",
                                 "-fvisibility-inlines-hidden",
                                 "-fno-exceptions",
                                 "-fno-rtti",
                                 "-fno-math-errno",
                                 "-fno-vectorize",
                                 "-fno-slp-vectorize",
                                 "-fno-unroll-loops",
                                 "-w"};

// -gline-tables-only adds source lines to reports.
const Command kAsanFlags = {"-fsanitize=address", "-gline-tables-only"};

std::string unit_stem(const DeviceUnit &unit, Instrumentation instrumentation) {
  return fmt::format("items{}{}", instrumentation == Instrumentation::kNone ? "" : "_asan",
                     unit.family);
}

Compiler::Unit emulator_unit(const DeviceUnit &unit, Instrumentation instrumentation,
                             const Compiler &compiler) {
  Compiler::Unit made;
  made.stem = unit_stem(unit, instrumentation);
  made.text = unit.text;
  made.call_probe = unit.call_probe;
  made.command = {compiler.path()};
  made.command.insert(made.command.end(), kEmulationFlags.begin(), kEmulationFlags.end());
  made.command.insert(made.command.end(), compiler.include_flags().begin(),
                      compiler.include_flags().end());
  made.command.emplace_back(contraction_flag(unit.fp));
  if (instrumentation == Instrumentation::kAddressSanitizer) {
    made.command.insert(made.command.end(), kAsanFlags.begin(), kAsanFlags.end());
    made.has_lines = true;
  }
  return made;
}

// Returns the SHA-256 of `content` as the bytes of a C++ initializer.
std::string digest_bytes(const std::string &content) {
  const std::string digits = ObjectCache::key(content);
  std::string text;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) text += "0x" + digits.substr(i, 2) + ", ";
  return text;
}

std::string emulation_table(const std::vector<DeviceUnit> &units,
                            const std::vector<PlainImage> &images) {
  std::vector<std::string> names;
  for (const DeviceUnit &unit : units) {
    names.insert(names.end(), unit.entries.begin(), unit.entries.end());
  }
  std::sort(names.begin(), names.end());
  std::string declarations, kernels, rows;
  for (const std::string &name : names) {
    declarations +=
        fmt::format("extern const guf::device::emulated_kernel {};\n", emulation_record_name(name));
    kernels += fmt::format("  {},\n", emulation_record_name(name));
  }
  for (const PlainImage &image : images) {
    rows += fmt::format("  {{\"{}\", {}u, {{{}}}}},\n", image.target->name, image.bytes.size(),
                        digest_bytes(image.bytes));
  }
  // C++ has no empty arrays, so each table has one more row than its count.
  return fmt::format(
      "#include <gufunc/kernel/work_item.hpp>\n"
      "extern \"C\" {{\n{}}}\n"
      "static const guf::device::emulated_kernel kernels[] = {{\n{}  {{}}}};\n"
      "static const guf::device::emulated_image images[] = {{\n{}  {{}}}};\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) extern const "
      "guf::device::emulation_table gufunc_emulation_v1;\n"
      "const guf::device::emulation_table gufunc_emulation_v1 = "
      "{{sizeof(guf::device::emulation_table), {}, "
      "{}, 0, kernels, images}};\n",
      declarations, kernels, rows, names.size(), images.size());
}

}  // namespace

bool make_emulation(const std::vector<DeviceUnit> &units, const std::vector<PlainImage> &images,
                    Instrumentation instrumentation, const fs::path &work, int workers,
                    Compiler *compiler, const fs::path &linked) {
  const auto object = [&](const DeviceUnit &unit) {
    return work / (unit_stem(unit, instrumentation) + ".o");
  };
  if (!run_parallel(workers, static_cast<int>(units.size()), [&](int job) {
        const DeviceUnit &unit = units[static_cast<size_t>(job)];
        return compiler->compile(emulator_unit(unit, instrumentation, *compiler), object(unit));
      })) {
    return false;
  }
  const fs::path table = work / "emulation_table.cpp", map = work / "emulation.map";
  Command compile = {compiler->path()};
  compile.insert(compile.end(), kEmulationFlags.begin(), kEmulationFlags.end());
  compile.insert(compile.end(), {"-I" + compiler->headers().string(), "-c", table.string(), "-o",
                                 (work / "emulation_table.o").string()});
  if (!compiler->write(table, emulation_table(units, images)) ||
      !compiler->run(compile, "compiling the emulation file's table") ||
      !compiler->write(map, "{ global: gufunc_emulation_v1; local: *; };\n")) {
    return false;
  }
  Command link = {compiler->path(), "-shared",
                  "-nostdlib",      "-o",
                  linked.string(),  (work / "emulation_table.o").string()};
  for (const DeviceUnit &unit : units) link.push_back(object(unit).string());
  for (const char *flag : {"-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,noexecstack", "-Wl,--as-needed",
                           "-lm", "-lc", "-lgcc"}) {
    link.emplace_back(flag);
  }
  if (instrumentation == Instrumentation::kNone) link.emplace_back("-Wl,-z,defs");
  link.insert(link.end(), {"-Xlinker", "--version-script=" + map.string()});
  return compiler->run(link, "linking the emulation file");
}

}  // namespace gufunc::gufcc
