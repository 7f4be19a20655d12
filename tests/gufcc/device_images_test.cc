// SPDX-License-Identifier: Apache-2.0
// Tests the device images of a small source: the content of the module table, the images that are
// omitted and the reason for it, and the cached files. If a vendor's tools are missing, the tests
// of its images are skipped.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/module_table.h>

#include <gufunc/kernel/work_item.hpp>

#include <cstring>
#include <set>

#include "core/backend/plain_image.h"
#include "object_cache.h"
#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kTwoUnits[] =
    "#include <gufunc/kernel.hpp>\n"
    "GUF_DEVICE float twice(float x) { return x * 2; }\n"
    "GUF_DEVICE float halve(float x, float y) { return x / 2 + y; }\n"
    "GUF_UFUNC(twice, \"f->f\");\n"
    "GUF_UFUNC(halve, \"ff->f\", \"fp=fast\");\n";

// Each work-item adds the value that its neighbour wrote to shared memory.
constexpr char kEntry[] =
    "#include <gufunc/kernel.hpp>\n"
    "namespace copies {\n"
    "struct block { guf::u64 address, n; };\n"
    "GUF_DEVICE void add_neighbour(const block &p, char *shared) {\n"
    "#if !defined(GUF_HOST) || defined(GUF_EMULATE)\n"
    "  const guf::u32 i = guf::device::thread_id();\n"
    "  guf::u32 *const mine = (guf::u32 *)shared;\n"
    "  mine[i] = i;\n"
    "  guf::device::barrier();\n"
    "  ((guf::u32 *)p.address)[i] += mine[(i + 1) % p.n];\n"
    "#else\n"
    "  (void)p, (void)shared;\n"
    "#endif\n"
    "}\n"
    "}\n"
    "GUF_ENTRY(copies::add_neighbour, \"copies::block\", \"64\", \"shared\");\n";

struct PlainCopy {
  int32_t format;
  uint32_t family;
  std::string target, bytes;
};

class DeviceImagesTest : public Gufcc {
 protected:
  void TearDown() override {
    if (handle_ != nullptr) dlclose(handle_);
  }
  static bool has_cuda() { return std::strlen(GUFUNC_CUDA_HOME) > 0; }
  static bool has_amd() { return std::strlen(GUFUNC_ROCM_BITCODE) > 0; }

