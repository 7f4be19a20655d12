// SPDX-License-Identifier: Apache-2.0
// Generates the entries for the host and for devices. Entries call the user's function on a line
// that has the number of the registration. Therefore the compiler reports an error in the
// parameters at the registration, and an error in the body of the function where the body is.
//
// On devices, a loop gets one entry for each row of kRows whose `when` accepts the loop. A new kind
// of entry needs a new row, and a new case in class_text if it uses a new class of the dialect.
#include <gufunc/status.h>

#include <algorithm>

#include "entry_text.h"
#include "generate.h"
#include "kernel_entries.h"

namespace gufunc::gufcc {
namespace {

// Returns a host entry. If an element fails, the entry returns GUF_E_VALUE, which the library
// reports with the failure text of the function.
std::string entry_text(const std::string &name, const std::string &type, bool may_fail) {
  const std::string call = type + "::run(args, dims, steps)";
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"hidden\"))) {} {}(char **args, const guf::i64 "
      "*dims, const guf::i64 *steps, void *) {{ {}; }}\n",
      may_fail ? "int" : "void", name,
      may_fail ? fmt::format("return {} ? {} : {}", call, +GUF_E_VALUE, +GUF_OK) : call);
}

// Returns the class of the fold entry. guf::host::chain combines from left to right, and
// guf::host::fold, the tree reduction, is only for functions that allow regrouping the elements.
std::string fold_type(const Function &function, const Loop &loop, const std::string &callee,
                      const char *independent) {
  const char *storage = find_letter(loop.inputs[0])->storage;
  const char *may_fail = loop.may_fail ? "true" : "false";
  if (!function.associative || !function.commutative) {
    return fmt::format("guf::host::chain<{}, {}, {}>", callee, storage, may_fail);
  }
  return fmt::format("guf::host::fold<{}, {}, {}, {}>", callee, storage, may_fail, independent);
}

constexpr char kBatchSuffix[] = "_batch";  // ends the name of the callee that computes batches

// Returns the class of the host entry of a generalized function.
std::string generalized_type(const Function &function, const Loop &loop,
                             const std::string &callee) {
  const std::string operands = operand_list(function, loop, "host");
  std::string type = fmt::format(
      "guf::host::{}<{}, {}, {}, {}>", function.overwrites ? "overwriting" : "generalized", callee,
      loop.cooperative ? "true" : "false", loop.may_fail ? "true" : "false", operands);
  if (loop.batch.empty()) return type;
  Function plain = function;  // a batch already contains copies of its items
  plain.overwrites = false;
  return fmt::format("guf::host::batched<{}{}, {}, {}>", callee, kBatchSuffix, type,
                     operand_list(plain, loop, "host"));
}

// Classes of guf::device whose methods become entries.
enum class EntryClass { kElementwise, kGeneralized, kFold, kMixedFold, kUnaryFold };
constexpr const char *kClassWords[] = {"elementwise", "generalized", "fold", "mixed_fold",
                                       "unary_fold"};  // in type names

struct EntryRow {
  const char *suffix;   // end of the symbol, after the loop's stem
  EntryClass of;        // class of the method
  const char *method;   // called with the block and the arguments that the flags below request
  const char *block;    // member type of the class, passed by value
  const char *threads;  // maximum threads of a block
  bool (*when)(const Function &function, const Loop &loop);
  bool takes_bases;     // passes `char *const *base`, one per operand, from block.address
  bool accepts_shared;  // passes `char *shared`, memory that the launch allocates
  bool synchronizes;    // may use barriers or sub-group shuffles
  bool in_opencl;       // compiles as OpenCL C++; requires takes_bases
};

bool is_elementwise(const Function &function, const Loop & /*loop*/) {
  return !function.generalized();
}
bool is_cooperative(const Function &function, const Loop &loop) {
  return function.generalized() && loop.cooperative;
}
// The `lanes` entry provides no group memory, so only functions that use no group memory have a
// `lanes` entry.
bool is_cooperative_without_memory(const Function &function, const Loop &loop) {
  return is_cooperative(function, loop) && !loop.declares_shared;
}
bool is_of_one_thread(const Function &function, const Loop &loop) {
  return function.generalized() && !(loop.cooperative && loop.declares_shared);
}

// Whether a loop is (X, X) -> X and its function allows regrouping the elements of a reduction.
bool has_tree(const Function &function, const Loop &loop) {
  return has_fold(function, loop) && function.associative && function.commutative;
}
// Whether a loop is (X, X) -> X and its function does not allow regrouping, so that reductions must
// combine from left to right.
bool has_left_fold(const Function &function, const Loop &loop) {
  return has_fold(function, loop) && !has_tree(function, loop);
}
// Whether a loop is (X, Y) -> X.
bool has_mixed_fold(const Function &function, const Loop &loop) {
  return !function.generalized() && loop.inputs.size() == 2 && loop.outputs.size() == 1 &&
         find_letter(loop.inputs[0]) == find_letter(loop.outputs[0]) && !has_fold(function, loop);
}
// Whether a loop is X -> X.
bool has_unary_fold(const Function &function, const Loop &loop) {
  return !function.generalized() && loop.inputs.size() == 1 && loop.outputs.size() == 1 &&
         find_letter(loop.inputs[0]) == find_letter(loop.outputs[0]);
}

constexpr EntryRow kRows[] = {
    {"_row", EntryClass::kElementwise, "row", "row_type", "guf::device::kThreads", is_elementwise,
     true, false, false, true},
    {"_nd", EntryClass::kElementwise, "nd", "nd_type", "guf::device::kThreads", is_elementwise,
     true, false, false, true},
    {"_thread", EntryClass::kGeneralized, "thread", "block", "guf::device::kItemThreads",
     is_of_one_thread, true, false, false, true},
    {"_staged", EntryClass::kGeneralized, "staged", "staged_type", "guf::device::kItemThreads",
     is_of_one_thread, true, true, true, false},
    {"_lanes", EntryClass::kGeneralized, "lanes", "block", "guf::device::kItemThreads",
     is_cooperative_without_memory, true, false, true, false},
    {"_block", EntryClass::kGeneralized, "whole_block", "block", "guf::device::kItemThreads",
     is_cooperative, true, true, true, false},
    {"_leaves", EntryClass::kFold, "leaves", "tree", "guf::device::kFoldThreads", has_tree, false,
     true, true, false},
    {"_join", EntryClass::kFold, "join", "tree", "guf::device::kFoldThreads", has_tree, false, true,
     true, false},
    {"_fold", EntryClass::kFold, "from_left", "chain", "guf::device::kFoldThreads", has_left_fold,
     false, false, false, false},
    {"_scan", EntryClass::kFold, "scan", "scan_rows", "guf::device::kScanThreads", has_fold, false,
     true, true, false},
    {"_at", EntryClass::kFold, "at", "targets", "guf::device::kFoldThreads", has_fold, false, false,
     false, false},
    {"_fold", EntryClass::kMixedFold, "from_left", "chain", "guf::device::kFoldThreads",
     has_mixed_fold, false, false, false, false},
    {"_at", EntryClass::kUnaryFold, "at", "targets", "guf::device::kFoldThreads", has_unary_fold,
     false, false, false, false},
};

std::string class_text(EntryClass of, const Function &function, const Loop &loop,
                       const std::string &callee) {
  switch (of) {
    case EntryClass::kElementwise:
      return fmt::format("guf::device::elementwise<{}, guf::types<{}>, guf::types<{}>{}>", callee,
                         type_list(loop.inputs), type_list(loop.outputs),
                         loop.may_fail ? ", true" : "");
    case EntryClass::kGeneralized:
      return fmt::format("guf::device::generalized<{}, {}{}, {}>", callee,
                         loop.cooperative ? "true" : "false", loop.may_fail ? ", true" : ", false",
                         operand_list(function, loop, "device"));
    case EntryClass::kFold:
    case EntryClass::kUnaryFold:
      return fmt::format("guf::device::{}<{}, {}, {}>", kClassWords[static_cast<size_t>(of)],
                         callee, type_list(loop.inputs.substr(0, 1)),
                         loop.may_fail ? "true" : "false");
    case EntryClass::kMixedFold:
      return fmt::format("guf::device::mixed_fold<{}, {}, {}>", callee, type_list(loop.inputs),
                         loop.may_fail ? "true" : "false");
  }
  return {};
}

// The parts of an entry and of the call that it contains.
struct EntryCall {
  std::string name;      // name of the entry
  std::string block;     // type of the block
  std::string function;  // called with (p[, base][, shared])
  std::string threads;
  size_t nbases = 0;  // number of base addresses to pass
  bool accepts_shared = false, synchronizes = false, in_opencl = false;
};

std::string bases(const EntryCall &call, const char *each) {
  if (call.nbases == 0) return {};
  std::string text;
  for (size_t i = 0; i < call.nbases; ++i) {
    text += fmt::format("{}(char *){}", i == 0 ? "" : ", ", fmt::format(fmt::runtime(each), i));
  }
  return fmt::format("char *const base[] = {{{}}}; ", text);
}

std::string opencl_entry(const EntryCall &call) {
  if (!call.in_opencl) return {};
  std::string arguments;
  for (size_t i = 0; i < call.nbases; ++i) arguments += fmt::format(", __global char *p{}", i);
  return fmt::format("GUF_GLOBAL({}) {}({} p{}{}) {{ {}{}(p{}{}); }}\n", call.threads, call.name,
                     call.block, arguments, call.accepts_shared ? ", __local char *shared" : "",
                     bases(call, "p{}"), call.function, call.nbases > 0 ? ", base" : "",
                     call.accepts_shared ? ", (char *)shared" : "");
}

// Entries for CUDA and HIP read the addresses of operands from the block; OpenCL needs the
// addresses as separate arguments. In the --emulate file, an entry is a function that runs one
// work-item, and a record describes the entry for the table of the file.
std::string device_entry_text(const EntryCall &call) {
  const std::string called =
      fmt::format("{}{}(p{}{});", bases(call, "p.address[{}]"), call.function,
                  call.nbases > 0 ? ", base" : "", call.accepts_shared ? ", guf_shared" : "");
  return fmt::format(
      "#if defined(GUF_OPENCL)\n"
      "{0}"
      "#elif defined(GUF_EMULATE)\n"
      "extern \"C\" void {1}(guf::device::work_item *item, const void *arguments) {{ "
      "guf::device::current_item = item; const {2} p = *(const {2} *)arguments; {3}{4} }}\n"
      "extern \"C\" {{ extern const guf::device::emulated_kernel {5}; const "
      "guf::device::emulated_kernel "
      "{5} = {{\"{1}\", &{1}, sizeof({2}), {6}, {7}, 0}}; }}\n"
      "#else\n"
      "GUF_GLOBAL({6}) {1}(const {2} p) {{ {8}{4} }}\n"
      "#endif\n",
      opencl_entry(call), call.name, call.block,
      call.accepts_shared ? "char *const guf_shared = item->shared; " : "", called,
      emulation_record_name(call.name), call.threads, call.synchronizes ? 1 : 0,
      call.accepts_shared ? "extern __attribute__((shared, aligned(16))) char guf_shared[]; " : "");
}

// Hides the text of an entry from OpenCL C++ if that language cannot compile the entry.
std::string for_device_compilers(const EntryRow &row, const std::string &text) {
  return row.in_opencl ? text : "#if !defined(GUF_OPENCL)\n" + text + "#endif\n";
}

std::string loop_entries(const Function &function, const Loop &loop, int number) {
  const std::string callee = fmt::format("{}{}", kCalleeName, number);
  std::string text = callee_struct(loop, callee);

  std::set<std::string> defined;
  for (const EntryRow &row : kRows) {
    if (!row.when(function, loop)) continue;
    const std::string type =
        fmt::format("guf_{}_{}", kClassWords[static_cast<size_t>(row.of)], number);
    const std::string block = fmt::format("{}::{}", type, row.block);
    if (defined.insert(type).second) {
      text += for_device_compilers(
          row, fmt::format("typedef {} {};\n", class_text(row.of, function, loop, callee), type));
    }
    // clang-15 accepts a struct as an OpenCL kernel argument only if it is already instantiated.
    if (defined.insert(block).second) {
      text +=
          for_device_compilers(row, fmt::format("static_assert(sizeof({}) > 0, \"\");\n", block));
    }
    text += device_entry_text({loop.stem + row.suffix, block,
                               fmt::format("{}::{}", type, row.method), row.threads,
                               row.takes_bases ? loop.inputs.size() + loop.outputs.size() : 0,
                               row.accepts_shared, row.synchronizes, row.in_opencl});
  }
  return text;
}

// Returns a struct whose call of the user's function has the line number of the registration.
std::string plain_callee(const PlainEntry &entry, const std::string &name) {
  const bool shared = entry.accepts_shared;
  return fmt::format(
      "#if !defined(GUF_OPENCL)\n"
      "# {} {}\n"
      "struct {} {{ static GUF_DEVICE_ONLY void call(const {} &p{}) {{ ::{}(p{}); }} }};\n"
      "# 1 \"{}\"\n"
      "#endif\n",
      entry.place.line, quoted(entry.place.file), name, entry.block, shared ? ", char *shared" : "",
      entry.callee, shared ? ", shared" : "", kEntriesFile);
}

}  // namespace

