#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a Go command in bindings/go with the library of a build folder. All files that it creates are
# below that folder. Without Go it prints a message and exits with status 77.
#
#   go_run.sh BUILD_FOLDER test|soak|check|race|cgocheck|cost|dlopen   runs the tests of that name
#   go_run.sh BUILD_FOLDER cost 120                                   fails if a call costs more
#   go_run.sh BUILD_FOLDER run PACKAGE ARGUMENT...                    builds and runs a program
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
# Several tests may write the file concurrently, all with the same content.
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
  # Allocations make the benchmark fail. Times are checked only against the limit in the arguments,
  # which is 120 ns on a machine without other load.
  cost) go run ./bench -bar "${1:-100000}" ;;
  dlopen) . "$project/bindings/go/tests/dlopen_test.sh" ;;
  check)
    unformatted=$(gofmt -l .)
    [ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" && exit 1; }
    go vet ./...
    ;;
  run)
    program=$made/bin/$(basename "$1")
    # Only one build runs at a time. A program that is up to date is not rebuilt.
    flock "$made/lock" go build -o "$program" "$1"
    shift
    cd "$here"
    exec "$program" "$@"
    ;;
  *) echo "go_run.sh: no test $what" && exit 2 ;;
esac