  ProcessResult build(const std::string &source, const std::string &targets,
                      const Command &more = {}) {
    Command command = {write("k.guf.cpp", source),
                       "-o",
                       path("k.so").string(),
                       "--targets",
                       targets,
                       "--cuda-home",
                       GUFUNC_CUDA_HOME};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }
  const guf_module_v1 *table() {
    handle_ = dlopen(path("k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
    return handle_ == nullptr
               ? nullptr
               : static_cast<const guf_module_v1 *>(dlsym(handle_, "gufunc_module_v1"));
  }
  static std::vector<PlainCopy> plain_images(const guf_module_v1 &module) {
    std::vector<PlainCopy> all;
    for (uint32_t i = 0; i < module.nimages; ++i) {
      const guf_module_image &image = module.images[i];
      if (image.format == GUF_IMAGE_HOST) continue;
      backend::PlainImage plain;
      EXPECT_EQ(plain.open(image, nullptr), GUF_OK) << image.target;
      const auto *const first = static_cast<const char *>(plain.image().data);
      all.push_back({image.format, image.family, image.target, {first, plain.image().size}});
    }
    return all;
  }

  void *handle_ = nullptr;
};

constexpr char kElfMagic[] =
    "\x7f"
    "ELF";
constexpr uint16_t kCuda = 190, kAmdGpu = 224;  // values of e_machine

uint16_t machine_of(const std::string &elf) {
  uint16_t machine = 0;
  if (elf.size() > 20 && elf.starts_with(kElfMagic)) std::memcpy(&machine, elf.data() + 18, 2);
  return machine;
}

TEST_F(DeviceImagesTest, OfNvidiaAreOnePerTargetAndFamily) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  const ProcessResult built = build(kTwoUnits, "x86-64-v2,ptx_75,sm_90");
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
  const guf_module_v1 *const module = table();
  ASSERT_NE(module, nullptr);
  ASSERT_EQ(module->nimages, 5u);
  const uint32_t family[] = {module->functions[0].loops[0].family,
                             module->functions[1].loops[0].family};
  EXPECT_NE(family[0], family[1]) << "units of other flags";
  const char *const entries[] = {"guf_ew_twice_f_f_row", "guf_ew_halve_ff_f_row"};
  int ptx = 0, sass = 0;
  for (const PlainCopy &image : plain_images(*module)) {
    const size_t mine = image.family == family[0] ? 0 : 1;
    EXPECT_EQ(image.family, family[mine]);
    EXPECT_THAT(image.bytes, HasSubstr(entries[mine]));
    EXPECT_THAT(image.bytes, Not(HasSubstr(entries[1 - mine])));
    if (image.target == "ptx_75") {
      ++ptx;
      EXPECT_EQ(image.format, GUF_IMAGE_PTX);
      EXPECT_THAT(image.bytes, HasSubstr(".version 6.3\n.target sm_75\n"));
      EXPECT_EQ(image.bytes.find('\0'), std::string::npos);
    } else {
      ++sass;
      EXPECT_EQ(image.target, "sm_90");
      EXPECT_EQ(image.format, GUF_IMAGE_CUBIN);
      EXPECT_EQ(machine_of(image.bytes), kCuda);
    }
  }
  EXPECT_EQ(ptx, 2);
  EXPECT_EQ(sass, 2);
}

TEST_F(DeviceImagesTest, OfAmdShareAFrameInTheirGroup) {
  if (!has_amd()) GTEST_SKIP() << "no device libraries of AMD";
  const ProcessResult built = build(kEntry, "gfx906,gfx942,gfx9-generic,gfx1100");
  ASSERT_EQ(built.status, 0) << built.output;
  const guf_module_v1 *const module = table();
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->nfunctions, 0u);
  ASSERT_EQ(module->nimages, 4u);
  std::map<const void *, std::set<std::string>> frames;
  for (uint32_t i = 0; i < 4; ++i) {
    frames[module->images[i].data].insert(module->images[i].target);
    EXPECT_EQ(module->images[i].codec, GUF_CODEC_ZSTD);
    EXPECT_EQ(module->images[i].offset % 256, 0u);
  }
  EXPECT_EQ(frames.size(), 2u);
  std::set<std::string> flags;
  for (const PlainCopy &image : plain_images(*module)) {
    EXPECT_EQ(image.format, GUF_IMAGE_HSACO);
    EXPECT_EQ(machine_of(image.bytes), kAmdGpu);
    EXPECT_THAT(image.bytes, HasSubstr("guf_copy_add_neighbour.kd"));
    flags.insert(image.bytes.substr(48, 4));
    // The code object version is 5, or 6 for a generic target.
    EXPECT_EQ(image.bytes[8], image.target == "gfx9-generic" ? 4 : 3) << image.target;
  }
  EXPECT_EQ(flags.size(), 4u) << "each image declares its target";
}

TEST_F(DeviceImagesTest, AreAsTheyAreWithoutCompression) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  const ProcessResult built = build(kEntry, "ptx_75", {"--compress", "none"});
  ASSERT_EQ(built.status, 0) << built.output;
  const guf_module_v1 *const module = table();
  ASSERT_NE(module, nullptr);
  ASSERT_EQ(module->nimages, 1u);
  const guf_module_image &image = module->images[0];
  EXPECT_EQ(image.codec, GUF_CODEC_NONE);
  EXPECT_EQ(image.bytes, image.size);
  EXPECT_EQ(std::strlen(static_cast<const char *>(image.data)), image.size) << "a NUL behind it";
}

