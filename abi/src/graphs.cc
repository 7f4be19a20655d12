// SPDX-License-Identifier: Apache-2.0
// C API layer of graphs.
#include <gufunc/graph.h>

#include "abi/src/handles.h"
#include "core/backend/graph.h"

using namespace gufunc;
using backend::Graph;

namespace {

guf_status need_graph(guf_graph graph, Graph **out, guf_error *error) {
  GUF_TRY(base::find_object(graph, "graph", out, error));
  return capi::check_epoch(**out, "graph", error);
}

}  // namespace

guf_status guf_stream_begin_capture(guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    backend::Stream *found = nullptr;
    GUF_TRY(capi::need_stream(stream, &found, error));
    return backend::begin_capture(*found, error);
  });
}

guf_status guf_stream_end_capture(guf_stream stream, guf_graph *inout_graph, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(inout_graph, "inout_graph", error));
    backend::Stream *found = nullptr;
    GUF_TRY(capi::need_stream(stream, &found, error));
    base::Ref<Graph> graph;
    if (*inout_graph != nullptr) {
      Graph *old = nullptr;
      GUF_TRY(need_graph(*inout_graph, &old, error));
      graph = base::Ref<Graph>::share(old);
    }
    GUF_TRY(backend::end_capture(*found, &graph, error));
    if (*inout_graph == nullptr) *inout_graph = capi::publish<guf_graph>(graph);
    return GUF_OK;
  });
}

guf_status guf_graph_launch(guf_graph graph, guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Graph *work = nullptr;
    backend::Stream *queue = nullptr;
    GUF_TRY(need_graph(graph, &work, error));
    GUF_TRY(capi::need_stream(stream, &queue, error));
    return backend::launch_graph(*work, *queue, error);
  });
}

guf_status guf_graph_retain(guf_graph graph, guf_error *error) {
  return capi::retain(graph, base::Kind::kGraph, "graph", error);
}

guf_status guf_graph_release(guf_graph graph, guf_error *error) {
  return capi::release(graph, base::Kind::kGraph, "graph", error);
}
