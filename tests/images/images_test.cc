// SPDX-License-Identifier: Apache-2.0
// Inspects the device code of every image: CUDA images with ptxas, and AMD images with
// llvm-readelf.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backends/gpu/geometry/ptx_text.h"
#include "files.h"
#include "tests/images/image_files.h"
#include "tests/images/inspection.h"
#include "tests/ptx/ptx_program.h"

extern "C" const guf_module_v1 GUFUNC_TABLES;  // the names of one or two tables

namespace gufunc::images {
namespace {

template <class... T>
std::vector<const guf_module_v1 *> addresses(const T &...tables) {
  return {&tables...};
}

class Images : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    gufcc::Diagnostics diagnostics;
    folder_ = new gufcc::TemporaryFolder;
    ASSERT_TRUE(folder_->create(&diagnostics));
    images_ = new std::vector<ImageFile>(write_images(addresses(GUFUNC_TABLES), folder_->path()));
    entries_ = new Entries(open_emulation_files(GUFUNC_EMULATION_FILES));
  }
  static void TearDownTestSuite() {
    delete images_;
    delete entries_;
    delete folder_;
  }
  static std::vector<const ImageFile *> of_format(int32_t format) {
    std::vector<const ImageFile *> found;
    for (const ImageFile &image : *images_) {
      if (image.format == format) found.push_back(&image);
    }
    return found;
  }
  static const guf::device::emulated_kernel *entry(const std::string &name) {
    const auto found = entries_->find(name);
    if (found != entries_->end()) return found->second;
    ADD_FAILURE() << "the emulation file has no entry " << name;
    return nullptr;
  }

  static inline gufcc::TemporaryFolder *folder_ = nullptr;
  static inline std::vector<ImageFile> *images_ = nullptr;
  static inline Entries *entries_ = nullptr;
};

std::vector<std::string> entry_names(const std::string &text) {
  std::vector<std::string> names;
  for (const PtxFunction &function : read_ptx(text)) {
    if (function.is_entry) names.push_back(function.name);
  }
  return names;
}

std::string excerpt_of(const std::string &text, std::string_view entry) {
  static constexpr guf_host_api kHost = {
      sizeof(guf_host_api),
      GUF_BACKEND_ABI_MINOR,
      nullptr,
      [](void *, int32_t, const char *) {},
      [](void *, size_t size, size_t) { return std::malloc(size); },
      [](void *, void *memory) { std::free(memory); },
      [](void *, const char *) -> const char * { return nullptr; }};
  gpu::set_host(&kHost);
  gpu::PtxText ptx;
  gpu::HostArray<char> out;
  EXPECT_EQ(ptx.open(text.data(), text.size()), gpu::PtxText::Result::kText);
  const gpu::PtxText::Result result = ptx.excerpt(&entry, 1, &out);
  EXPECT_EQ(result, gpu::PtxText::Result::kText) << entry;
  return result == gpu::PtxText::Result::kText ? out.data() : "";
}

// Upper limits for the size of a plugin's images, for any set of targets.
constexpr uint64_t kCudaBudget = 20'000'000, kRocBudget = 15'000'000;

TEST_F(Images, ExistAndAreWithinTheBudget) {
  ASSERT_FALSE(images_->empty());
  ASSERT_FALSE(entries_->empty());
  std::map<std::string, std::pair<uint64_t, uint64_t>> plain_and_packed;
  std::printf("%-16s %-14s %12s %12s\n", "TARGET", "FAMILY OF", "BYTES", "FRAME");
  for (const ImageFile &image : *images_) {
    std::printf("%-16s %-14s %12zu %12llu%s\n", image.target.c_str(), image.first_function.c_str(),
                image.bytes.size(), static_cast<unsigned long long>(image.packed_bytes),
                image.first_of_frame ? "" : " (shared)");
    plain_and_packed["all"].first += image.bytes.size();
    plain_and_packed[image.target].first += image.bytes.size();
    if (!image.first_of_frame) continue;
    plain_and_packed["all"].second += image.packed_bytes;
    plain_and_packed[image.target].second += image.packed_bytes;
  }
  for (const auto &[target, bytes] : plain_and_packed) {
    std::printf("%-16s %6s %12llu %12llu\n", target.c_str(), "sum",
                static_cast<unsigned long long>(bytes.first),
                static_cast<unsigned long long>(bytes.second));
  }
  const bool amd = !of_format(GUF_IMAGE_HSACO).empty();
  EXPECT_LE(plain_and_packed["all"].second, amd ? kRocBudget : kCudaBudget);
}

// The interpreter must know each instruction of each PTX text. It also checks the types and sizes
// of the operands, and the parameters of calls.
TEST_F(Images, ThePtxTextsDecode) {
  for (const ImageFile *image : of_format(GUF_IMAGE_PTX)) {
    ptx::Program program(image->bytes);
    for (const std::string_view entry : program.entries()) {
      EXPECT_NO_THROW(program.entry(entry)) << image->first_function << ": " << entry;
    }
  }
}

// The images of every target must have exactly the entries of the emulation file.
TEST_F(Images, HaveTheEntriesOfTheEmulationFile) {
  std::map<std::string, std::map<std::string, int>> seen;  // indexed by target, then by entry
  for (const ImageFile *image : of_format(GUF_IMAGE_PTX)) {
    for (const PtxFunction &function : read_ptx(image->bytes)) {
      if (function.is_entry) ++seen[image->target][function.name];
    }
  }
  for (const ImageFile *image : of_format(GUF_IMAGE_HSACO)) {
    const std::string notes = output_of({"llvm-readelf-19", "--notes", image->path.string()});
    for (const AmdKernel &kernel : read_amd_notes(notes)) ++seen[image->target][kernel.name];
  }
  EXPECT_FALSE(seen.empty());
  for (const auto &[target, entries] : seen) {
    EXPECT_EQ(entries.size(), entries_->size()) << target;
    for (const auto &[name, count] : entries) {
      EXPECT_EQ(count, 1) << target << " " << name;
      entry(name);
    }
  }
}