TEST_F(DeviceImagesTest, LeaveOutLoopsThatNoDeviceCanRun) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  std::string source = "#include <gufunc/kernel.hpp>\nGUF_DEVICE float many(", types;
  for (char name = 'a'; name < 'a' + 12; ++name) {
    source += std::string(name == 'a' ? "" : ", ") + "float " + name;
    types += 'f';
  }
  source +=
      ") { return a + b + c + d + e + f + g + h + i + j + k + l; }\n"
      "GUF_DEVICE float one(float x) { return x; }\n"
      "GUF_UFUNC(many, \"" +
      types + "->f\");\nGUF_UFUNC(one, \"f->f\");\n";
  const ProcessResult built = build(source, "x86-64-v2,ptx_75");
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_THAT(built.output,
              HasSubstr("k.guf.cpp:4: warning: many: the loop ffffffffffff->f is left "
                        "out of device images: it has 13 operands, at most 12\n"));
  const guf_module_v1 *const module = table();
  ASSERT_NE(module, nullptr);
  const std::vector<PlainCopy> images = plain_images(*module);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_THAT(images[0].bytes, Not(HasSubstr("many")));
  EXPECT_EQ(module->functions[1].loops[0].family, images[0].family);
  EXPECT_NE(module->functions[0].loops[0].family, images[0].family);
  EXPECT_NE(module->functions[0].loops[0].family, 0u);
}

TEST_F(DeviceImagesTest, ErrorsOfDevicesAloneAreAtTheUsersLines) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  const ProcessResult built = build(
      "#include <gufunc/kernel.hpp>\nGUF_DEVICE float f(float x) {\n#if defined(GUF_CUDA)\n"
      "  return missing(x);\n#else\n  return x;\n#endif\n}\nGUF_UFUNC(f, \"f->f\");\n",
      "x86-64-v2,ptx_75");
  EXPECT_EQ(built.status, 1);
  EXPECT_THAT(built.output,
              HasSubstr("k.guf.cpp:4:10: error: use of undeclared identifier 'missing'"));
  EXPECT_FALSE(fs::exists(path("k.so")));
}

TEST_F(DeviceImagesTest, AreKeptByContentAndByTheAssemblersVersion) {
  if (!has_cuda() || !has_amd()) GTEST_SKIP() << "no CUDA toolkit or no device libraries of AMD";
  const Command items = {"--emulate", path("k.emu.so").string(), "-v"};
  const std::string targets = "x86-64-v2,ptx_75,sm_75,sm_90,gfx942";
  ASSERT_EQ(build(kTwoUnits, targets, items).status, 0);
  // The link is the same program with a different name.
  fs::create_symlink(fs::path(GUFUNC_CUDA_HOME) / "bin" / "ptxas", path("other-ptxas"));
  Command again = items;
  again.insert(again.end(), {"--ptxas", path("other-ptxas").string()});
  const ProcessResult built = build(kTwoUnits, targets, again);
  ASSERT_EQ(built.status, 0) << built.output;
  std::istringstream lines(built.output);
  int compiled = 0, assembled = 0, kept = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool optimized = line.find(" -O3 ") != std::string::npos ||
                           line.find(" -DGUF_EMULATE ") != std::string::npos;
    compiled += optimized && line.find(" -E ") == std::string::npos &&
                line.find("emulation_table") == std::string::npos;
    assembled += line.find("other-ptxas") != std::string::npos;
    kept += line.ends_with(" from the cache");
  }
  EXPECT_EQ(compiled, 0) << built.output;
  EXPECT_EQ(assembled, 0) << built.output;
  // The source is compiled as two units. For each unit, the cache contains the result of the source
  // check, the host code, one PTX for all three targets, two cubins, one AMD image, four compressed
  // frames, and the emulation file.
  EXPECT_EQ(kept, 2 * (1 + 1 + 1 + 2 + 1 + 4 + 1)) << built.output;
}

