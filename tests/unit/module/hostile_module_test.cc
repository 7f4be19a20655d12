// SPDX-License-Identifier: Apache-2.0
// Corrupts a real module from gufcc. One test truncates the module at every byte, and other tests
// change every byte in two ways. Each variant must either be rejected with a documented error, or
// behave as the original, because the loader does not use the changed byte.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/module/module.h"
#include "tests/support/fresh_error.h"
#include "tests/unit/module/module_files.h"

namespace gufunc::module {
namespace {

// Modifies a file in place. No module of this file is mapped when the next case starts.
class HostileModule : public ::testing::Test {
 protected:
  void SetUp() override {
    bytes_ = testing::read_bytes(GUFUNC_TEST_MODULES "/tiny.so");
    path_ = ::testing::TempDir() + "hostile_module_" + std::to_string(getpid()) + ".so";
    testing::write_bytes(path_, bytes_);
    descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(descriptor_, 0);
    ASSERT_EQ(base::ElfFile::open(std::as_bytes(std::span(bytes_)), &elf_, nullptr), GUF_OK);
  }
  void TearDown() override {
    close(descriptor_);
    unlink(path_.c_str());
    std::printf("%llu cases: %llu refused, %llu accepted\n",
                static_cast<unsigned long long>(refused_ + accepted_),
                static_cast<unsigned long long>(refused_),
                static_cast<unsigned long long>(accepted_));
  }

