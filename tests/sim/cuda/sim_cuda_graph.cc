// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/cuda/sim_cuda_api.h"

using sim::kSuccess;

SIM_EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  SIM_CALL(cuGraphInstantiateWithFlags, 0) {
    const std::shared_ptr<sim::Graph> found = driver.graphs.find(graph);
    if (exec == nullptr || flags > 15) return sim::kInvalidValue;
    return found == nullptr ? static_cast<int>(sim::kInvalidValue)
                            : instantiate(driver, *found, exec);
  }
  SIM_END;
}

SIM_EXPORT int cuGraphExecUpdate_v2(void *exec, void *graph,
                                    sim::cuda::GraphExecUpdateResultInfo *info) {
  SIM_CALL(cuGraphExecUpdate_v2, 0) {
    const std::shared_ptr<sim::GraphExec> target = driver.graph_execs.find(exec);
    const std::shared_ptr<sim::Graph> source = driver.graphs.find(graph);
    if (target == nullptr || source == nullptr || info == nullptr) return sim::kInvalidValue;
    *info = {update_exec(*target, *source), nullptr, nullptr};
    return info->result == 0 ? kSuccess : sim::kGraphUpdateFailure;
  }
  SIM_END;
}

SIM_EXPORT int cuGraphExecDestroy(void *exec) {
  SIM_CALL(cuGraphExecDestroy, sim::kReleases) {
    return driver.graph_execs.remove(exec) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int cuGraphDestroy(void *graph) {
  SIM_CALL(cuGraphDestroy, sim::kReleases) {
    return driver.graphs.remove(graph) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int cuGraphLaunch(void *exec, void *stream) {
  SIM_CALL(cuGraphLaunch, 0) {
    sim::Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    std::shared_ptr<sim::Stream> found;
    const int failed = find_stream(driver, *current, stream, &found);
    if (failed != kSuccess) return failed;
    const std::shared_ptr<sim::GraphExec> target = driver.graph_execs.find(exec);
    if (target == nullptr) return sim::kInvalidValue;
    return launch_graph(driver, target, found);
  }
  SIM_END;
}
