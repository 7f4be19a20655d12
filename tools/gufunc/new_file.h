// SPDX-License-Identifier: Apache-2.0
// A file that nobody sees before it is complete.
#ifndef GUFUNC_TOOLS_GUFUNC_NEW_FILE_H
#define GUFUNC_TOOLS_GUFUNC_NEW_FILE_H

#include <sys/types.h>

#include <string>

namespace gufunc::cli {

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor();
  int get() const { return fd_; }
  void reset(int fd);

 private:
  int fd_;
};

// A file in the folder of `target` that has no name until publish(): the kernel frees it when the
// process ends, whatever ends it. Where the file system has no unnamed files (O_TMPFILE), it has a
// temporary name, which the destructor and the handlers of signals remove.
class NewFile {
 public:
  // `shown`: what errors call the file. `mode` is subject to the umask. Throws Failure(kFile).
  NewFile(std::string target, std::string shown, mode_t mode);
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  ~NewFile();

  int fd() const { return file_.get(); }
  // Gives the file its name; a file of that name is replaced in one step. Throws Failure(kFile).
  void publish();

 private:
  bool open_unnamed(const std::string &folder, mode_t mode);
  int link_as(const std::string &name) const;

  std::string target_, shown_;
  std::string temporary_;  // empty: the file has no name
  Descriptor file_{-1};
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NEW_FILE_H
