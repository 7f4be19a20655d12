# SPDX-License-Identifier: Apache-2.0
# gufunc_add_module must fail if TARGETS is an unset variable.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/GufuncAddModule.cmake")
gufunc_add_module(kernels SOURCES kernels.guf.cpp TARGETS ${there_is_none})