TEST_F(DeviceImagesTest, HaveAnEmulationFileThatRunsInstead) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  const ProcessResult built =
      build(kEntry, "ptx_75,sm_90", {"--emulate", path("k.emu.so").string()});
  ASSERT_EQ(built.status, 0) << built.output;
  const guf_module_v1 *const module = table();
  ASSERT_NE(module, nullptr);
  void *const emulation = dlopen(path("k.emu.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(emulation, nullptr) << dlerror();
  const auto *const items =
      static_cast<const guf::device::emulation_table *>(dlsym(emulation, "gufunc_emulation_v1"));
  ASSERT_NE(items, nullptr);
  EXPECT_EQ(items->struct_size, sizeof(guf::device::emulation_table));
  ASSERT_EQ(items->nkernels, 1u);
  const guf::device::emulated_kernel &kernel = items->kernels[0];
  EXPECT_STREQ(kernel.name, "guf_copy_add_neighbour");
  EXPECT_EQ(kernel.argument_bytes, 16u);
  EXPECT_EQ(kernel.max_threads, 64u);
  EXPECT_EQ(kernel.synchronizes, 1u);

  const std::vector<PlainCopy> images = plain_images(*module);
  ASSERT_EQ(items->nimages, images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(items->images[i].target, images[i].target);
    EXPECT_EQ(items->images[i].size, images[i].bytes.size());
    std::string digest;
    for (const uint8_t byte : items->images[i].sha256) digest += fmt::format("{:02x}", byte);
    EXPECT_EQ(digest, ObjectCache::key(images[i].bytes));
  }

  // A single work-item is its own neighbour.
  uint32_t value = 5, shared = 0;
  const uint64_t block[2] = {reinterpret_cast<uint64_t>(&value), 1};
  static int barriers;
  barriers = 0;
  guf::device::work_item item = {};
  item.shared = reinterpret_cast<char *>(&shared);
  item.sync = [](guf::device::work_item *) { ++barriers; };
  kernel.entry(&item, block);
  EXPECT_EQ(barriers, 1);
  EXPECT_EQ(value, 5u);
  dlclose(emulation);
}

// A program without AddressSanitizer's runtime cannot open the instrumented emulation file, because
// the file calls that runtime.
TEST_F(DeviceImagesTest, HaveAnInstrumentedEmulationFile) {
  const std::string plain = path("k.emu.so").string(), asan = path("k.asan.so").string();
  const Command both = {"--emulate", plain, "--emulate-asan", asan, "-v"};
  for (const int kept : {0, 1}) {
    const ProcessResult built = build(kTwoUnits, "x86-64-v2", both);
    ASSERT_EQ(built.status, 0) << built.output;
    for (const char *unit : {"gufcc: items1 from", "gufcc: items_asan1 from"}) {
      EXPECT_EQ(built.output.find(unit) != std::string::npos, kept == 1) << unit << built.output;
    }
  }
  const auto mentions = [](const std::string &file) {
    std::string content;
    Diagnostics diagnostics;
    EXPECT_TRUE(read_file(file, &content, &diagnostics)) << diagnostics.text();
    EXPECT_THAT(content, HasSubstr("gufunc_emulation_v1"));
    return content.find("__asan_report_") != std::string::npos;
  };
  EXPECT_TRUE(mentions(asan));
  EXPECT_FALSE(mentions(plain));
}

TEST_F(DeviceImagesTest, DoNotWriteAnEmulationFileWhereNoFileCanBe) {
  fs::create_directory(path("folder"));
  const ProcessResult built =
      build(kTwoUnits, "x86-64-v2", {"--emulate-asan", path("folder").string()});
  EXPECT_EQ(built.status, 1);
  EXPECT_THAT(built.output, HasSubstr("folder: it exists and is not a regular file"));
  EXPECT_FALSE(fs::exists(path("k.so")));
}

}  // namespace
}  // namespace gufunc::gufcc
