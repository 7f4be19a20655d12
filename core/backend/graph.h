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

// Of a stream that goes before its capture was ended.
void abandon_capture(Stream &stream);

// Whether the stream is being captured: by begin_capture, or, if it is the program's, by the
// program, which one query of the plugin tells.
bool is_captured(const Stream &stream);

// For what may be no part of a graph. A refusal leaves the capture as it is, unlike the driver's.
// Errors  GUF_E_CAPTURE <= the stream is being captured; `what` is not to be done on it
guf_status refuse_captured(const Stream *stream, const char *what, guf_error *error);

// Marks the end of the stream, or of its part of the graph.
guf_status mark_stream(Event &event, Stream &stream, guf_error *error);
// Errors  GUF_E_CAPTURE <= the event marks a place in a graph: nobody can wait there
guf_status check_mark(const Event &event, guf_error *error);
// Makes the stream wait for the mark. A mark of a capture has the stream join that.
// Errors  GUF_E_CAPTURE <= the mark is of another capture than the stream, or of one that is over
guf_status wait_for_mark(Stream &stream, Event &event, guf_error *error);

// Into a new graph where `*inout` is none, else into that one.
// Errors  those of guf_stream_end_capture; the capture is over in any case
guf_status end_capture(Stream &stream, base::Ref<Graph> *inout, guf_error *error);

guf_status launch_graph(Graph &graph, Stream &stream, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_GRAPH_H
