// SPDX-License-Identifier: Apache-2.0
// Waiting for a stream, with a line on stderr while it lasts.
#ifndef GUFUNC_TOOLS_GUFUNC_PROGRESS_H
#define GUFUNC_TOOLS_GUFUNC_PROGRESS_H

#include <gufunc/gufunc.h>

#include <string>

namespace gufunc::cli {

// Whether stderr is a terminal.
bool shows_progress();

// Waits until `stream` is done. From the first second on one line on stderr tells the ufunc, the
// elements and the time passed; it is wiped at the end. Throws the work's failure.
void wait_with_progress(guf_stream stream, const std::string &name, uint64_t elements);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_PROGRESS_H