  // Opens the module. Returns whether it was rejected with a documented error.
  bool refuses(uint32_t flags) {
    base::Ref<Module> module;
    guf_error error = fresh_error();
    const guf_status status = open_module(path_.c_str(), flags, &module, &error);
    if (status == GUF_OK) {
      ++accepted_;
      if (flags == 0) expect_right_numbers(*module);
      module = base::Ref<Module>();
      base::collect();
      return false;
    }
    ++refused_;
    EXPECT_FALSE(module);
    EXPECT_TRUE(status == GUF_E_BAD_FILE || status == GUF_E_ABI) << status << error.message;
    EXPECT_EQ(error.status, status);
    EXPECT_NE(error.message[0], '\0');
    return true;
  }
  static void expect_right_numbers(const Module &module) {
    const guf_module_loop &loop = module.table().functions[0].loops[0];
    float x[3] = {1, 2.5F, -3}, y[3] = {};
    char *args[] = {reinterpret_cast<char *>(x), reinterpret_cast<char *>(y)};
    const int64_t dims[] = {3}, steps[] = {4, 4};
    const guf_module_image &image = module.table().images[0];
    reinterpret_cast<guf_loop_numpy>(image.entries[loop.kernel])(args, dims, steps, nullptr);
    EXPECT_EQ(y[1], 7.5F);
  }
  // Returns whether the byte is loaded into memory, and therefore covered by the digest.
  bool is_loaded(uint64_t offset) const {
    for (const base::FileRange &load : elf_.loads()) {
      if (offset >= load.offset && offset < load.offset + load.size) return true;
    }
    return false;
  }
  static bool is_section_field(uint64_t offset) {
    return (offset >= offsetof(Elf64_Ehdr, e_shoff) && offset < offsetof(Elf64_Ehdr, e_flags)) ||
           (offset >= offsetof(Elf64_Ehdr, e_shentsize) && offset < sizeof(Elf64_Ehdr));
  }
  // Returns whether the byte is in a section header. Section headers determine the end of the file.
  bool is_section_header(uint64_t offset) const {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return offset >= header.e_shoff &&
           offset < header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  }
  void change_every_byte(uint32_t flags);
  void put(const std::vector<char> &bytes) {
    ASSERT_EQ(ftruncate(descriptor_, static_cast<off_t>(bytes.size())), 0);
    ASSERT_EQ(pwrite(descriptor_, bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }

  std::vector<char> bytes_;
  std::string path_;
  int descriptor_ = -1;
  base::ElfFile elf_;
  uint64_t refused_ = 0, accepted_ = 0;
};

void HostileModule::change_every_byte(uint32_t flags) {
  for (size_t at = 0; at < bytes_.size(); ++at) {
    for (const int flip : {0x01, 0xFF}) {
      const char changed = static_cast<char>(bytes_[at] ^ flip);
      ASSERT_EQ(pwrite(descriptor_, &changed, 1, static_cast<off_t>(at)), 1);
      const bool refused = refuses(flags);
      // Section headers are ignored, except for the fields that determine the end of the file.
      if (is_section_field(at) || is_section_header(at)) continue;
      EXPECT_EQ(refused, is_loaded(at)) << "byte " << at << " ^ " << flip;
    }
    ASSERT_EQ(pwrite(descriptor_, &bytes_[at], 1, static_cast<off_t>(at)), 1);
  }
}

TEST_F(HostileModule, CutAtEveryByte) {
  for (size_t size = bytes_.size(); size-- > 0;) {
    ASSERT_EQ(ftruncate(descriptor_, static_cast<off_t>(size)), 0);
    EXPECT_TRUE(refuses(0)) << size << " bytes";
  }
}

TEST_F(HostileModule, BytesBehindTheEnd) {
  for (const size_t count : {1U, 7U, 8U, 4096U}) {
    for (const char value : {'\0', '\x7f'}) {
      std::vector<char> longer = bytes_;
      longer.insert(longer.end(), count, value);
      put(longer);
      EXPECT_TRUE(refuses(0)) << count;
      EXPECT_TRUE(refuses(GUF_MODULE_DATA_ONLY)) << count;
    }
  }
  std::vector<char> twice = bytes_;
  twice.insert(twice.end(), bytes_.begin(), bytes_.end());
  put(twice);
  EXPECT_TRUE(refuses(0));
  put(bytes_);
  EXPECT_FALSE(refuses(0));
}

// Tests the output of strip, and a file that contains nothing but its segments.
TEST_F(HostileModule, StrippedModulesAreWhole) {
  ASSERT_EQ(std::system(("strip " + path_).c_str()), 0);
  const std::vector<char> stripped = testing::read_bytes(path_);
  ASSERT_LT(stripped.size(), bytes_.size());
  EXPECT_FALSE(refuses(0));

  std::vector<char> bare = bytes_;
  Elf64_Ehdr header;
  std::memcpy(&header, bare.data(), sizeof header);
  header.e_shoff = header.e_shentsize = header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(bare.data(), &header, sizeof header);
  uint64_t end = 0;
  for (const base::FileRange &load : elf_.loads()) end = std::max(end, load.offset + load.size);
  bare.resize(end);
  testing::write_bytes(path_, bare);
  EXPECT_FALSE(refuses(0));
  bare.push_back(0);
  testing::write_bytes(path_, bare);
  EXPECT_TRUE(refuses(0));
}

TEST_F(HostileModule, EveryByteChanged) {
  change_every_byte(0);
}

TEST_F(HostileModule, EveryByteChangedOpenedAsData) {
  change_every_byte(GUF_MODULE_DATA_ONLY);
}

// The digest is correct although the content is invalid, so the parsers for modules that are opened
// as data read the content. They must not crash. An error is not required, because the module may
// still be valid.
TEST_F(HostileModule, EveryByteChangedAndSignedAgainOpenedAsData) {
  for (size_t at = 0; at < bytes_.size(); ++at) {
    for (const int flip : {0x01, 0xFF}) {
      std::vector<char> changed = bytes_;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      base::ElfFile elf;
      ModuleNote note;
      Digest digest;
      uint64_t offset = 0;
      if (base::ElfFile::open(std::as_bytes(std::span(changed)), &elf, nullptr) != GUF_OK) continue;
      if (compute_digest(elf, &note, &digest, &offset, nullptr) != GUF_OK) continue;
      std::memcpy(changed.data() + offset, digest.data(), digest.size());
      ASSERT_EQ(pwrite(descriptor_, changed.data(), changed.size(), 0),
                static_cast<ssize_t>(changed.size()));
      base::Ref<Module> module;
      const guf_status status = open_module(path_.c_str(), GUF_MODULE_DATA_ONLY, &module, nullptr);
      ++(status == GUF_OK ? accepted_ : refused_);
      EXPECT_TRUE(status == GUF_OK || status == GUF_E_BAD_FILE || status == GUF_E_ABI ||
                  status == GUF_E_UNSUPPORTED)
          << "byte " << at << " ^ " << flip << ": " << status;
    }
    if (at % 256 == 0) base::collect();
  }
}

}  // namespace
}  // namespace gufunc::module
