// SPDX-License-Identifier: Apache-2.0
#include "new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "fatal_signals.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

constexpr int kAttempts = 100;  // tries to find an unused name

std::string folder_of(const std::string &path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns a random name in `folder`, short enough for every file system.
std::string random_name(const std::string &folder) {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<uint64_t>(::getpid());
  return fmt::format("{}/.gufunc-{:016x}", folder, number);
}

// Returns the path of a descriptor in /proc. An unnamed file has no other path; link_as() links the
// file from this path to a name.
std::string name_of_descriptor(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

// Tries random names until make(name) succeeds. make() returns a negative number and sets errno on
// failure. The name is registered with the signal handlers before a signal can arrive.
template <class Make>
int make_named(const std::string &folder, std::string *name, Make make) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *name = random_name(folder);
    const SignalsBlocked blocked;
    const int made = make(*name);
    if (made >= 0) remove_on_signals(name->c_str());
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

}  // namespace

// Returns false if the file system has no unnamed files, or if such a file could not be linked
// later.
bool NewFile::open_unnamed(const std::string &folder, mode_t mode) {
  file_ = Descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  return file_.get() >= 0 && ::access(name_of_descriptor(file_.get()).c_str(), F_OK) == 0;
}

NewFile::NewFile(std::string target, std::string shown, mode_t mode)
    : target_(std::move(target)), shown_(std::move(shown)) {
  const std::string folder = folder_of(target_);
  if (target_.empty()) fail_file(shown_, "create a file beside", ENOENT);
  if (open_unnamed(folder, mode)) return;
  file_ = Descriptor(make_named(folder, &temporary_, [mode](const std::string &name) {
    return ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }));
  if (file_.get() >= 0) return;
  temporary_.clear();
  fail_file(shown_, "create a file beside");
}

NewFile::~NewFile() {
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_on_signals(temporary_.c_str());
}

int NewFile::link_as(const std::string &name) const {
  return ::linkat(AT_FDCWD, name_of_descriptor(file_.get()).c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW);
}

// linkat(2) never replaces a file, but rename(2) does. Therefore, to replace an existing file,
// linkat(2) first gives the new file a temporary name. Between the two calls only SIGKILL can end
// the process.
void NewFile::publish() {
  const SignalsBlocked blocked;
  if (temporary_.empty()) {
    if (link_as(target_) == 0) return;
    if (errno != EEXIST) fail_file(shown_, "write");
    const int linked = make_named(folder_of(target_), &temporary_,
                                  [this](const std::string &name) { return link_as(name); });
    if (linked != 0) {
      temporary_.clear();
      fail_file(shown_, "write");
    }
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_file(shown_, "write");
  forget_on_signals(temporary_.c_str());
  temporary_.clear();
}

}  // namespace gufunc::cli
