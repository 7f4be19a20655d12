// SPDX-License-Identifier: Apache-2.0
// Generates the table as C source that uses gufunc/module_table.h, so that only the compiler
// determines the layout of the structs.
#include "entry_text.h"
#include "generate.h"
#include "kernel_entries.h"
#include "registration.h"

namespace gufunc::gufcc {
namespace {

std::string c_string(const std::string &text) {
  if (text.empty()) return "0";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Escape question marks too: C11 reads "??!" as "|".
    if (c == '"' || c == '\\' || c == '?' || byte < 0x20 || byte >= 0x7f) {
      result += fmt::format("\\{:03o}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string identity_constant(const std::string &name) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return "GUF_IDENTITY_" + upper;
}

std::string flag_list(const Function &function) {
  std::string flags = "0";
  if (function.inplace_safe) flags += " | GUF_FUNCTION_INPLACE_SAFE";
  if (function.commutative) flags += " | GUF_FUNCTION_COMMUTATIVE";
  if (function.associative) flags += " | GUF_FUNCTION_ASSOCIATIVE";
  if (function.underflows) flags += " | GUF_FUNCTION_UNDERFLOWS";
  if (function.accepts_empty) flags += " | GUF_FUNCTION_ACCEPTS_EMPTY";
  if (function.keeps_precision) flags += " | GUF_FUNCTION_KEEPS_PRECISION";
  if (function.divides) flags += " | GUF_FUNCTION_DIVIDES";
  if (function.fp != FpMode::kStrict) flags += " | GUF_FUNCTION_FAST";
  if (function.overwrites) flags += " | GUF_FUNCTION_OVERWRITES";
  return flags;
}

// Numbers of entries of an image. An image lists the entries of all loops, then all fold entries
// (both in the order of the loops), then the entries of raw kernels.
struct EntryCount {
  int kernels = 0, folds = 0;
};

EntryCount count_entries(const Module &module) {
  EntryCount count;
  for (const Function &function : module.functions) {
    for (const Loop &loop : function.loops) {
      ++count.kernels;
      if (has_fold(function, loop)) ++count.folds;
    }
  }
  return count;
}

// Returns the arrays of one function: types and loops, and roles if its registration has roles=.
// `next` contains the entry numbers for the next loop; this function advances them.
std::string function_arrays(const Function &function, size_t index, EntryCount *next) {
  std::string text, loops;
  for (size_t i = 0; i < function.loops.size(); ++i) {
    const Loop &loop = function.loops[i];
    std::string types;
    for (const char letter : loop.inputs + loop.outputs) {
      types += fmt::format("{}, ", find_letter(letter)->constant);
    }
    text += fmt::format("static const guf_dtype types_{}_{}[] = {{{}}};\n", index, i, types);
    loops += fmt::format("  {{types_{}_{}, {}, {}, {}, {}, {}}},\n", index, i, c_string(loop.stem),
                         next->kernels++, loop.may_fail ? "GUF_LOOP_STATUS" : "GUF_LOOP_NUMPY",
                         has_fold(function, loop) ? 1 + next->folds++ : 0, loop.family);
  }
  text += fmt::format("static const guf_module_loop loops_{}[] = {{\n{}}};\n", index, loops);
  if (function.roles_given) {
    std::string roles;
    for (const Role role : function.roles) roles += fmt::format("{}, ", static_cast<int>(role));
    text += fmt::format("static const int32_t roles_{}[] = {{{}}};\n", index, roles);
  }
  return text;
}

std::string function_row(const Module &module, size_t index) {
  const Function &function = module.functions[index];
  std::string row =
      fmt::format(".name = {}, .signature = {}, .rules = {}, .doc = {}, .failure = {}, ",
                  c_string(function.name), c_string(function.signature), c_string(function.rules),
                  c_string(function.doc.text), c_string(function.failure.text));
  if (function.roles_given) row += fmt::format(".roles = roles_{}, ", index);
  row += fmt::format(
      ".nin = {}, .nout = {}, .identity = {}, .flags = {}, .nloops = {}, .loops = loops_{}",
      function.nin, function.nout, identity_constant(function.identity), flag_list(function),
      function.loops.size(), index);
  if (!function.merge.empty()) {
    row += fmt::format(", .merge = {}, .finish = {}", part_number(module, function.merge),
                       part_number(module, function.finish));
  }
  return "  {" + row + "},\n";
}

std::string image_arrays(const Module &module, const std::vector<Target> &targets,
                         const std::vector<ImageRow> &device_images) {
  std::string declarations, arrays, rows;
  for (const Target &target : targets) {
    std::string entries, folds;
    const auto add = [&](const std::string &name, std::string *list) {
      declarations += fmt::format("ENTRY({});\n", name);
      *list += fmt::format("  (void (*)(void)){},\n", name);
    };
    for (const Function &function : module.functions) {
      for (const Loop &loop : function.loops) {
        add(host_entry_name(loop, target), &entries);
        if (has_fold(function, loop)) add(fold_entry_name(loop, target), &folds);
      }
    }
    entries += folds;
    for (const RawKernel &kernel : module.kernels) add(kernel_entry_name(kernel, target), &entries);
    arrays += fmt::format("static void (*const entries_{}[])(void) = {{\n{}}};\n", target.suffix,
                          entries);
    rows += fmt::format(
        "  {{GUF_IMAGE_HOST, GUF_CODEC_NONE, \"{}\", 0, 0, 0, entries_{}, 0, 0, 0, 0}},\n",
        target.name, target.suffix);
  }
  std::set<size_t> frames;
  for (const ImageRow &image : device_images) {
    if (frames.insert(image.frame).second) {
      declarations +=
          fmt::format("extern __attribute__((visibility(\"hidden\"))) const unsigned char {}[];\n",
                      frame_name(image.frame));
    }
    rows += fmt::format("  {{{}, {}, \"{}\", {}, {}u, {}u, 0, {}u, {}u, {}, 0}},\n", image.format,
                        image.inflated_size > 0 ? "GUF_CODEC_ZSTD" : "GUF_CODEC_NONE", image.target,
                        frame_name(image.frame), image.size, image.inflated_size, image.offset,
                        image.bytes, image.family);
  }
  if (rows.empty()) return declarations;
  return fmt::format("{}{}static const guf_module_image images[] = {{\n{}}};\n", declarations,
                     arrays, rows);
}

// `first` is the entry number of the first kernel.
std::string kernel_arrays(const Module &module, int first) {
  std::string declarations, rows;
  for (const RawKernel &kernel : module.kernels) {
    declarations += fmt::format(
        "extern __attribute__((visibility(\"hidden\"))) const guf_module_parameters {};\n",
        kernel_parameters_name(kernel));
    rows +=
        fmt::format("  {{{}, {}, {}, &{}, {}, {}, {}, {}, {}, 0}},\n", c_string(kernel.name),
                    c_string(kernel.symbol), c_string(kernel.doc), kernel_parameters_name(kernel),
                    first++, kernel.family, kernel.threads, kernel.shared_bytes,
                    kernel.synchronizes ? "GUF_MODULE_KERNEL_SYNCHRONIZES" : "0");
  }
  if (rows.empty()) return {};
  return fmt::format("{}static const guf_module_kernel kernels[] = {{\n{}}};\n", declarations,
                     rows);
}

// The note that the loader reads before any code of the module runs. gufcc fills in the digest
// after linking.
constexpr char kNote[] = R"(
extern const guf_module_v1 gufunc_module_v1 __attribute__((alias("%NAME%"), visibility("default")));
static const struct {
  uint32_t owner_size, descriptor_size, type;
  char owner[8];
  uint32_t version, kernel_abi;
  unsigned char digest[32];
} note __attribute__((section(".note.gufunc.module"), used, aligned(4))) =
    {7, 40, 0x6D01, "gufunc", 1, GUF_KERNEL_ABI, {0}};
)";

}  // namespace

std::string frame_name(size_t frame) {
  return fmt::format("guf_frame_{}", frame);
}

std::string generate_frames(const std::vector<std::string> &files) {
  std::string text = ".section .rodata.guf_frames, \"a\", @progbits\n";
  for (size_t i = 0; i < files.size(); ++i) {
    text += fmt::format(
        ".balign 256\n.globl {0}\n.hidden {0}\n.type {0}, @object\n{0}:\n.incbin {1}\n"
        ".size {0}, . - {0}\n.byte 0\n",
        frame_name(i), quoted(files[i]));
  }
  return text + ".section .note.GNU-stack, \"\", @progbits\n";
}

std::string generate_table(const Module &module, const std::vector<Target> &targets,
                           const std::vector<ImageRow> &device_images, bool as_shared) {
  const std::string symbol = "gufunc_module_v1_" + module.name;
  std::string text =
      "#include <gufunc/module_table.h>\n"
      "#define ENTRY(name) __attribute__((visibility(\"hidden\"))) void name(char **, const "
      "int64_t *, "
      "const int64_t *, void *)\n";
  std::string rows;
  const EntryCount count = count_entries(module);
  EntryCount next{0, count.kernels};
  for (size_t i = 0; i < module.functions.size(); ++i) {
    text += function_arrays(module.functions[i], i, &next);
    rows += function_row(module, i);
  }
  if (!rows.empty()) {
    text += fmt::format("static const guf_module_function functions[] = {{\n{}}};\n", rows);
  }
  text += image_arrays(module, targets, device_images);
  text += kernel_arrays(module, count.kernels + count.folds);
  const size_t nimages = targets.size() + device_images.size();
  text += fmt::format(
      "__attribute__((visibility(\"default\"))) extern const guf_module_v1 {0};\n"
      "const guf_module_v1 {0} = {{sizeof(guf_module_v1), GUF_KERNEL_ABI, {1}, {2}, {3}, {4}, {7}, "
      "{5}, {6}, {8}}};\n",
      symbol, c_string(module.name), module.functions.size(), nimages,
      count.kernels + count.folds + static_cast<int>(module.kernels.size()),
      rows.empty() ? "0" : "functions", nimages == 0 ? "0" : "images", module.kernels.size(),
      module.kernels.empty() ? "0" : "kernels");
  if (as_shared) {
    std::string note = kNote;
    note.replace(note.find("%NAME%"), 6, symbol);
    text += note;
  }
  return text;
}

}  // namespace gufunc::gufcc
