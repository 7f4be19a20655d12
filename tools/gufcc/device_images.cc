// SPDX-License-Identifier: Apache-2.0
// The NVIDIA images of a unit are made one after the other, because they usually share one PTX
// text. The AMD images are independent of each other. Slow steps use the object cache. Frames are
// compressed with zstd.
#include "device_images.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "files.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

constexpr int kLevel = 19;
constexpr int kMinWindow = 20, kMaxWindow = 27;  // log2; every decoder supports 27

// The window covers the whole frame, so that an image can refer to any earlier similar image.
int window_of(size_t size) {
  int log = kMinWindow;
  while (log < kMaxWindow && (size_t{1} << log) < size) ++log;
  return log;
}

// Returns false if memory runs out.
bool compress_frame(const std::string &content, std::string *out) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> context(ZSTD_createCCtx(),
                                                                    ZSTD_freeCCtx);
  if (context == nullptr) return false;
  const std::pair<ZSTD_cParameter, int> parameters[] = {
      {ZSTD_c_compressionLevel, kLevel},
      {ZSTD_c_windowLog, window_of(content.size())},
      {ZSTD_c_enableLongDistanceMatching, 1},
      {ZSTD_c_checksumFlag, 1},
      {ZSTD_c_contentSizeFlag, 1}};
  for (const auto &[parameter, value] : parameters) {
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)) != 0) return false;
  }
  out->resize(ZSTD_compressBound(content.size()));
  const size_t size =
      ZSTD_compress2(context.get(), out->data(), out->size(), content.data(), content.size());
  if (ZSTD_isError(size) != 0) return false;
  out->resize(size);
  return true;
}

// The cache key of a frame.
std::string frame_key(const std::string &content) {
  return "zstd " + std::to_string(kLevel) + " " + ZSTD_versionString() + "\n" + content;
}

constexpr size_t kImageAlignment = 256;  // alignment of an image in a frame

const char *format_of(const Target &target) {
  if (target.kind == TargetKind::kAmd) return "GUF_IMAGE_HSACO";
  return target.is_ptx ? "GUF_IMAGE_PTX" : "GUF_IMAGE_CUBIN";
}

}  // namespace

bool DeviceImages::choose(std::vector<Target> targets, bool vendor) {
  targets_ = std::move(targets);
  return tools_.locate(&targets_, vendor);
}

PlainImage &DeviceImages::image_of(size_t unit, size_t target) {
  return images_[target * nunits_ + unit];
}

Compiler::Unit DeviceImages::unit_for(const DeviceUnit &unit, const Target &target) const {
  Compiler::Unit made;
  made.stem = fmt::format("device{}_{}", unit.family, target.suffix);
  made.text = unit.text;
  made.call_probe = unit.call_probe;
  if (target.kind == TargetKind::kAmd) {
    tools_.add_amd(target, unit.fp, &made);
  } else {
    tools_.add_nvidia(target, unit.fp, &made);
  }
  return made;
}

bool DeviceImages::make_ptx(const DeviceUnit &unit, const Target &target,
                            std::map<std::string, std::string> *known, std::string *out) {
  const Compiler::Unit made = unit_for(unit, target);
  std::string expanded;
  if (!compiler_->expand(made, &expanded)) return false;
  const auto [place, is_new] = known->try_emplace(ObjectCache::key(expanded));
  const fs::path file = work_ / (made.stem + ".ptx");
  if (is_new && (!compiler_->compile_expanded(made, expanded, file) ||
                 !compiler_->read(file, &place->second))) {
    return false;
  }
  // libdevice uses correctly rounded square roots only if __CUDA_PREC_SQRT is set. clang does not
  // set it, so the approximate instruction, which only libdevice emits, is replaced here.
  if (calls_vendor(unit.fp)) replace_all(&place->second, "sqrt.approx.f32", "sqrt.rn.f32");
  *out = place->second;
  return true;
}

bool DeviceImages::assemble(const DeviceUnit &unit, const Target &target, const std::string &ptx,
                            std::string *out) {
  const std::string stem = fmt::format("device{}_{}", unit.family, target.suffix);
  const fs::path text = work_ / (stem + ".to_sass.ptx"), file = work_ / (stem + ".cubin");
  const auto make = [&] {
    Command command = tools_.ptxas_command(target);
    command.insert(command.end(), {text.string(), "-o", file.string()});
    return compiler_->write(text, ptx) ? compiler_->run_and_see(command, "assembling PTX")
                                       : Compiler::Made::kFailed;
  };
  return compiler_->make_cached(tools_.ptxas_key(target) + ptx, stem, file, make) &&
         compiler_->read(file, out);
}