bool has_fold(const Function &function, const Loop &loop) {
  if (function.generalized() || loop.inputs.size() != 2 || loop.outputs.size() != 1) return false;
  return find_letter(loop.inputs[0]) == find_letter(loop.inputs[1]) &&
         find_letter(loop.inputs[0]) == find_letter(loop.outputs[0]);
}

std::string fold_entry_name(const Loop &loop, const Target &target) {
  return loop.stem + "_fd__" + target.suffix;
}

std::string host_entry_name(const Loop &loop, const Target &target) {
  return loop.stem + "__" + target.suffix;
}

std::string generate_host_entries(const std::string &source, const std::vector<LoopRef> &loops,
                                  const Target &target, const std::set<int> &on_stack) {
  std::string text = include_lines(source, loops);
  int number = 0;
  for (const auto &[function, loop] : loops) {
    const char *independent = on_stack.contains(number) ? "false" : "true";
    const std::string callee = fmt::format("{}{}", kCalleeName, number++);
    const char *may_fail = loop->may_fail ? "true" : "false";
    const std::string loop_type =
        function->generalized()
            ? generalized_type(*function, *loop, callee)
            : fmt::format("guf::host::elementwise<{}, guf::types<{}>, guf::types<{}>, {}, {}>",
                          callee, type_list(loop->inputs), type_list(loop->outputs), may_fail,
                          independent);
    text += fmt::format("namespace {{\n{}}}\n", callee_struct(*loop, callee));
    if (!loop->batch.empty()) {
      Loop batch = *loop;
      batch.callee = loop->batch;
      text += fmt::format("namespace {{\n{}}}\n", callee_struct(batch, callee + kBatchSuffix));
    }
    text += entry_text(host_entry_name(*loop, target), loop_type, loop->may_fail);
    if (has_fold(*function, *loop)) {
      text += entry_text(fold_entry_name(*loop, target),
                         fold_type(*function, *loop, callee, independent), loop->may_fail);
    }
  }
  return text;
}

