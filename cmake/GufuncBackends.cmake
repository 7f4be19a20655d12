# SPDX-License-Identifier: Apache-2.0
# Selects the backends to build, and the targets of their kernels. This file checks the values
# before CMake searches for compilers. `cmake -DGUFUNC_BUILD_BACKENDS=cpu -P` with this file runs
# only these checks.
cmake_minimum_required(VERSION 3.25)
set(GUFUNC_BUILD_BACKENDS "cpu;cuda;roc" CACHE STRING
    "Backends to build: cpu, which every build needs, and any of cuda and roc")
set(GUFUNC_CPU_ISA_LEVELS "v2;v3;v4" CACHE STRING
    "x86-64 levels that the cpu backend's kernels are compiled for: any of v2, v3 and v4, or host")
set(GUFUNC_CUDA_TARGETS "all" CACHE STRING
    "Targets of the cuda backend's kernels: all, or any of ptx_75 sm_75 sm_80 sm_90 sm_100 sm_120")
set(GUFUNC_ROC_TARGETS "all" CACHE STRING
    "Targets of the roc backend's kernels: all, or any of gfx906 gfx908 gfx90a gfx942 gfx1030 \
gfx1100 gfx1101 gfx1201 gfx9-generic gfx10-3-generic gfx11-generic gfx12-generic")

# _gufunc_check_choice(<variable> <what> <value>...): checks that the variable is a non-empty list
# of the given values.
function(_gufunc_check_choice variable what)
  if("${${variable}}" STREQUAL "")
    list(JOIN ARGN " " valid)
    message(FATAL_ERROR "${variable} is empty: expected one or more of ${valid}")
  endif()
  foreach(word IN LISTS ${variable})
    if(NOT word IN_LIST ARGN)
      list(JOIN ARGN " " valid)
      message(FATAL_ERROR "${variable}: '${word}' is not ${what}: expected any of ${valid}, "
                          "separated by ';'")
    endif()
  endforeach()
endfunction()

_gufunc_check_choice(GUFUNC_BUILD_BACKENDS "a backend" cpu cuda roc)
if(NOT "cpu" IN_LIST GUFUNC_BUILD_BACKENDS)
  message(FATAL_ERROR "GUFUNC_BUILD_BACKENDS is '${GUFUNC_BUILD_BACKENDS}', without cpu: arrays in "
                      "host memory belong to the cpu backend")
endif()
_gufunc_check_choice(GUFUNC_CPU_ISA_LEVELS "a level" v2 v3 v4 host)

# gufunc_gpu_backends is the list of GPU backends that are built (cuda, roc). gufunc_cuda_targets
# and gufunc_roc_targets are the lists of their targets, with `all` expanded.
set(gufunc_gpu_backends "")
foreach(vendor IN ITEMS cuda roc)
  if(NOT vendor IN_LIST GUFUNC_BUILD_BACKENDS)
    continue()
  endif()
  list(APPEND gufunc_gpu_backends ${vendor})
  string(TOUPPER "GUFUNC_${vendor}_TARGETS" variable)
  if(vendor STREQUAL "cuda")
    set(known ptx_75 sm_75 sm_80 sm_90 sm_100 sm_120)
  else()
    set(known gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1201
              gfx9-generic gfx10-3-generic gfx11-generic gfx12-generic)
  endif()
  if("${${variable}}" STREQUAL "")
    message(FATAL_ERROR "${variable} is empty: name a target, or leave ${vendor} out of "
                        "GUFUNC_BUILD_BACKENDS")
  endif()
  _gufunc_check_choice(${variable} "a target" all ${known})
  set(gufunc_${vendor}_targets ${${variable}})
  if("all" IN_LIST ${variable})
    set(gufunc_${vendor}_targets ${known})
  endif()
endforeach()
