// SPDX-License-Identifier: Apache-2.0
// Tests the cache of compiled objects: the owner of its folder, and the rejection of corrupted
// entries.
#include "object_cache.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_F(ObjectCacheTest, AFolderOfItsOwnIsPrivate) {
  for (const char *name : {"a/b/cache", "a/slash/"}) {
    const ObjectCache made(path(name));
    EXPECT_EQ(fs::status(path(name)).permissions(), fs::perms::owner_all) << name;
    EXPECT_EQ(made.refusal(), "");
  }
}

// A user who can write to the folder, or replace it, could make other users run the user's code.
TEST_F(ObjectCacheTest, AFolderThatOthersCanWriteToIsNotUsed) {
  ASSERT_TRUE(write_file(path("object"), "an object", &diagnostics_));
  const std::string key = ObjectCache::key("a");
  fs::create_directories(path("above/cache"));
  struct Row {
    const char *folder;
    fs::perms mode;
  };
  for (const auto &[folder, mode] :
       {Row{"above/cache", fs::perms::group_write}, Row{"above/cache", fs::perms::others_write},
        Row{"above", fs::perms::group_write}, Row{"above", fs::perms::others_write}}) {
    fs::permissions(path(folder), fs::perms::owner_all | mode);
    const ObjectCache cache(path("above/cache"));
    EXPECT_THAT(cache.refusal(), testing::HasSubstr("other users can write to " +
                                                    path(folder).string() + "; chmod go-w "));
    const ObjectCache::Lock lock(cache, key);
    cache.store(key, path("object"));
    EXPECT_FALSE(cache.fetch(key, path("out")));
    EXPECT_TRUE(fs::is_empty(path("above/cache")));
    fs::permissions(path(folder), fs::perms::owner_all);
  }
  // The folder has the permissions of /tmp.
  fs::permissions(path("above"), fs::perms::all | fs::perms::sticky_bit);
  const ObjectCache cache(path("above/cache"));
  EXPECT_EQ(cache.refusal(), "");
  cache.store(key, path("object"));
  EXPECT_TRUE(cache.fetch(key, path("out")));
}

TEST_F(ObjectCacheTest, AFolderOfAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has folders of others";
  fs::create_directories(path("above/cache"));
  for (const char *folder : {"above/cache", "above"}) {
    ASSERT_EQ(chown(path(folder).c_str(), 12345, 12345), 0);
    const ObjectCache cache(path("above/cache"));
    EXPECT_EQ(cache.refusal(), path(folder).string() + " belongs to user 12345");
    ASSERT_EQ(chown(path(folder).c_str(), 0, 0), 0);
  }
}

TEST_F(ObjectCacheTest, NoLinkInTheFolderIsFollowed) {
  const ObjectCache cache(path("cache"));
  const std::string key = ObjectCache::key("a");
  const fs::path kept = path("cache") / (key + ".o");
  ASSERT_TRUE(write_file(path("object"), "an object", &diagnostics_));
  cache.store(key, path("object"));
  fs::rename(kept, path("elsewhere"));
  fs::create_symlink(path("elsewhere"), kept);
  EXPECT_FALSE(cache.fetch(key, path("out")));
  cache.store(key, path("object"));
  EXPECT_TRUE(cache.fetch(key, path("out"))) << "the link is replaced";

  // Storing an object and locking the cache must not write through symbolic links that have the
  // names of the cache's files.
  ASSERT_TRUE(write_file(path("precious"), "mine", &diagnostics_));
  for (int serial = 0; serial < 64; ++serial) {
    const std::string partial = fmt::format("{}.{}.{}", key, getpid(), serial);
    fs::create_symlink(path("precious"), path("cache") / partial);
  }
  fs::create_symlink(path("new"), path("cache") / (key + ".lock"));
  {
    const ObjectCache::Lock lock(cache, key);
    cache.store(key, path("object"));
  }
  std::string content;
  ASSERT_TRUE(read_file(path("precious"), &content, &diagnostics_));
  EXPECT_EQ(content, "mine");
  EXPECT_FALSE(fs::exists(path("new")));
}

TEST_F(ObjectCacheTest, AnObjectThatOthersCanWriteIsNotUsed) {
  const ObjectCache cache(path("cache"));
  const std::string key = ObjectCache::key("a");
  const fs::path kept = path("cache") / (key + ".o");
  ASSERT_TRUE(write_file(path("object"), "an object", &diagnostics_));
  cache.store(key, path("object"));
  fs::permissions(kept, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(cache.fetch(key, path("out")));
  fs::remove(kept);
  ASSERT_EQ(mkfifo(kept.c_str(), 0600), 0);
  EXPECT_FALSE(cache.fetch(key, path("out"))) << "and a FIFO does not block";
}

TEST_F(ObjectCacheTest, OnlyStoredObjectsAreFetched) {
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