std::string include_lines(const std::string &source, const std::vector<LoopRef> &loops) {
  const bool overwrites = std::any_of(
      loops.begin(), loops.end(), [](const LoopRef &each) { return each.function->overwrites; });
  const bool has_batch = std::any_of(loops.begin(), loops.end(),
                                     [](const LoopRef &each) { return !each.loop->batch.empty(); });
  return fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n{}{}", quoted(source),
                     overwrites ? "#include <gufunc/kernel/overwritten.hpp>\n" : "",
                     has_batch ? "#include <gufunc/kernel/host_batch.hpp>\n" : "");
}

std::string emulation_record_name(const std::string &entry) {
  return entry + "_record";
}

std::string why_not_on_devices(const Function &function, const Loop &loop) {
  constexpr size_t kMaxOperands = 12, kMaxCoreDims = 4;
  constexpr int kMaxCoreNames = 8;
  const size_t operands = loop.inputs.size() + loop.outputs.size();
  if (operands > kMaxOperands) {
    return fmt::format("{} operands, at most {}", operands, kMaxOperands);
  }
  int names = 0;
  for (const std::vector<int> &dims : function.core_dims) {
    if (dims.size() > kMaxCoreDims) {
      return fmt::format("an operand of {} core dimensions, at most {}", dims.size(), kMaxCoreDims);
    }
    for (const int dim : dims) names = std::max(names, dim + 1);
  }
  if (names > kMaxCoreNames) {
    return fmt::format("{} core dimensions, at most {}", names, kMaxCoreNames);
  }
  return {};
}

