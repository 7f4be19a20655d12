// SPDX-License-Identifier: Apache-2.0
// A new file that becomes visible only when it is complete.
#ifndef GUFUNC_TOOLS_GUFUNC_NEW_FILE_H
#define GUFUNC_TOOLS_GUFUNC_NEW_FILE_H

#include <sys/types.h>

#include <string>

#include "core/base/descriptor.h"

namespace gufunc::cli {

using base::Descriptor;

// A file in the folder of `target` that has no name until publish(). The kernel frees it when the
// process ends, however it ends. If the file system has no unnamed files (O_TMPFILE), the file has
// a temporary name, which the destructor and the signal handlers remove.
class NewFile {
 public:
  // `shown` is the name used in error messages. `mode` is subject to the umask. Throws
  // Failure(kFile).
  NewFile(std::string target, std::string shown, mode_t mode);
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  ~NewFile();

  int fd() const { return file_.get(); }
  // Gives the file its name, and atomically replaces an existing file of that name. Throws
  // Failure(kFile).
  void publish();

 private:
  bool open_unnamed(const std::string &folder, mode_t mode);
  int link_as(const std::string &name) const;

  std::string target_, shown_;
  std::string temporary_;  // empty if the file has no name
  Descriptor file_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NEW_FILE_H
