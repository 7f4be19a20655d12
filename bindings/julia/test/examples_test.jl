# SPDX-License-Identifier: Apache-2.0
# Runs every example and compares its output with the .out file of the same name. With --write it
# writes these files.
#   examples_test.jl FOLDER [--write]
folder = ARGS[1]
failed = 0
examples = sort(filter(endswith(".jl"), readdir(folder)))
for example in examples
    path = joinpath(folder, example)
    expected = replace(path, r"\.jl$" => ".out")
    printed = read(`$(Base.julia_cmd()) --startup-file=no $path $(ENV["GUFUNC_TEST_MODULES"])`,
                   String)
    "--write" in ARGS && write(expected, printed)
    if printed != read(expected, String)
        println("$example printed\n$printed")
        global failed += 1
    end
end
println("$(length(examples)) examples, $failed differ")
exit(failed == 0 && length(examples) == 5 ? 0 : 1)
