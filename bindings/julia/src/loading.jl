# SPDX-License-Identifier: Apache-2.0
# Loads libgufunc when the package is loaded, and not when the package is precompiled.

import Libdl

const SONAME = "libgufunc.so.0.1"
const OLDEST = v"0.1.0"

decoded(version) = VersionNumber(version >> 22, version >> 12 & 0x3ff, version & 0xfff)

"""
    version() -> VersionNumber

The version of the loaded library.
"""
version() = decoded(LibGufunc.guf_version())

"The version of the loaded library as a string."
version_string() = unsafe_string(LibGufunc.guf_version_string())

"The path of the loaded library."
library_path() = Libdl.dlpath(LibGufunc.library[])

# Loads the library at ENV["GUFUNC_LIBRARY"] if it is set. Otherwise loads the library that the
# dynamic loader finds by its soname.
function open_library()
    given = get(ENV, "GUFUNC_LIBRARY", "")
    candidate = isempty(given) ? SONAME : given
    library = Libdl.dlopen_e(candidate)
    library == C_NULL && error(missing_text(candidate, isempty(given)))
    LibGufunc.library[] = library
    version_of = Libdl.dlsym_e(library, :guf_version)
    version_of == C_NULL &&
        error("Gufunc: $(library_path()) is not libgufunc: it has no guf_version")
    found = decoded(ccall(version_of, UInt32, ()))
    found >= OLDEST ||
        error("Gufunc: expected libgufunc $OLDEST or later, got $found at $(library_path())")
    for (name, address) in LibGufunc.functions
        address[] = Libdl.dlsym_e(library, name)
        address[] == C_NULL &&
            error("Gufunc: libgufunc $found at $(library_path()) is too old: it lacks $name")
    end
end

function missing_text(candidate, by_name)
    reason = try
        Libdl.dlopen(candidate)
        ""
    catch e
        sprint(showerror, e)
    end
    where = by_name ? "install it where the loader looks, or name its path in " *
                      "ENV[\"GUFUNC_LIBRARY\"]" : "that is what ENV[\"GUFUNC_LIBRARY\"] names"
    return "Gufunc: cannot load libgufunc from $candidate: $where ($reason)"
end

"""
    Context()

A separate registry of ufuncs and modules, which contains the standard library from the start.
Functions with `context=` use the default context of the process if none is given.
"""
mutable struct Context
    handle::guf_context
    function Context()
        out = Ref{guf_context}(C_NULL)
        @check guf_context_create(0x00000000, out)
        return finalizer(unsafe_free!, new(out[]))
    end
end
handle(::Nothing) = C_NULL
handle(x) = x.handle
handle(x::Context) = x.handle == C_NULL ? freed("context") : x.handle

"""
    poll(max_callbacks=0) -> Int

Frees objects whose release was deferred and runs at most `max_callbacks` queued release callbacks
(0: all). Returns the number of callbacks that ran.
"""
function poll(max_callbacks::Integer=0)
    ran = Ref(UInt32(0))
    sweep()
    @check guf_poll(UInt32(max_callbacks), ran)
    return Int(ran[])
end

"""
    read_log() -> Union{Nothing,Tuple{Symbol,String}}

Removes the oldest message from the library's log. Returns it as `(:error | :warning | :information,
text)`, or `nothing` if the log is empty. The library itself prints nothing.
"""
function read_log()
    letters = Vector{UInt8}(undef, 1024)
    level = Ref(Int32(-1))
    GC.@preserve letters @check guf_log_read(Ptr{Cchar}(pointer(letters)), 1024, level)
    level[] < 0 && return nothing
    return (:error, :warning, :information)[level[]+1], GC.@preserve letters unsafe_string(
        pointer(letters))
end

"""
    shutdown(; timeout=Inf)

Waits for all streams, stops the threads of the library and frees its caches. Returns `false` if
work is still running after `timeout` seconds. Programs need not call `shutdown` before they exit.
"""
shutdown(; timeout::Real=Inf) = @check(guf_shutdown(nanoseconds(timeout))) == GUF_OK

nanoseconds(seconds::Real) = isfinite(seconds) ? round(UInt64, seconds * 1e9) : typemax(UInt64)
