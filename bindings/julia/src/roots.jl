# SPDX-License-Identifier: Apache-2.0
# Julia objects to which the library refers by a number. ROOTS keeps an object alive until the
# library releases the number.

const ROOTS = Dict{UInt,Any}()
const ROOTS_LOCK = Threads.SpinLock()
const LAST_ROOT = Ref(UInt(0))

# Returns the number of an object as a pointer, which is passed as the `user` pointer of callbacks.
function root!(object)
    lock(ROOTS_LOCK) do
        LAST_ROOT[] += 1
        ROOTS[LAST_ROOT[]] = object
        return Ptr{Cvoid}(LAST_ROOT[])
    end
end

rooted(user::Ptr{Cvoid}) = lock(() -> ROOTS[UInt(user)], ROOTS_LOCK)

function unroot!(user::Ptr{Cvoid})
    lock(() -> delete!(ROOTS, UInt(user)), ROOTS_LOCK)
    return nothing
end

unroot_memory(user::Ptr{Cvoid}, ::UInt64) = unroot!(user)

# Callbacks of the library run inside a call of the program and on the thread of the call. No thread
# that Julia did not create runs Julia code, because Julia before 1.9 would crash.
release_callback() = @cfunction(unroot_memory, Cvoid, (Ptr{Cvoid}, UInt64))
destroy_callback() = @cfunction(unroot!, Cvoid, (Ptr{Cvoid},))
