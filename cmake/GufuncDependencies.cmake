# SPDX-License-Identifier: Apache-2.0
# Finds the external dependencies. The libraries link only libmd (SHA-256) and libzstd (device
# images). Tools and tests use all other dependencies.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(libmd REQUIRED IMPORTED_TARGET libmd)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)

# clang-19 compiles the kernels, and CMAKE_CXX_COMPILER compiles the host code.
find_program(GUFUNC_CLANGXX NAMES clang++-19 DOC "Compiler of the kernels")
mark_as_advanced(GUFUNC_CLANGXX)

# gufcc needs ptxas of a CUDA toolkit to generate NVIDIA images, and libdevice for functions with
# fp=vendor or fp=fast. Both are optional.
# The toolkit is found through the environment, in the PATH, or in the wheels that script/setup
# installs into build/cuda.
file(GLOB gufunc_cuda_wheels
     "${PROJECT_SOURCE_DIR}/build/cuda/lib/python3*/site-packages/nvidia/cu13")
find_program(gufunc_ptxas NAMES ptxas NO_CACHE
             HINTS "$ENV{CUDA_HOME}/bin" PATHS /usr/local/cuda/bin ${gufunc_cuda_wheels}/bin)
if(gufunc_ptxas)
  file(REAL_PATH "${gufunc_ptxas}" gufunc_ptxas)
  cmake_path(GET gufunc_ptxas PARENT_PATH gufunc_ptxas)
  cmake_path(GET gufunc_ptxas PARENT_PATH gufunc_cuda_home)
endif()
if(NOT GUFUNC_CUDA_HOME)  # A toolkit may have been installed since the last run of CMake.
  set(GUFUNC_CUDA_HOME "${gufunc_cuda_home}" CACHE PATH "CUDA toolkit of the kernels" FORCE)
endif()
# GUFUNC_PTXAS is the assembler that gufcc uses instead of the toolkit's assembler. A driver rejects
# the output of an assembler that belongs to a later major version of CUDA than the driver.
# script/setup installs an assembler of CUDA 12 into build/ptxas.
file(GLOB gufunc_old_ptxas
     "${PROJECT_SOURCE_DIR}/build/ptxas/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas")
if(NOT GUFUNC_PTXAS)
  set(GUFUNC_PTXAS "${gufunc_old_ptxas}" CACHE FILEPATH
      "Assembler of NVIDIA's machine code; empty: the toolkit's" FORCE)
endif()
set(GUFUNC_CUDA_COMPILER "clang" CACHE STRING
    "What makes PTX: clang, for drivers since r418, or the toolkit's nvcc, for drivers as new")
set_property(CACHE GUFUNC_CUDA_COMPILER PROPERTY STRINGS clang nvcc)
file(GLOB gufunc_ocml /usr/lib/*/amdgcn/bitcode/ocml.bc /opt/rocm/amdgcn/bitcode/ocml.bc)
if(gufunc_ocml AND NOT GUFUNC_ROCM_BITCODE)
  list(GET gufunc_ocml 0 gufunc_ocml)
  cmake_path(GET gufunc_ocml PARENT_PATH gufunc_rocm_bitcode)
  set(GUFUNC_ROCM_BITCODE "${gufunc_rocm_bitcode}" CACHE PATH "AMD's device libraries" FORCE)
endif()
find_program(GUFUNC_LLD NAMES ld.lld-19 DOC "Linker of AMD's code objects")
mark_as_advanced(GUFUNC_LLD)

# gufcc is always built, because it compiles the cpu plugin's kernels.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
if(GUFUNC_BUILD_TESTS)
  find_package(GTest REQUIRED)
  pkg_check_modules(libcjson REQUIRED IMPORTED_TARGET libcjson)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
endif()
# script/setup creates this environment, with the NumPy version that the oracle and the benchmarks
# use.
set(GUFUNC_VENV_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python"
    CACHE FILEPATH "Python with NumPy 2.x")
if(GUFUNC_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
