// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

bool read_descriptor(const Descriptor &file, std::string *out) {
  constexpr size_t kStep = 1 << 16;
  out->clear();
  for (size_t size = 0;;) {
    out->resize(size + kStep);
    const ssize_t n = read(file.get(), out->data() + size, kStep);
    if (n < 0 && errno == EINTR) continue;
    size += n > 0 ? static_cast<size_t>(n) : 0;
    out->resize(size);
    if (n <= 0) return n == 0;
  }
}

bool write_descriptor(const Descriptor &file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

bool read_file(const fs::path &path, std::string *out, Diagnostics *diagnostics) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.is_open() && read_descriptor(file, out)) return true;
  return diagnostics->error({}, "cannot read {}: {}", path.string(), std::strerror(errno));
}

bool write_file(const fs::path &path, const std::string &text, Diagnostics *diagnostics) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.is_open() && write_descriptor(file, text) && file.close()) return true;
  return diagnostics->error({}, "cannot write {}: {}", path.string(), std::strerror(errno));
}

bool find_output(const fs::path &typed, fs::path *out, Diagnostics *diagnostics) {
  constexpr int kMaxLinks = 40;  // the limit of the Linux kernel
  std::error_code failure;
  fs::path place = typed;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, failure)); ++links) {
    if (links == kMaxLinks) {
      return diagnostics->error({}, "cannot write {}: it is part of a loop of symbolic links",
                                typed.string());
    }
    const fs::path target = fs::read_symlink(place, failure);
    if (failure) break;
    place = place.parent_path() / target;
  }
  const fs::file_status found = fs::status(place, failure);
  if (fs::exists(found) && !fs::is_regular_file(found)) {
    return diagnostics->error({}, "cannot write {}: it exists and is not a regular file",
                              typed.string());
  }
  *out = place;
  return true;
}

bool move_into_place(const fs::path &from, const fs::path &typed, Diagnostics *diagnostics) {
  fs::path to;
  std::string content;
  struct stat made = {};
  if (!find_output(typed, &to, diagnostics) || !read_file(from, &content, diagnostics))
    return false;
  std::string beside = to.string() + ".XXXXXX";
  Descriptor file(mkostemp(beside.data(), O_CLOEXEC));
  const bool is_made = file.is_open();
  if (is_made && stat(from.c_str(), &made) == 0 && write_descriptor(file, content) &&
      fchmod(file.get(), made.st_mode & 0777) == 0 && file.close() &&
      rename(beside.c_str(), to.c_str()) == 0) {
    return true;
  }
  const int why = errno;
  if (is_made) unlink(beside.c_str());
  return diagnostics->error({}, "cannot write {}: {}", typed.string(), std::strerror(why));
}

std::string storage_failure(const std::string &output) {
  for (const int number : {ENOSPC, EFBIG, EDQUOT, EROFS, EIO}) {
    const std::string text = std::strerror(number);
    if (output.find(text) != std::string::npos) return text;
  }
  return {};
}

void replace_all(std::string *text, const std::string &from, const std::string &to) {
  if (from.empty() || from == to) return;
  for (size_t at = text->find(from); at != std::string::npos;
       at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

namespace {

// Runs rm, which works even if this process has no memory or descriptors left. std::filesystem's
// remove_all terminates the process if one of its allocations fails.
void remove_folder(const fs::path &folder) noexcept {
  char name[] = "rm", option[] = "-rf", separator[] = "--";
  char *const argv[] = {name, option, separator, const_cast<char *>(folder.c_str()), nullptr};
  pid_t child = 0;
  int status = -1;
  if (posix_spawnp(&child, name, nullptr, nullptr, argv, environ) == 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (status == 0) return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

TemporaryFolder::~TemporaryFolder() {
  if (!keep_ && !path_.empty()) remove_folder(path_);
}

bool TemporaryFolder::create(Diagnostics *diagnostics) {
  // Chooses the folder like std::filesystem::temp_directory_path, whose errors do not contain the
  // name of the folder. TMPDIR is last, because the last variable that is set wins.
  const char *folder = "/tmp";
  for (const char *name : {"TEMPDIR", "TEMP", "TMP", "TMPDIR"}) {
    const char *const value = secure_getenv(name);
    if (value != nullptr && *value != '\0') folder = value;
  }
  std::error_code failure;
  std::string pattern = (fs::absolute(folder, failure) / "gufcc-XXXXXX").string();
  if (failure || mkdtemp(pattern.data()) == nullptr) {
    return diagnostics->error(
        {}, "cannot make a temporary folder in {}: {}; set TMPDIR to another folder", folder,
        failure ? failure.message() : std::strerror(errno));
  }
  try {
    path_ = pattern;
  } catch (...) {
    rmdir(pattern.c_str());
    throw;
  }
  return true;
}

// A thread waits for the signals, because a signal handler must not remove files. Compilers that
// are still running fail because the folder is gone.
bool TemporaryFolder::remove_on_signals(Diagnostics *diagnostics) const {
  if (keep_) return true;
  sigset_t fatal_signals;
  sigemptyset(&fatal_signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction found;
    // Signals that the caller ignores (as nohup does) stay ignored.
    if (sigaction(number, nullptr, &found) == 0 && found.sa_handler != SIG_IGN) {
      sigaddset(&fatal_signals, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &fatal_signals, nullptr);
  const auto remove_at_signal = [fatal_signals, path = path_] {
    int number = 0;
    if (sigwait(&fatal_signals, &number) != 0) return;
    // A running compiler may add a file during the removal.
    for (int i = 0; i < 100 && access(path.c_str(), F_OK) == 0; ++i) remove_folder(path);
    pthread_sigmask(SIG_UNBLOCK, &fatal_signals, nullptr);
    raise(number);
  };
  try {
    std::thread(remove_at_signal).detach();
  } catch (const std::system_error &failure) {
    return diagnostics->error({}, "cannot start a thread: {}", failure.code().message());
  }
  return true;
}

}  // namespace gufunc::gufcc
