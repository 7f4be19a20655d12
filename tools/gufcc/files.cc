// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

bool read_file(const fs::path &path, std::string *out, Diagnostics *diagnostics) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad() || !file.is_open()) {
    return diagnostics->error({}, "cannot read {}: {}", path.string(), std::strerror(errno));
  }
  *out = text.str();
  return true;
}

bool write_file(const fs::path &path, const std::string &text, Diagnostics *diagnostics) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return diagnostics->error({}, "cannot write {}: {}", path.string(), std::strerror(errno));
  return true;
}

bool find_output(const fs::path &typed, fs::path *out, Diagnostics *diagnostics) {
  constexpr int kMaxLinks = 40;  // as the kernel has it
  std::error_code failure;
  fs::path place = typed;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, failure)); ++links) {
    if (links == kMaxLinks) {
      return diagnostics->error({}, "cannot write {}: it links to itself", typed.string());
    }
    const fs::path target = fs::read_symlink(place, failure);
    if (failure) break;
    place = place.parent_path() / target;
  }
  const fs::file_status found = fs::status(place, failure);
  if (fs::exists(found) && !fs::is_regular_file(found)) {
    return diagnostics->error({}, "cannot write {}: it exists and is no regular file",
                              typed.string());
  }
  *out = place;
  return true;
}

bool move_into_place(const fs::path &from, const fs::path &typed, Diagnostics *diagnostics) {
  fs::path to;
  if (!find_output(typed, &to, diagnostics)) return false;
  std::string beside = to.string() + ".XXXXXX";
  const int descriptor = mkstemp(beside.data());
  if (descriptor < 0) {
    return diagnostics->error({}, "cannot write {}: {}", typed.string(), std::strerror(errno));
  }
  close(descriptor);
  std::error_code failure;
  fs::copy_file(from, beside, fs::copy_options::overwrite_existing, failure);  // the mode, too
  if (!failure) fs::rename(beside, to, failure);
  if (!failure) return true;
  const std::string why = failure.message();
  fs::remove(beside, failure);
  return diagnostics->error({}, "cannot write {}: {}", typed.string(), why);
}

void replace_all(std::string *text, const std::string &from, const std::string &to) {
  if (from.empty() || from == to) return;
  for (size_t at = text->find(from); at != std::string::npos;
       at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!keep_ && !path_.empty()) fs::remove_all(path_, ignored);
}

bool TemporaryFolder::create(Diagnostics *diagnostics) {
  std::error_code failure;
  std::string pattern = (fs::temp_directory_path(failure) / "gufcc-XXXXXX").string();
  if (failure || mkdtemp(pattern.data()) == nullptr) {
    return diagnostics->error({}, "cannot make a temporary folder: {}",
                              failure ? failure.message() : std::strerror(errno));
  }
  path_ = pattern;
  return true;
}

// A thread waits for the signals, since a handler may not remove files. Compilers that still run
// fail for want of the folder.
void TemporaryFolder::remove_on_signals() const {
  if (keep_) return;
  sigset_t deadly;
  sigemptyset(&deadly);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction found;
    // What the caller ignores, as nohup does, stays ignored.
    if (sigaction(number, nullptr, &found) == 0 && found.sa_handler != SIG_IGN) {
      sigaddset(&deadly, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &deadly, nullptr);
  std::thread([deadly, path = path_] {
    int number = 0;
    if (sigwait(&deadly, &number) != 0) return;
    std::error_code ignored;
    // A compiler may add a file on the way.
    for (int i = 0; i < 100 && fs::exists(path, ignored); ++i) fs::remove_all(path, ignored);
    pthread_sigmask(SIG_UNBLOCK, &deadly, nullptr);
    raise(number);
  }).detach();
}

}  // namespace gufunc::gufcc
