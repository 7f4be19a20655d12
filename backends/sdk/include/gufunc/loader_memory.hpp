// SPDX-License-Identifier: Apache-2.0
// Detects whether the dynamic loader failed for lack of memory or of file descriptors. The loader
// has no error code for these causes. The library uses this file when it opens plugins, and the
// plugins use it when they open their vendor's driver. A lack of memory or descriptors may be
// temporary, so it must not be reported as GUF_E_NO_DRIVER, which is permanent.
#ifndef GUFUNC_LOADER_MEMORY_HPP
#define GUFUNC_LOADER_MEMORY_HPP

#include <cerrno>
#include <cstring>
#include <string_view>

namespace gufunc {

/** Returns ENOMEM if a failed call of the dynamic loader lacked memory, EMFILE or ENFILE if it
 * lacked a file descriptor, and otherwise 0. `code` is errno after the call, which the caller set
 * to 0 before; `reason` is the text of dlerror, or NULL. */
inline int loader_shortage(int code, const char *reason) {
  if (code == ENOMEM || code == EMFILE || code == ENFILE) return code;
  // The loader appends the system's text, in the language of the process, to most of its messages.
  const std::string_view text(reason == nullptr ? "" : reason);
  const auto ends_with = [text](std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  if (ends_with("out of memory")) return ENOMEM;
  for (const int shortage : {ENOMEM, EMFILE, ENFILE}) {
    if (ends_with(std::strerror(shortage))) return shortage;
  }
  return 0;
}

}  // namespace gufunc

#endif  // GUFUNC_LOADER_MEMORY_HPP
