#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_julia.sh SOURCES BUILD [-option…] SCRIPT ARGUMENT…: runs a script with the package and the
# library of this build. Uses `julia` from PATH, otherwise build/julia; exits with status 77 if
# there is no Julia.
sources=$1
build=$2
shift 2
julia=$(command -v julia || true)
if [ -z "$julia" ]; then julia=$sources/build/julia/bin/julia; fi
if [ ! -x "$julia" ]; then
  echo "skipped: no julia (bindings/julia/setup)"
  exit 77
fi
export GUFUNC_LIBRARY="$build/lib/libgufunc.so"
export GUFUNC_TEST_MODULES="$build/examples/modules"
# The depot is in the build tree, so that Julia writes to no other folder.
export JULIA_DEPOT_PATH="$build/julia-depot"
export JULIA_LOAD_PATH="$sources/bindings/julia:@stdlib"
exec "$julia" --startup-file=no "$@"
