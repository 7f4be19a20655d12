// SPDX-License-Identifier: Apache-2.0
// Work of a stream that was captured.
#ifndef GUFUNC_CORE_BACKEND_GRAPH_H
#define GUFUNC_CORE_BACKEND_GRAPH_H

#include "core/backend/backend.h"

namespace gufunc::backend {

// What captured work uses. The graph holds it and so does every launch that is under way: an update
// gives the graph other work, and then the launches of the old one are the last to hold this.
struct GraphWork final : base::Object {
  GraphWork() : Object(base::Kind::kGraph) {}
  std::vector<base::Ref<base::Object>> kept;
};

class Graph final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kGraph;
  Graph() : Object(kKind) {}
  ~Graph() override;

  Device *device = nullptr;
  void *native = nullptr;
  uint32_t fork_epoch = 0;
  base::Ref<GraphWork> work;
};

// Errors  GUF_E_CAPTURE, GUF_E_UNSUPPORTED
guf_status begin_capture(Stream &stream, guf_error *error);

// Into a new graph where `*inout` is none, else into that one.
// Errors  those of guf_stream_end_capture; the capture is over in any case
guf_status end_capture(Stream &stream, base::Ref<Graph> *inout, guf_error *error);

guf_status launch_graph(Graph &graph, Stream &stream, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_GRAPH_H
