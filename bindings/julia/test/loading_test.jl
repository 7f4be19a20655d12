# SPDX-License-Identifier: Apache-2.0
# Loads the package without its library, with a library that is not libgufunc, and with versions of
# libgufunc that are too old. Each load must fail with an error that describes the reason.
#   loading_test.jl COMPILER FOLDER
compiler, folder = ARGS

function message(library)
    command = `$(Base.julia_cmd()) --startup-file=no -e "using Gufunc"`
    errors = IOBuffer()
    process = run(pipeline(ignorestatus(setenv(command, merge(copy(ENV),
        Dict("GUFUNC_LIBRARY" => library)))); stdout=devnull, stderr=errors))
    return process.exitcode, String(take!(errors))
end

function library(name, source)
    mkpath(folder)
    path = joinpath(folder, "$name.so")
    write("$path.c", source)
    run(`$compiler -shared -fPIC -o $path $path.c`)
    return path
end

function expect(library, expected...)
    code, report = message(library)
    for text in expected
        code != 0 && occursin(text, report) || error("expected \"$text\", exit $code: $report")
    end
end

code, report = message(ENV["GUFUNC_LIBRARY"])
code == 0 || error(report)
expect("/nowhere/libgufunc.so",
       "cannot load libgufunc from /nowhere/libgufunc.so", "GUFUNC_LIBRARY")
expect(library("other", "int other;"), "is not libgufunc")
expect(library("old", "unsigned guf_version(void) { return 9; }"),
       "expected libgufunc 0.1.0 or later, got 0.0.9")
expect(library("lacking", "unsigned guf_version(void) { return 1u << 12; }"),
       "is too old: it lacks guf_status_name")
println("loading: 5 cases")