bool DeviceImages::compile_nvidia(const DeviceUnit &unit, size_t index) {
  std::map<std::string, std::string> known;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Target &target = targets_[i];
    if (target.kind != TargetKind::kNvidia) continue;
    std::string ptx;
    std::string *const out = &image_of(index, i).bytes;
    if (!make_ptx(unit, target, &known, &ptx)) return false;
    if (target.is_ptx) {
      *out = std::move(ptx);
    } else if (!assemble(unit, target, ptx, out)) {
      return false;
    }
  }
  return true;
}

bool DeviceImages::compile_amd(const DeviceUnit &unit, size_t index, size_t target) {
  const Compiler::Unit made = unit_for(unit, targets_[target]);
  const fs::path file = work_ / (made.stem + ".hsaco");
  return compiler_->compile(made, file) && compiler_->read(file, &image_of(index, target).bytes);
}

bool DeviceImages::compile(const std::vector<DeviceUnit> &units, int workers) {
  units_ = units;
  nunits_ = units.size();
  for (const Target &target : targets_) {
    for (const DeviceUnit &unit : units) images_.push_back({&target, unit.family, {}});
  }
  std::vector<std::function<bool()>> jobs;
  const bool nvidia = std::any_of(targets_.begin(), targets_.end(), [](const Target &target) {
    return target.kind == TargetKind::kNvidia;
  });
  for (size_t unit = 0; unit < nunits_; ++unit) {
    for (size_t target = 0; target < targets_.size(); ++target) {
      if (targets_[target].kind != TargetKind::kAmd) continue;
      jobs.emplace_back([this, unit, target] { return compile_amd(units_[unit], unit, target); });
    }
    if (nvidia) jobs.emplace_back([this, unit] { return compile_nvidia(units_[unit], unit); });
  }
  return run_parallel(workers, static_cast<int>(jobs.size()),
                      [&](int job) { return jobs[static_cast<size_t>(job)](); });
}

// Compresses the code objects of similar processors together: they contain the same functions, so
// the group takes little more space than one code object.
bool DeviceImages::pack(int workers) {
  std::map<std::string, std::vector<size_t>> frames;
  for (size_t i = 0; i < images_.size(); ++i) {
    const PlainImage &image = images_[i];
    const bool joint = options_.compress && image.target->kind == TargetKind::kAmd;
    frames[joint ? fmt::format("{}/{}", image.target->group, image.family)
                 : fmt::format("{}/{}", image.target->name, image.family)]
        .push_back(i);
  }
  rows_.resize(images_.size());
  std::vector<std::vector<size_t>> members;
  for (auto &[name, list] : frames) {
    frames_.push_back(work_ / fmt::format("frame{}.bin", members.size()));
    members.push_back(std::move(list));
  }
  const bool good = run_parallel(workers, static_cast<int>(members.size()), [&](int frame) {
    return pack_frame(members[static_cast<size_t>(frame)], static_cast<size_t>(frame));
  });
  if (good && options_.verbose) report_sizes();
  return good;
}

bool DeviceImages::pack_frame(const std::vector<size_t> &members, size_t frame) {
  std::string content;
  for (const size_t index : members) {
    const PlainImage &image = images_[index];
    content.resize((content.size() + kImageAlignment - 1) / kImageAlignment * kImageAlignment);
    rows_[index] = {format_of(*image.target), image.target->name, image.family, frame, 0, 0,
                    content.size(),           image.bytes.size()};
    content += image.bytes;
    if (image.bytes.empty()) {
      return compiler_->fail(
          fmt::format("the compiler made an empty image for {}", image.target->name));
    }
  }
  const fs::path &file = frames_[frame];
  std::string packed;
  if (!options_.compress) {
    if (!compiler_->write(file, content)) return false;
    packed = content;
  } else {
    const auto make = [&] {
      const bool good = compress_frame(content, &packed)
                            ? compiler_->write(file, packed)
                            : compiler_->fail("an image cannot be compressed: out of memory");
      return good ? Compiler::Made::kSilently : Compiler::Made::kFailed;
    };
    const std::string stem = fmt::format("frame{}", frame);
    if (!compiler_->make_cached(frame_key(content), stem, file, make)) return false;
    if (!compiler_->read(file, &packed)) return false;
  }
  for (const size_t index : members) {
    rows_[index].size = packed.size();
    rows_[index].inflated_size = options_.compress ? content.size() : 0;
  }
  return true;
}

void DeviceImages::report_sizes() const {
  for (size_t i = 0; i < images_.size(); ++i) {
    const PlainImage &image = images_[i];
    const auto unit = std::find_if(units_.begin(), units_.end(),
                                   [&](const DeviceUnit &u) { return u.family == image.family; });
    diagnostics_->pass_on(fmt::format(
        "gufcc: image {} of {}{}: {} bytes, in frame {} of {} bytes\n", image.target->name,
        unit->source, unit->fp == FpMode::kStrict ? "" : fmt::format(" ({})", name_of(unit->fp)),
        image.bytes.size(), rows_[i].frame, rows_[i].size));
  }
}

}  // namespace gufunc::gufcc
