// SPDX-License-Identifier: Apache-2.0
// Compiles for an AMD device, because that front end detects what devices lack: calls of functions
// without GUF_DEVICE, variables, variable-length arrays, exceptions. Loops that no device can run
// are compiled for the host.
#include "rules_check.h"

#include <algorithm>

#include "compiler_output.h"

namespace gufunc::gufcc {
namespace {

constexpr char kVersion[] = "rules 1\n";  // key prefix of a unit that passed without messages

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
const Command kPromotion = {"-Wdouble-promotion"};
const Command kPromotionAlone = {"-Wno-everything", "-Wdouble-promotion", "-Wno-trigraphs"};

// Printing functions that kernels may call for debugging, declared for devices.
constexpr char kPrintingDeclarations[] =
    "#if defined(__HIP__)\nextern \"C\" {\n"
    "__attribute__((device)) int printf(const char *, ...);\n"
    "__attribute__((device)) int puts(const char *);\n"
    "__attribute__((device)) int putchar(int);\n}\n#endif\n";

bool has_any(const Loop &loop, const char *letters) {
  return (loop.inputs + loop.outputs).find_first_of(letters) != std::string::npos;
}
// A conversion between float and double may be intended.
bool mixes_floats(const LoopRef &ref) {
  return has_any(*ref.loop, "eEfF") && has_any(*ref.loop, "dD");
}
bool is_of_double(const LoopRef &ref) {
  return has_any(*ref.loop, "dD");
}

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
  bool check_half(const std::string &suffix, const std::vector<LoopRef> &loops,
                  const std::vector<const RawKernel *> &kernels, bool on_devices) {
    if (loops.empty() && kernels.empty()) return true;
    // In raw kernels conversions may be intended too.
    if (kernels.empty() && std::none_of(loops.begin(), loops.end(), mixes_floats)) {
      return compile(suffix, loops, kernels, on_devices, {kWarnings, kPromotion});
    }
    if (!compile(suffix, loops, kernels, on_devices, {kWarnings})) return false;
    std::vector<LoopRef> floats;
    std::remove_copy_if(loops.begin(), loops.end(), std::back_inserter(floats), is_of_double);
    if (floats.empty()) return true;
    return compile(suffix + "_float", floats, {}, on_devices, {kPromotionAlone});
  }

  bool compile(const std::string &suffix, const std::vector<LoopRef> &loops,
               const std::vector<const RawKernel *> &kernels, bool on_devices,
               const std::vector<Command> &warnings) {
    Compiler::Unit made;
    made.stem = unit_.stem + suffix;
    made.text = (compiler_->debugs() ? kPrintingDeclarations : "") +
                generate_rules(unit_.source, loops, kernels, on_devices);
    made.command = {compiler_->path()};
    for (const Command &part :
         {on_devices ? kDevice : kHostFrontEnd, kCommon, compiler_->system_include_flags()}) {
      made.command.insert(made.command.end(), part.begin(), part.end());
    }
    std::string text;
    if (!compiler_->expand(made, &text)) return false;
    for (const Command &part : warnings) {
      made.command.insert(made.command.end(), part.begin(), part.end());
    }
    made.command.emplace_back("-fsyntax-only");
    made.command.push_back(compiler_->work(made.stem + ".cpp").string());
    const std::filesystem::path passed = compiler_->work(made.stem + ".passed");
    return compiler_->make_cached(kVersion + command_line(warnings[0]) + text, made.stem, passed,
                                  [&] { return judge(made.command, passed); });
  }

  Compiler::Made judge(const Command &command, const std::filesystem::path &passed) {
    const ProcessResult result = run_process(command);
    std::string complaints = compiler_->call_complaints(result.output);
    if (complaints.empty()) {
      complaints =
          write_messages(in_terms_of_kernels(read_messages(compiler_->readable(result.output))));
    }
    compiler_->pass_on(command, complaints);
    if (result.status != 0) {
      compiler_->fail("the kernels do not compile");
      return Compiler::Made::kFailed;
    }
    if (!complaints.empty()) return Compiler::Made::kWithMessages;
    return compiler_->write(passed, kVersion) ? Compiler::Made::kSilently : Compiler::Made::kFailed;
  }

  const CheckedUnit &unit_;
  Compiler *const compiler_;
};

}  // namespace

bool check_rules(const CheckedUnit &unit, Compiler *compiler) {
  return Check(unit, compiler).run();
}

}  // namespace gufunc::gufcc
