// SPDX-License-Identifier: Apache-2.0
// Generators of the code that gufcc compiles: the entries of each loop, and the table of the
// module.
#ifndef GUFUNC_TOOLS_GUFCC_GENERATE_H
#define GUFUNC_TOOLS_GUFCC_GENERATE_H

#include <set>
#include <string>
#include <vector>

#include "registration.h"
#include "targets.h"

namespace gufunc::gufcc {

// A loop and its function.
struct LoopRef {
  const Function *function = nullptr;
  const Loop *loop = nullptr;
};

// The #include lines at the start of a translation unit for `source`.
std::string include_lines(const std::string &source, const std::vector<LoopRef> &loops);

// Symbol of a host entry: "guf_ew_add_ff_f__v3".
std::string host_entry_name(const Loop &loop, const Target &target);

// Whether the loop also gets a fold entry, as loops (X, X) -> X do. If the function is associative
// and commutative, the entry is a tree reduction, which regroups and reorders the elements.
bool has_fold(const Function &function, const Loop &loop);
// Symbol of a fold entry: "guf_ew_add_ff_f_fd__v3".
std::string fold_entry_name(const Loop &loop, const Target &target);

// A translation unit that includes `source` and instantiates the host entries of each loop. The
// loops whose numbers are in `on_stack` do not promise that their iterations are independent.
std::string generate_host_entries(const std::string &source, const std::vector<LoopRef> &loops,
                                  const Target &target, const std::set<int> &on_stack = {});

// A translation unit that only calls each function once, with the line of its registration.
std::string generate_probes(const std::string &source, const std::vector<LoopRef> &loops);

// A translation unit that reports wrong functions with failing static assertions, at the line of
// the registration: a function that does not accept the arguments that its loop passes, or whose
// result does not convert to the loop's output. The message follows kCallMark. Where the message
// needs a type that only the compiler knows, it contains kResultType. The assertion passes the type
// to a template whose name starts with kTypeProbe, and gufcc reads the type from clang's output.
std::string generate_call_probes(const std::string &source, const std::vector<LoopRef> &loops,
                                 const char *space = "host");
inline constexpr char kCallMark[] = ": gufcc: ";
inline constexpr char kTypeProbe[] = "guf_probe_type_";  // prefix of the names of such templates
inline constexpr char kResultType[] = "%TYPE%";
// Prefix of the names of probes.
inline constexpr char kProbeName[] = "guf_probe_";

// A translation unit with the assertions of generate_call_probes, with assertions that fail for a
// parameter or result that is narrower than the loop's type and for an output parameter that is not
// writable, and with one call of each function (from device code if on_devices). The unit does not
// compile if some backend would refuse the source.
std::string generate_rules(const std::string &source, const std::vector<LoopRef> &loops,
                           const std::vector<const RawKernel *> &kernels, bool on_devices);

// Types of the arguments that a loop passes to its function. `space` is host or device.
std::vector<std::string> argument_types(const Function &function, const Loop &loop,
                                        const char *space);

// The functions that have entries in the device image of a unit.
struct DeviceEntries {
  std::vector<LoopRef> loops;
  std::vector<const PlainEntry *> plain;
  std::vector<const RawKernel *> kernels;
};

// Returns why a loop cannot run on devices ("13 operands, at most 12"), or "" if it can.
std::string why_not_on_devices(const Function &function, const Loop &loop);

// A translation unit with the device entries of each loop, for every device compiler.
std::string generate_device_entries(const std::string &source, const DeviceEntries &entries);

// The symbols of the device entries, and the symbol of the record that the --emulate file contains
// for an entry (work_item.hpp, emulated_kernel).
std::vector<std::string> device_entry_names(const DeviceEntries &entries);
std::string emulation_record_name(const std::string &entry);

// A device image in the module's table.
struct ImageRow {
  std::string format, target;  // such as "GUF_IMAGE_PTX", "ptx_75"
  uint32_t family = 0;
  size_t frame = 0;                // index of the frame; its symbol is frame_name(frame)
  uint64_t size = 0;               // bytes of the frame
  uint64_t inflated_size = 0;      // bytes after decompression; 0: not compressed
  uint64_t offset = 0, bytes = 0;  // position of the image in the decompressed frame
};
std::string frame_name(size_t frame);

// The C source of the table gufunc_module_v1_<name>, which lists the host images of `targets` and
// then the device images. With `as_shared`, the source also defines the alias gufunc_module_v1 and
// the ELF note that will contain the digest.
std::string generate_table(const Module &module, const std::vector<Target> &targets,
                           const std::vector<ImageRow> &device_images, bool as_shared);

// An assembler source that includes the files at the symbols of frames, each followed by a NUL.
std::string generate_frames(const std::vector<std::string> &files);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_GENERATE_H
