// SPDX-License-Identifier: Apache-2.0
// Graphs, which contain the captured work of a stream.
#ifndef GUFUNC_CORE_BACKEND_GRAPH_H
#define GUFUNC_CORE_BACKEND_GRAPH_H

#include "core/backend/backend.h"

namespace gufunc::backend {

// The objects that captured work uses. The graph and every pending launch share
// ownership. After an update replaces the work of a graph, only pending
// launches of the old work keep its objects alive.
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

// Starts the capture of a stream.
// Errors  GUF_E_CAPTURE, GUF_E_UNSUPPORTED
guf_status begin_capture(Stream &stream, guf_error *error);

// Ends the capture of a stream that is destroyed during its capture.
void abandon_capture(Stream &stream);

// Returns whether begin_capture is capturing the stream. For a stream that the program owns, also
// queries the plugin whether the program itself is capturing it.
bool is_captured(const Stream &stream);

// Rejects an operation that cannot be part of a graph. Rejecting it here leaves the capture valid,
// whereas the driver would abort the capture.
// Errors  GUF_E_CAPTURE <= the stream is being captured; the message names the operation `what`
guf_status check_not_captured(const Stream *stream, const char *what, guf_error *error);

// Records the event after all work that is queued on the stream so far. During a capture, the event
// becomes a point in the graph.
guf_status record_event(Event &event, Stream &stream, guf_error *error);
// Checks that an event can be waited for.
// Errors  GUF_E_CAPTURE <= the event is a point in a graph, which cannot be waited for
guf_status check_event(const Event &event, guf_error *error);
// Makes the stream wait for the event. If the event was recorded in
// a capture, the stream joins the capture.
// Errors  GUF_E_CAPTURE <= the event belongs to another capture than the stream, or to a capture
//         that has ended
guf_status wait_for_event(Stream &stream, Event &event, guf_error *error);

// Ends a capture. Stores the captured work in a new graph if
// `*inout` is empty, or in the graph `*inout`.
// Errors  as guf_stream_end_capture; the capture has ended even after an error
guf_status end_capture(Stream &stream, base::Ref<Graph> *inout, guf_error *error);

guf_status launch_graph(Graph &graph, Stream &stream, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_GRAPH_H
