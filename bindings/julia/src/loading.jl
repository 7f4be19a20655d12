# SPDX-License-Identifier: Apache-2.0
# Finding libgufunc when the package is loaded, never when it is precompiled.

import Libdl

const SONAME = "libgufunc.so.0.1"
const OLDEST = v"0.1.0"

decoded(version) = VersionNumber(version >> 22, version >> 12 & 0x3ff, version & 0xfff)

"""
    version() -> VersionNumber

Version of the loaded library.
"""
version() = decoded(LibGufunc.guf_version())

"Version of the loaded library, as it spells it."
version_string() = unsafe_string(LibGufunc.guf_version_string())

"Path of the loaded library."
library_path() = Libdl.dlpath(LibGufunc.library[])

# ENV["GUFUNC_LIBRARY"] alone, where it is set; else what the loader finds by the library's name.
function open_library()
    given = get(ENV, "GUFUNC_LIBRARY", "")
    candidate = isempty(given) ? SONAME : given
    library = Libdl.dlopen_e(candidate)
    library == C_NULL && error(missing_text(candidate, isempty(given)))
    LibGufunc.library[] = library
    version_of = Libdl.dlsym_e(library, :guf_version)
    version_of == C_NULL &&
        error("Gufunc: $(library_path()) is no libgufunc: it has no guf_version")
    found = decoded(ccall(version_of, UInt32, ()))
    found >= OLDEST ||
        error("Gufunc: needs libgufunc $OLDEST or later, found $found at $(library_path())")
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

A registry of ufuncs and modules of its own over the standard library; calls that take `context=`
use the process's default one where none is given.
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

Frees what released handles left behind and runs queued release callbacks, all of them by default;
gives how many ran.
"""
function poll(max_callbacks::Integer=0)
    ran = Ref(UInt32(0))
    sweep()
    @check guf_poll(UInt32(max_callbacks), ran)
    return Int(ran[])
end

"""
    read_log() -> Union{Nothing,Tuple{Symbol,String}}

Takes the oldest message from the library's log: `(:error | :warning | :information, text)`, or
`nothing` when there is none. The library prints nothing itself.
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

Waits for all streams, stops the library's threads and frees its caches; `false` where work still
ran after `timeout` seconds. Nothing needs it at exit.
"""
shutdown(; timeout::Real=Inf) = @check(guf_shutdown(nanoseconds(timeout))) == GUF_OK

nanoseconds(seconds::Real) = isfinite(seconds) ? round(UInt64, seconds * 1e9) : typemax(UInt64)
