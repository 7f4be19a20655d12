// SPDX-License-Identifier: Apache-2.0
// The symbol names of entries, as gufcc generates them.
#include "backends/gpu/geometry/entry.h"

namespace gufunc::gpu {

const char *entry_name(Entry entry) {
  switch (entry) {
    case Entry::kRow:
      return "_row";
    case Entry::kNd:
      return "_nd";
    case Entry::kThread:
      return "_thread";
    case Entry::kStaged:
      return "_staged";
    case Entry::kLanes:
      return "_lanes";
    case Entry::kBlock:
      return "_block";
    case Entry::kLeaves:
      return "_leaves";
    case Entry::kJoin:
      return "_join";
    case Entry::kFold:
      return "_fold";
    case Entry::kScan:
      return "_scan";
    case Entry::kAt:
      return "_at";
    case Entry::kConvert:
      return "guf_copy_convert";
    case Entry::kCopy1:
      return "guf_copy_elements1";
    case Entry::kCopy2:
      return "guf_copy_elements2";
    case Entry::kCopy4:
      return "guf_copy_elements4";
    case Entry::kCopy8:
      return "guf_copy_elements8";
    case Entry::kCopy16:
      return "guf_copy_elements16";
    case Entry::kTile1:
      return "guf_copy_tile1";
    case Entry::kTile2:
      return "guf_copy_tile2";
    case Entry::kTile4:
      return "guf_copy_tile4";
    case Entry::kTile8:
      return "guf_copy_tile8";
    case Entry::kTile16:
      return "guf_copy_tile16";
    case Entry::kBytes:
      return "guf_copy_bytes";
    case Entry::kFill:
      return "guf_copy_fill";
    case Entry::kEntries:
      break;
  }
  return "";
}

}  // namespace gufunc::gpu
