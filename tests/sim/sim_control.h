// SPDX-License-Identifier: Apache-2.0
// What tests ask of a simulated driver beside its vendor's functions. The symbols are exported by
// both libraries; a test finds them with dlsym on the handle of the one that it means, under these
// names. Nothing here is counted as a call.
#ifndef GUFUNC_TESTS_SIM_SIM_CONTROL_H
#define GUFUNC_TESTS_SIM_SIM_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes a setting: the name of a GUFUNC_SIM_* variable without that beginning, and its value.
   DEVICES, MEMORY, ARCH, ORDER, SEED, VERSION, MISSING and DEVICE_CHECK hold from the next reset
   on. 0: done; 1: no such setting. */
int gufunc_sim_set(const char *name, const char *value);

/* Waits for all work, then forgets every object, context, device, fault and count: the next init
   begins anew with the settings as they are. Pointers of contexts and streams are dead. */
void gufunc_sim_reset(void);

/* Adds faults, "function:nth:code[:sticky]", several between commas. nth counts calls from now on;
   0 means every call. exec_kernel, exec_copy and exec_fill strike when such an operation runs.
   0: done; 1: not of this form, some may have been added. */
int gufunc_sim_fault(const char *faults);
void gufunc_sim_clear_faults(void);

/* Waits for all work; then contexts that failed for good work again: what no driver does, and a
   sweep of faults needs. */
void gufunc_sim_heal(void);

/* The context that is current on this thread, as a number; 0: none. */
uint64_t gufunc_sim_current(void);

/* Calls of a function since the last reset; of all functions for null. */
uint64_t gufunc_sim_calls(const char *function);
void gufunc_sim_clear_calls(void);
/* The name of the function number `index` that the driver has, or null: for sweeps over all. */
const char *gufunc_sim_function(uint32_t index);

/* Live objects of a kind: "allocation" (device memory of any kind), "pinned", "registered",
   "stream", "event", "module", "library", "pool", "graph", "graph_exec", "context" (references of
   primary ones included), or null for the sum. UINT64_MAX: no such kind. */
uint64_t gufunc_sim_live(const char *kind);

/* Bytes of device memory that are allocated, pools' unused memory not counted. */
uint64_t gufunc_sim_used_bytes(void);

/* PTX that was loaded since the last reset, all of which a driver compiles: its "texts", "bytes" or
   "entries". UINT64_MAX: no such count. */
uint64_t gufunc_sim_ptx(const char *what);

/* How often a program did what is forbidden, and what the n-th was; null behind the last. Texts
   live until the next reset. */
uint32_t gufunc_sim_violations(void);
const char *gufunc_sim_violation(uint32_t index);
void gufunc_sim_clear_violations(void);

/* Makes dlsym and cuGetProcAddress not find a function any more (1), or find it again (0).
   Returns 0, or 1 where there is no such function. A reset shows all that MISSING does not name. */
int gufunc_sim_hide(const char *function, int hidden);

/* Writes live objects, calls and violations as text; the length, as snprintf gives it. */
uint64_t gufunc_sim_report(char *text, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif /* GUFUNC_TESTS_SIM_SIM_CONTROL_H */
