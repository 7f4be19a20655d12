// SPDX-License-Identifier: Apache-2.0
// The texts that gufcc writes and compiles: entries per loop, and the table of the module.
#ifndef GUFUNC_TOOLS_GUFCC_GENERATE_H
#define GUFUNC_TOOLS_GUFCC_GENERATE_H

#include <set>
#include <string>
#include <vector>

#include "registration.h"
#include "targets.h"

namespace gufunc::gufcc {

// A loop and the function it belongs to.
struct LoopRef {
  const Function *function = nullptr;
  const Loop *loop = nullptr;
};

// The symbol of a host entry: "guf_ew_add_ff_f__v3".
std::string host_entry_name(const Loop &loop, const Target &target);

// Whether the loop also gets a fold entry: (X, X) -> X. Of a function that is associative and
// commutative it serves the tree, which regroups the elements and takes them in another order.
bool has_fold(const Function &function, const Loop &loop);
// "guf_ew_add_ff_f_fd__v3"
std::string fold_entry_name(const Loop &loop, const Target &target);

// A translation unit that includes `source` and instantiates the host entries of each loop; of
// those in `on_stack`, by their number, without the promise that iterations share nothing.
std::string generate_host_entries(const std::string &source, const std::vector<LoopRef> &loops,
                                  const Target &target, const std::set<int> &on_stack = {});

// A translation unit that calls each function once, on the line of its registration, and does
// nothing else.
std::string generate_probes(const std::string &source, const std::vector<LoopRef> &loops);

// A translation unit in which a static assertion fails, on the line of the registration and with a
// text behind kCallMark, for each function that takes another number of parameters than its loop
// passes, or returns what is not converted to the loop's output; the type of that, which the
// compiler knows, is the first argument of a kTypeProbe and belongs where the text has kResultType.
std::string generate_call_probes(const std::string &source, const std::vector<LoopRef> &loops,
                                 const char *space = "host");
inline constexpr char kCallMark[] = ": gufcc: ";
inline constexpr char kTypeProbe[] = "guf_probe_type_";  // what such assertions begin with
inline constexpr char kResultType[] = "%TYPE%";
// What the names of probes start with.
inline constexpr char kProbeName[] = "guf_probe_";

// A translation unit with these assertions, others about parameters and results that are narrower
// than their loop or cannot be written, and one call of each function, on_devices from device code:
// what some backend would refuse does not compile.
std::string generate_rules(const std::string &source, const std::vector<LoopRef> &loops,
                           const std::vector<const RawKernel *> &kernels, bool on_devices);

// The types of what a loop passes to its function; space: host or device.
std::vector<std::string> argument_types(const Function &function, const Loop &loop,
                                        const char *space);

// What the device image of a unit has entries of.
struct DeviceEntries {
  std::vector<LoopRef> loops;
  std::vector<const PlainEntry *> plain;
  std::vector<const RawKernel *> kernels;
};

// Why a loop cannot run on devices ("13 operands, at most 12"); empty when it can.
std::string why_not_on_devices(const Function &function, const Loop &loop);

// A translation unit with the entries of each loop for devices, whatever the front end.
std::string generate_device_entries(const std::string &source, const DeviceEntries &entries);

// The symbols of these entries; of an entry's record in the sidecar (work_item.hpp, items_kernel).
std::vector<std::string> device_entry_names(const DeviceEntries &entries);
std::string items_record_name(const std::string &entry);

// A device image as the table describes it.
struct ImageRow {
  std::string format, target;  // "GUF_IMAGE_PTX", "ptx_75"
  uint32_t family = 0;
  size_t frame = 0;                // its bytes are those of the symbol frame_name(frame)
  uint64_t size = 0;               // of the frame
  uint64_t inflated_size = 0;      // of what it inflates to; 0: it is not compressed
  uint64_t offset = 0, bytes = 0;  // of the image in that
};
std::string frame_name(size_t frame);

// The C source of the table gufunc_module_v1_<name>: host images of `targets`, then the device
// images. as_shared adds the alias and the digest note.
std::string generate_table(const Module &module, const std::vector<Target> &targets,
                           const std::vector<ImageRow> &device_images, bool as_shared);

// The assembler source that puts files between the symbols of frames, each with a NUL behind it.
std::string generate_frames(const std::vector<std::string> &files);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_GENERATE_H
