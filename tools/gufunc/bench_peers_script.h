// SPDX-License-Identifier: Apache-2.0
// The text of bench_peers.py, which CMake writes into a source file.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_PEERS_SCRIPT_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_PEERS_SCRIPT_H

namespace gufunc::cli {

extern const char kBenchPeersScript[];

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_PEERS_SCRIPT_H
