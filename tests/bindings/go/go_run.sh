#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command of Go's in bindings/go against the library of a build folder, all products below
# that folder. Without Go it says so and ends with 77.
#
#   go_run.sh BUILD_FOLDER test|soak|check|race|cgocheck|cost|dlopen   the tests of that name
#   go_run.sh BUILD_FOLDER cost 120                                   1 where a call costs more
#   go_run.sh BUILD_FOLDER run PACKAGE ARGUMENT...                    builds a program and runs it
set -eu
build=$(cd "$1" && pwd) what=$2
shift 2
project=$(cd "$(dirname "$0")/../../.." && pwd)
go=$(cd "$project" && sh bindings/go/setup --find) || {
  echo "skipped: no Go from 1.24 on (bindings/go/setup)"
  exit 77
}
case $go in /*) ;; *) go=$project/$go ;; esac
PATH=$(dirname "$go"):$PATH
made=$build/bindings/go
mkdir -p "$made/pkgconfig" "$made/bin"
# Several tests write it at once, the same bytes.
cat >"$made/pkgconfig/gufunc.pc.$$" <<END
Name: gufunc
Description: the library of a build folder
Version: 0
Libs: -L$build/lib -lgufunc
Cflags: -I$project/abi/include
END
mv "$made/pkgconfig/gufunc.pc.$$" "$made/pkgconfig/gufunc.pc"
export PKG_CONFIG_PATH="$made/pkgconfig" GOCACHE="$made/cache" GOPATH="$made/path"
export CGO_LDFLAGS="-O2 -g -Wl,-rpath,$build/lib"
export GOFLAGS=-buildvcs=false GOTOOLCHAIN=local GOTELEMETRY=off
export GUFUNC_TEST_MODULES="${GUFUNC_TEST_MODULES:-$build/examples/modules}"
here=$PWD
cd "$project/bindings/go"

case $what in
  test) go test -count=1 -short . ./examples/... ;;
  soak) go test -count=1 -v -run 'LeaveNothing|Messages' . ;;
  race) go test -count=1 -short -race -skip LeaveNothing . ;;
  cgocheck) GOEXPERIMENT=cgocheck2 go test -count=1 -short -skip LeaveNothing . ;;
  # Allocations fail it; times do only where a bar is given, 120 ns on a quiet machine.
  cost) go run ./bench -bar "${1:-100000}" ;;
  dlopen) . "$project/tests/bindings/go/dlopen_test.sh" ;;
  check)
    unformatted=$(gofmt -l .)
    [ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" && exit 1; }
    go vet ./...
    ;;
  run)
    program=$made/bin/$(basename "$1")
    # One at a time: a program that is as its sources are stays as it is.
    flock "$made/lock" go build -o "$program" "$1"
    shift
    cd "$here"
    exec "$program" "$@"
    ;;
  *) echo "go_run.sh: no test $what" && exit 2 ;;
esac
