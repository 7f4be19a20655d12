// SPDX-License-Identifier: Apache-2.0
// Compiles for an AMD device, because clang then reports the use of anything that devices lack:
// functions without GUF_DEVICE, global variables, variable-length arrays, exceptions. Loops that no
// device can run are compiled for the host. The code is not optimized, so it contains each variable
// and each conversion of the source.
#include "rules_check.h"

#include <algorithm>

#include "compiler.h"
#include "compiler_output.h"
#include "entry_text.h"
#include "files.h"
#include "llvm_code.h"

namespace gufunc::gufcc {
namespace {

// The first part of the cache keys. The cache contains only units that passed without messages.
constexpr char kVersion[] = "rules 2\n";

const Command kCommon = {"-std=c++17", "-fno-exceptions", "-fno-rtti", "-ferror-limit=0"};
const Command kDevice = {"-x",        "hip",       "--cuda-device-only",
                         "-nogpuinc", "-nogpulib", "--offload-arch=gfx1100"};
const Command kHostFrontEnd = {"-x", "c++"};
const Command kWarnings = {"-Wall",
                           "-Wextra",
                           "-Wshadow",
                           "-Werror=vla",
                           "-Werror=infinite-recursion",
                           "-Werror=gnu-label-as-value",
                           "-Wno-unknown-warning-option",
                           "-Wno-trigraphs",
                           "-Wno-pass-failed"};
const Command kNoWarnings = {"-Wno-everything", "-Wno-trigraphs"};
// Warnings about conversions between float and double. In a loop of float, only the conversion to
// double is reported, because the conversion back is a consequence of it.
const Command kFloatPrecision = {"-Wdouble-promotion"};
const Command kDoublePrecision = {"-Wdouble-promotion", "-Wimplicit-float-conversion",
                                  "-Wno-implicit-int-float-conversion"};

// Printing functions that kernels may call for debugging, declared for devices.
constexpr char kPrintingDeclarations[] =
    "#if defined(__HIP__)\nextern \"C\" {\n"
    "__attribute__((device)) int printf(const char *, ...);\n"
    "__attribute__((device)) int puts(const char *);\n"
    "__attribute__((device)) int putchar(int);\n}\n#endif\n";

bool has_any(const Loop &loop, const char *letters) {
  return (loop.inputs + loop.outputs).find_first_of(letters) != std::string::npos;
}
// Whether a loop has operands of float and of double, so that a conversion between them may be
// intended.
bool mixes_floats(const LoopRef &ref) {
  return has_any(*ref.loop, "eEfF") && has_any(*ref.loop, "dD");
}
bool is_of(const LoopRef &ref, LoopKind kind) {
  return has_any(*ref.loop, kind == LoopKind::kDouble ? "dD" : "eEfF") && !mixes_floats(ref);
}
std::vector<LoopRef> loops_of(const std::vector<LoopRef> &all, LoopKind kind) {
  std::vector<LoopRef> loops;
  std::copy_if(all.begin(), all.end(), std::back_inserter(loops),
               [&](const LoopRef &ref) { return is_of(ref, kind); });
  return loops;
}

// One compilation of a part of a unit.
struct Pass {
  std::string suffix;  // suffix of the intermediate files
  std::vector<LoopRef> loops;
  std::vector<const RawKernel *> kernels;
  bool on_devices = true;
  Command warnings;
  LoopKind kind = LoopKind::kAny;
  bool narrows = false;           // reports narrowed integers
  bool defers_precision = false;  // later passes report conversions between float and double
};

class Check {
 public:
  Check(const CheckedUnit &unit, Compiler *compiler) : unit_(unit), compiler_(compiler) {}

  bool run() {
    std::vector<LoopRef> host_alone, loops;
    for (const LoopRef &ref : unit_.loops) {
      (why_not_on_devices(*ref.function, *ref.loop).empty() ? loops : host_alone).push_back(ref);
    }
    return check_half("", loops, unit_.kernels, true) && check_half("_host", host_alone, {}, false);
  }

