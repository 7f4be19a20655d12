// SPDX-License-Identifier: Apache-2.0
// The x86-64 microarchitecture level of this machine, from its feature bits, never from the model
// number.
#ifndef GUFUNC_BACKENDS_CPU_BASE_CPU_ISA_H
#define GUFUNC_BACKENDS_CPU_BASE_CPU_ISA_H

namespace gufunc::cpu {

inline constexpr int kLowestIsaLevel = 1;
inline constexpr int kHighestIsaLevel = 4;
// The lowest level that gufcc and the plugin's own kernels are compiled for.
inline constexpr int kLowestCompiledLevel = 2;

// The results of cpuid and XCR0. Plain data, so that tests can describe other machines.
struct CpuFeatures {
  unsigned leaf1_ecx = 0, leaf7_ebx = 0, extended1_ecx = 0;
  unsigned long long xcr0 = 0;  // 0 if the system saves no extended state
};
CpuFeatures read_cpu_features();

// Returns the highest n such that the features satisfy x86-64-v<n>; 1 is plain x86-64.
int isa_level_of(const CpuFeatures &features);

// "x86-64" is 1, "x86-64-v3" and "v3" are 3; any other text is 0.
int parse_isa_level(const char *text);

// Returns the machine's level, lowered to the requested level ("v2"; NULL or empty: no request). A
// request cannot raise the level, nor lower it below the lowest compiled level. A request that
// cannot be granted is logged and ignored.
int granted_isa_level(int machine, const char *wish);

// The machine's level, read once, because virtual machines trap cpuid and need 10 us for each.
int machine_isa_level();

// The level that loops are chosen for: the machine's level, lowered by GUFUNC_CPU_ISA. Read once.
int isa_level();
// Returns the name of the level, such as "x86-64-v3".
const char *isa_target(int level);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_CPU_ISA_H