TEST_F(Images, OfAmdHaveADescriptorPerEntryAndNoScratch) {
  if (of_format(GUF_IMAGE_HSACO).empty()) GTEST_SKIP() << "none for AMD";
  for (const ImageFile *image : of_format(GUF_IMAGE_HSACO)) {
    const std::string path = image->path.string();
    const std::string symbols = output_of({"llvm-readelf-19", "--dyn-syms", "-W", path});
    const std::string notes = output_of({"llvm-readelf-19", "--notes", path});
    EXPECT_NE(notes.find("amdgcn-amd-amdhsa--" + image->target + "\n"), std::string::npos)
        << image->target;
    for (const AmdKernel &kernel : read_amd_notes(notes)) {
      const guf::device::emulated_kernel *const known = entry(kernel.name);
      if (known == nullptr) continue;
      for (const std::string &fault : find_amd_faults(kernel, *known)) {
        ADD_FAILURE() << image->target << " " << fault;
      }
      EXPECT_TRUE(has_descriptor(symbols, kernel.name))
          << image->target << " " << kernel.name << " has no descriptor";
    }
  }
}

TEST_F(Images, OfPtxRoundEveryOperation) {
  if (of_format(GUF_IMAGE_PTX).empty()) GTEST_SKIP() << "none of PTX";
  for (const ImageFile *image : of_format(GUF_IMAGE_PTX)) {
    EXPECT_NE(image->bytes.find(".version 6.3\n.target sm_75\n"), std::string::npos);
    for (const PtxFunction &function : read_ptx(image->bytes)) {
      for (const std::string &fault : find_ptx_faults(function, may_fuse(function.name))) {
        ADD_FAILURE() << "family " << image->family << " " << fault;
      }
      if (!function.is_entry) continue;
      const guf::device::emulated_kernel *const known = entry(function.name);
      if (known != nullptr) {
        EXPECT_EQ(function.parameter_bytes, known->argument_bytes) << function.name;
      }
    }
  }
}

// Checks EI_ABIVERSION. Drivers of CUDA 12 accept version 7. Drivers of CUDA 12.8, which introduced
// sm_100, also accept version 8.
TEST_F(Images, OfCubinsAreForDriversOfCuda12) {
  if (!GUFUNC_HAS_PTXAS_12) GTEST_SKIP() << "assembled by the toolkit's ptxas";
  constexpr size_t kAbiVersion = 8;
  for (const ImageFile *image : of_format(GUF_IMAGE_CUBIN)) {
    ASSERT_GT(image->bytes.size(), kAbiVersion);
    const bool is_new_gpu = image->target.size() > std::string("sm_90").size();
    EXPECT_LE(int{image->bytes[kAbiVersion]}, is_new_gpu ? 8 : 7) << image->target;
  }
}

// Extracts the PTX of the first, the middle and the last kernel of each image, as a plugin does.
TEST_F(Images, OfPtxAssembleKernelByKernel) {
  if (of_format(GUF_IMAGE_PTX).empty()) GTEST_SKIP() << "none of PTX";
  const std::filesystem::path path = folder_->path() / "excerpt";
  for (const ImageFile *image : of_format(GUF_IMAGE_PTX)) {
    const std::vector<std::string> names = entry_names(image->bytes);
    ASSERT_FALSE(names.empty());
    for (const size_t i : {size_t{0}, names.size() / 2, names.size() - 1}) {
      std::ofstream(path, std::ios::binary) << excerpt_of(image->bytes, names[i]);
      const std::string message = output_of({GUFUNC_PTXAS, "-v", "-arch=sm_75", path.string(), "-o",
                                             (folder_->path() / "assembled").string()});
      std::vector<std::string> assembled;
      for (const PtxasLine &line : read_ptxas(message)) {
        if (line.is_entry) assembled.push_back(line.name);
      }
      EXPECT_EQ(assembled, std::vector<std::string>{names[i]});
    }
  }
}

TEST_F(Images, OfPtxAssembleWithoutStackInRow) {
  if (of_format(GUF_IMAGE_PTX).empty()) GTEST_SKIP() << "none of PTX";
  constexpr size_t kMost = 4;
  if (of_format(GUF_IMAGE_PTX).size() > kMost && std::getenv("GUFUNC_ASSEMBLE_ALL") == nullptr)
    GTEST_SKIP() << "script/test-long assembles all images, which takes minutes";
  std::set<std::string> archs;
  for (const ImageFile *image : of_format(GUF_IMAGE_CUBIN)) archs.insert(image->target);
  if (archs.empty()) archs.insert("sm_75");
  size_t entries = 0;
  for (const ImageFile *image : of_format(GUF_IMAGE_PTX)) {
    for (const std::string &arch : archs) {
      const std::string message =
          output_of({GUFUNC_PTXAS, "-v", "-arch=" + arch, image->path.string(), "-o",
                     (folder_->path() / "assembled").string()});
      for (const PtxasLine &line : read_ptxas(message)) {
        entries += line.is_entry;
        for (const std::string &fault : find_ptxas_faults(line)) {
          ADD_FAILURE() << arch << " " << fault;
        }
      }
    }
  }
  EXPECT_EQ(entries, entries_->size() * archs.size());
}

}  // namespace
}  // namespace gufunc::images