 private:
  // Checks either the loops and kernels that devices can run, or the other loops, which are
  // compiled for the host. In raw kernels, and in loops of both float and double, conversions
  // between float and double may be intended, so they are not reported.
  bool check_half(const std::string &suffix, const std::vector<LoopRef> &loops,
                  const std::vector<const RawKernel *> &kernels, bool on_devices) {
    if (loops.empty() && kernels.empty()) return true;
    const std::vector<LoopRef> floats = loops_of(loops, LoopKind::kFloat);
    const std::vector<LoopRef> doubles = loops_of(loops, LoopKind::kDouble);
    const bool is_uniform =
        kernels.empty() && std::none_of(loops.begin(), loops.end(), mixes_floats);
    Pass all{suffix, loops, kernels, on_devices, kWarnings};
    all.narrows = kernels.empty();
    if (is_uniform) {
      all.kind = floats.empty() ? LoopKind::kDouble : LoopKind::kFloat;
      all.defers_precision = !floats.empty() && !doubles.empty();
      all.warnings = joined({kWarnings, doubles.empty() ? kFloatPrecision : kDoublePrecision});
    }
    if (!compile(all)) return false;
    if (!kernels.empty() && !loops.empty()) {
      Pass integers{suffix + "_integer", loops, {}, on_devices, kNoWarnings};
      integers.narrows = true;
      if (!compile(integers)) return false;
    }
    if (is_uniform && !found_precision_) return true;
    return compile_precision(suffix + "_float", floats, on_devices, LoopKind::kFloat) &&
           compile_precision(suffix + "_double", doubles, on_devices, LoopKind::kDouble);
  }

  bool compile_precision(const std::string &suffix, const std::vector<LoopRef> &loops,
                         bool on_devices, LoopKind kind) {
    if (loops.empty()) return true;
    Pass pass{suffix, loops, {}, on_devices, kNoWarnings, kind};
    pass.warnings =
        joined({kNoWarnings, kind == LoopKind::kDouble ? kDoublePrecision : kFloatPrecision});
    return compile(pass);
  }

  bool compile(const Pass &pass) {
    Compiler::Unit made;
    made.stem = unit_.stem + pass.suffix;
    made.text = (compiler_->debugs() ? kPrintingDeclarations : "") +
                generate_rules(unit_.source, pass.loops, pass.kernels, pass.on_devices);
    made.command = joined({{compiler_->path()},
                           pass.on_devices ? kDevice : kHostFrontEnd,
                           kCommon,
                           compiler_->system_include_flags()});
    std::string text;
    if (!compiler_->expand(made, &text)) return false;
    const std::filesystem::path passed = compiler_->work(made.stem + ".passed");
    const std::filesystem::path code = compiler_->work(made.stem + ".ll");
    const Command command = joined({made.command,
                                    pass.warnings,
                                    pass.narrows ? mark_conversions_flags() : Command(),
                                    unoptimized_code_flags(code.string()),
                                    {compiler_->work(made.stem + ".cpp").string()}});
    return compiler_->make_cached(kVersion + command_line(pass.warnings) + text, made.stem, passed,
                                  [&] { return judge(pass, command, code, passed); });
  }

  Compiler::Made judge(const Pass &pass, const Command &command,
                       const std::filesystem::path &code_file,
                       const std::filesystem::path &passed) {
    const ProcessResult result = run_process(command);
    if (compiler_->is_storage_failure(result)) return Compiler::Made::kFailed;
    std::string complaints = compiler_->call_complaints(result.output);
    if (complaints.empty()) complaints = readable_messages(pass, result.output);
    bool good = result.status == 0;
    if (good) {
      std::string code;
      if (!compiler_->read(code_file, &code)) return Compiler::Made::kFailed;
      const std::string large = report(find_large_stacks(code), "error");
      good = large.empty();
      complaints += large;
      if (pass.narrows) complaints += report(find_narrowed_integers(code), "warning");
    }
    compiler_->pass_on(command, complaints);
    if (!good) {
      compiler_->fail("the kernels do not compile");
      return Compiler::Made::kFailed;
    }
    if (!complaints.empty() || found_precision_) return Compiler::Made::kWithMessages;
    return compiler_->write(passed, kVersion) ? Compiler::Made::kSilently : Compiler::Made::kFailed;
  }

  std::string readable_messages(const Pass &pass, const std::string &output) {
    std::vector<CompilerMessage> messages = read_messages(compiler_->readable(output));
    if (pass.defers_precision) {
      found_precision_ |= std::erase_if(messages, is_about_precision) > 0;
    }
    return write_messages(in_terms_of_kernels(std::move(messages), pass.kind));
  }

  // Writes findings in the user's sources as messages.
  std::string report(const std::vector<CodeFinding> &findings, const char *kind) const {
    std::string text;
    for (const CodeFinding &finding : findings) {
      const bool is_ours = finding.place.starts_with(compiler_->headers().string()) ||
                           finding.place.starts_with("/usr/include/") ||
                           finding.place.starts_with("/usr/lib/") ||
                           finding.place.find(kEntriesFile) != std::string::npos;
      const std::string line =
          compiler_->readable(fmt::format("{}: {}: {}\n", finding.place, kind, finding.message));
      if (!is_ours && text.find(line) == std::string::npos) text += line;
    }
    return text;
  }

  const CheckedUnit &unit_;
  Compiler *const compiler_;
  bool found_precision_ = false;
};

}  // namespace

bool check_rules(const CheckedUnit &unit, Compiler *compiler) {
  return Check(unit, compiler).run();
}

}  // namespace gufunc::gufcc
