// SPDX-License-Identifier: Apache-2.0
// Makes device images, one per target and unit. The images of a unit are a family. All images are
// packed into frames for the module's table.
#ifndef GUFUNC_TOOLS_GUFCC_DEVICE_IMAGES_H
#define GUFUNC_TOOLS_GUFCC_DEVICE_IMAGES_H

#include "device_tools.h"
#include "generate.h"

namespace gufunc::gufcc {

// An image as the compiler produced it.
struct PlainImage {
  const Target *target = nullptr;
  uint32_t family = 0;  // 1 + index of the translation unit
  std::string bytes;
};

// The input from which the images of one family are compiled.
struct DeviceUnit {
  uint32_t family = 0;
  std::string source;                // as typed
  std::string text;                  // text of the entries
  std::vector<std::string> entries;  // names of the entries
  std::string call_probe;
  FpMode fp = FpMode::kStrict;
};

class DeviceImages {
 public:
  DeviceImages(const Options &options, Compiler *compiler, std::filesystem::path work,
               Diagnostics *diagnostics)
      : options_(options),
        compiler_(compiler),
        work_(std::move(work)),
        diagnostics_(diagnostics),
        tools_(options, compiler, work_, diagnostics) {}

  // Selects the targets that can be compiled. `vendor`: a unit uses the vendor's mathematics.
  // Returns false if DeviceTools::locate returns false.
  bool choose(std::vector<Target> targets, bool vendor);

  bool requested() const { return !targets_.empty(); }

  // Compiles every unit for every target, on `workers` threads.
  bool compile(const std::vector<DeviceUnit> &units, int workers);

  // Packs the images into frames, which are written to the folder of intermediate files.
  bool pack(int workers);

  // Sorted by target, then by family.
  const std::vector<PlainImage> &images() const { return images_; }
  const std::vector<ImageRow> &rows() const { return rows_; }  // the same images, packed
  const std::vector<std::filesystem::path> &frames() const { return frames_; }

 private:
  bool compile_nvidia(const DeviceUnit &unit, size_t index);
  bool compile_amd(const DeviceUnit &unit, size_t index, size_t target);
  bool make_ptx(const DeviceUnit &unit, const Target &target,
                std::map<std::string, std::string> *known, std::string *out);
  bool assemble(const DeviceUnit &unit, const Target &target, const std::string &ptx,
                std::string *out);
  Compiler::Unit unit_for(const DeviceUnit &unit, const Target &target) const;
  PlainImage &image_of(size_t unit, size_t target);
  bool pack_frame(const std::vector<size_t> &members, size_t frame);
  void report_sizes() const;

  const Options &options_;
  Compiler *const compiler_;
  const std::filesystem::path work_;
  Diagnostics *const diagnostics_;
  DeviceTools tools_;
  std::vector<Target> targets_;
  size_t nunits_ = 0;
  std::vector<DeviceUnit> units_;
  std::vector<PlainImage> images_;
  std::vector<ImageRow> rows_;
  std::vector<std::filesystem::path> frames_;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_DEVICE_IMAGES_H
