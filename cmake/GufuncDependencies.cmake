# SPDX-License-Identifier: Apache-2.0
# What comes from outside. Libraries link libmd (SHA-256) and libzstd (device images) only; the rest
# serves tools and tests.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(libmd REQUIRED IMPORTED_TARGET libmd)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)

# Kernels are compiled by clang-19; host code by whatever CMAKE_CXX_COMPILER says.
find_program(GUFUNC_CLANGXX NAMES clang++-19 DOC "Compiler of the kernels")

# gufcc is always built: it compiles the cpu plugin's kernels.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
if(GUFUNC_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
endif()
# script/setup makes it, with the NumPy that the oracle and the benchmarks compare against.
set(GUFUNC_VENV_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python"
    CACHE FILEPATH "Python with NumPy 2.x")
if(GUFUNC_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
