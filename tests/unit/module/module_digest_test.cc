// SPDX-License-Identifier: Apache-2.0
// Tests that the digest ignores the parts of a file that strip rewrites, and covers every loaded
// byte.
#include "core/module/module_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sha2.h>

#include "tests/support/fresh_error.h"
#include "tests/unit/elf_sample.h"

namespace gufunc::module {
namespace {

using testing::as_bytes;
using testing::ElfSample;
using Digest = std::array<uint8_t, 32>;

ElfSample good() {
  std::vector<uint8_t> note(sizeof(ModuleNote));
  note[0] = note[4] = 1;  // sets version and kernel_abi
  return ElfSample(base::kModuleNoteType, note);
}

guf_status digest_of(const std::vector<uint8_t> &bytes, Digest *out, uint64_t *out_offset = nullptr,
                     guf_error *error = nullptr) {
  base::ElfFile file;
  GUF_TRY(base::ElfFile::open(as_bytes(bytes), &file, error));
  ModuleNote note;
  uint64_t offset = 0;
  GUF_TRY(compute_digest(file, &note, out, &offset, error));
  if (out_offset != nullptr) *out_offset = offset;
  return GUF_OK;
}

TEST(ModuleDigest, IsSha256OfTheLoadedBytes) {
  ElfSample sample = good();
  Digest digest;
  uint64_t offset = 0;
  ASSERT_EQ(digest_of(sample.bytes(), &digest, &offset), GUF_OK);
  EXPECT_EQ(offset, ElfSample::kNoteOffset + sizeof(Elf64_Nhdr) + 8 + 8);

  sample.header.e_shoff = 0;
  sample.header.e_shentsize = sample.header.e_shnum = sample.header.e_shstrndx = 0;
  auto loaded = sample.bytes();
  loaded.resize(loaded.size() - sample.tail.size());
  Digest expected;
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, loaded.data(), loaded.size());
  SHA256Final(expected.data(), &context);
  EXPECT_EQ(digest, expected);
}

TEST(ModuleDigest, IgnoresSectionHeadersAndItself) {
  const auto original = good().bytes();
  Digest before, after;
  uint64_t offset = 0;
  ASSERT_EQ(digest_of(original, &before, &offset), GUF_OK);

  ElfSample stripped = good();
  stripped.header.e_shoff = 1;
  stripped.header.e_shentsize = stripped.header.e_shnum = stripped.header.e_shstrndx = 2;
  stripped.tail.clear();
  auto bytes = stripped.bytes();
  for (size_t i = 0; i < 32; ++i) bytes[offset + i] = 0xee;
  ASSERT_EQ(digest_of(bytes, &after), GUF_OK);
  EXPECT_EQ(before, after);
}

TEST(ModuleDigest, EveryOtherLoadedByteCounts) {
  const auto original = good().bytes();
  Digest before;
  uint64_t digest_at = 0;
  ASSERT_EQ(digest_of(original, &before, &digest_at), GUF_OK);
  size_t checked = 0;
  for (size_t at = 0; at < original.size() - good().tail.size(); ++at) {
    const bool blank =
        (at >= offsetof(Elf64_Ehdr, e_shoff) && at < offsetof(Elf64_Ehdr, e_flags)) ||
        (at >= offsetof(Elf64_Ehdr, e_shentsize) && at < sizeof(Elf64_Ehdr)) ||
        (at >= digest_at && at < digest_at + 32);
    auto bytes = original;
    bytes[at] ^= 0x10;
    Digest after;
    if (digest_of(bytes, &after) != GUF_OK) continue;
    EXPECT_EQ(after == before, blank) << "byte " << at;
    ++checked;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ModuleDigest, RefusesFilesThatAreNoModule) {
  guf_error error = fresh_error();
  Digest digest;
  EXPECT_EQ(digest_of(ElfSample(base::kBackendNoteType, {1}).bytes(), &digest, nullptr, &error),
            GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, ::testing::HasSubstr("no gufunc module note"));
  EXPECT_EQ(digest_of(ElfSample(base::kModuleNoteType, {1, 2}).bytes(), &digest, nullptr, &error),
            GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, ::testing::HasSubstr("expected 40, got 2"));
}

}  // namespace
}  // namespace gufunc::module
