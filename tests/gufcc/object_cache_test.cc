// SPDX-License-Identifier: Apache-2.0
// The cache of compiled objects: whose folder it is, and that nothing damaged is taken from it.
#include "object_cache.h"

#include <gtest/gtest.h>

#include "files.h"

namespace gufunc::gufcc {
namespace {

namespace fs = std::filesystem;

class ObjectCacheTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.create(&diagnostics_)); }
  fs::path path(const std::string &name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
  Diagnostics diagnostics_;
};

TEST_F(ObjectCacheTest, AFolderOfItsOwnIsPrivateAndAnExistingOneKeepsItsMode) {
  for (const char *name : {"a/b/cache", "a/slash/"}) {
    const ObjectCache made(path(name));
    EXPECT_EQ(fs::status(path(name)).permissions(), fs::perms::owner_all) << name;
  }
  const fs::perms shared = fs::perms::owner_all | fs::perms::group_all | fs::perms::others_read;
  fs::create_directory(path("shared"));
  fs::permissions(path("shared"), shared);
  const ObjectCache found(path("shared"));
  EXPECT_EQ(fs::status(path("shared")).permissions(), shared);
}

TEST_F(ObjectCacheTest, OnlyWhatWasStoredIsFetched) {
  const ObjectCache cache(path("cache"));
  const std::string key = ObjectCache::key("a"), other = ObjectCache::key("b");
  const std::string object("object\0with\nany bytes", 21);
  const fs::path kept = path("cache") / (key + ".o");
  ASSERT_TRUE(write_file(path("object"), object, &diagnostics_));
  EXPECT_FALSE(cache.fetch(key, path("out")));
  cache.store(key, path("object"));
  ASSERT_TRUE(cache.fetch(key, path("out")));
  std::string content;
  ASSERT_TRUE(read_file(path("out"), &content, &diagnostics_));
  EXPECT_EQ(content, object);

  std::string whole;
  ASSERT_TRUE(read_file(kept, &whole, &diagnostics_));
  fs::copy_file(kept, path("cache") / (other + ".o"));
  EXPECT_FALSE(cache.fetch(other, path("out"))) << "another's object";
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_TRUE(write_file(kept, damaged, &diagnostics_));
    EXPECT_FALSE(cache.fetch(key, path("out"))) << "flipped at " << i;
    ASSERT_TRUE(write_file(kept, whole.substr(0, i), &diagnostics_));
    EXPECT_FALSE(cache.fetch(key, path("out"))) << "cut to " << i;
  }
  ASSERT_TRUE(write_file(kept, object, &diagnostics_));
  EXPECT_FALSE(cache.fetch(key, path("out"))) << "no digest";
  cache.store(key, path("object"));
  EXPECT_TRUE(cache.fetch(key, path("out"))) << "a damaged object is overwritten";
}

}  // namespace
}  // namespace gufunc::gufcc
