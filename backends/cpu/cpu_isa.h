// SPDX-License-Identifier: Apache-2.0
// Which x86-64 microarchitecture level this machine runs, by feature bits and never by model
// number.
#ifndef GUFUNC_BACKENDS_CPU_CPU_ISA_H
#define GUFUNC_BACKENDS_CPU_CPU_ISA_H

namespace gufunc::cpu {

inline constexpr int kLowestIsaLevel = 1;
inline constexpr int kHighestIsaLevel = 4;
inline constexpr int kLowestCompiledLevel =
    2;  // gufcc and the plugin's own kernels have none below

// What cpuid and XCR0 say. Pure, so that tests can describe machines they do not run on.
struct CpuFeatures {
  unsigned leaf1_ecx = 0, leaf7_ebx = 0, extended1_ecx = 0;
  unsigned long long xcr0 = 0;  // 0 when the system saves no extended state
};
CpuFeatures read_cpu_features();

// Highest n such that the features make x86-64-v<n>; 1 is plain x86-64.
int isa_level_of(const CpuFeatures &features);

// "x86-64" is 1, "x86-64-v3" and "v3" are 3; 0 for any other text.
int parse_isa_level(const char *text);

// What a wish ("v2"; NULL or empty: none) makes of the machine's level: it can only lower it, to a
// level that kernels are compiled for. A wish that cannot be granted is logged and ignored.
int granted_isa_level(int machine, const char *wish);

// The machine's level. Read once: a virtual machine traps cpuid, at 10 us each.
int machine_isa_level();

// The level that loops are chosen for: the machine's, lowered by GUFUNC_CPU_ISA. Read once.
int isa_level();
// "x86-64-v3"
const char *isa_target(int level);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CPU_ISA_H
