# SPDX-License-Identifier: Apache-2.0
# go_run.sh sources this file in bindings/go. It builds one program that is linked with the library,
# and one program that opens the library at run time. The second program is built without pkg-config
# and without a library, and starts even if no library is installed.
opens() { CGO_LDFLAGS="-O2 -g" PKG_CONFIG=false "$@"; }
go build -o "$made/bin/opened_linked" ./internal/opened
opens go build -tags gufunc_dlopen -o "$made/bin/opened" ./internal/opened
if readelf -d "$made/bin/opened" | grep -F libgufunc; then
  echo "the program is linked with the library" && exit 1
fi

# expect STATUS TEXT COMMAND...: runs the command and checks its exit status and its output.
expect() {
  status=0 expected=$1 text=$2
  shift 2
  printed=$(env -u GUFUNC_LIBRARY "$@" 2>&1) || status=$?
  case $printed in *"$text"*) ;; *) status="$status, and not \"$text\"" ;; esac
  [ "$status" = "$expected" ] || { echo "$*: $status" && echo "$printed" && exit 1; }
}
library=$build/lib/libgufunc.so
alone="$made/bin/alone.so"
printf 'unsigned guf_version(void) { return 0; }\n' | ${CC:-cc} -shared -fPIC -o "$alone" -x c -
expect 0 '[2. 3. 4.]' "$made/bin/opened_linked"
expect 0 'GUF_E_UNSUPPORTED: the program is linked' "$made/bin/opened_linked" "$library"
expect 0 '[2. 3. 4.]' "$made/bin/opened" "$library"
expect 0 '[2. 3. 4.]' GUFUNC_LIBRARY="$library" "$made/bin/opened"
expect 0 '[2. 3. 4.]' GUFUNC_LIBRARY=/nowhere "$made/bin/opened" "$library"
expect 0 '[2. 3. 4.]' LD_LIBRARY_PATH="$build/lib" "$made/bin/opened"
expect 1 'Open: gufunc: status 1100: libgufunc cannot be opened: /nowhere/libgufunc.so: cannot open' \
  "$made/bin/opened" /nowhere/libgufunc.so
expect 1 'a call: gufunc: status 1100: libgufunc cannot be opened: /nowhere/libgufunc.so: cannot' \
  "$made/bin/opened" /nowhere/libgufunc.so
expect 1 'GUFUNC_LIBRARY or gufunc.Open selects the file' GUFUNC_LIBRARY=/nowhere "$made/bin/opened"
expect 1 "no function 'guf_status_name'; expected libgufunc 0.1 or later" "$made/bin/opened" "$alone"

# Runs the package's tests in a program that opens the library at run time.
opens go vet -tags gufunc_dlopen ./...
GUFUNC_LIBRARY=$library opens go test -count=1 -short -tags gufunc_dlopen .