std::vector<std::string> device_entry_names(const DeviceEntries &entries) {
  std::vector<std::string> names;
  for (const auto &[function, loop] : entries.loops) {
    for (const EntryRow &row : kRows) {
      if (row.when(*function, *loop)) names.push_back(loop->stem + row.suffix);
    }
  }
  for (const PlainEntry *entry : entries.plain) names.push_back(entry->name);
  for (const RawKernel *kernel : entries.kernels) names.push_back(kernel->symbol);
  return names;
}

std::string generate_device_entries(const std::string &source, const DeviceEntries &entries) {
  std::string text = include_lines(source, entries.loops);
  int number = 0;
  for (const auto &[function, loop] : entries.loops) {
    text += loop_entries(*function, *loop, number++);
  }
  for (const PlainEntry *entry : entries.plain) {
    const std::string callee = fmt::format("{}{}", kCalleeName, number++);
    text += plain_callee(*entry, callee);
    text += device_entry_text({entry->name, entry->block, callee + "::call", entry->threads, 0,
                               entry->accepts_shared, entry->accepts_shared, false});
  }
  if (!entries.kernels.empty()) text += "#include <gufunc/raw_kernel.hpp>\n";
  for (const RawKernel *kernel : entries.kernels) {
    const std::string callee = fmt::format("{}{}", kCalleeName, number++);
    text += device_kernel_callee(*kernel, callee);
    text += device_entry_text({kernel->symbol, callee + "::arguments", callee + "::call",
                               std::to_string(kernel->threads), 0, kernel->declares_shared,
                               kernel->synchronizes, false});
  }
  return text;
}

}  // namespace gufunc::gufcc
