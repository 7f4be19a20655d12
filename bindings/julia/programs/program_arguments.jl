# SPDX-License-Identifier: Apache-2.0
# The command line of every program: MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE].
using Gufunc
include("npy_files.jl")
using .NpyFiles

const PLACE = length(ARGS) > 3 ? ARGS[4] : "cpu"
ufunc_of(name) = getproperty(load(joinpath(ARGS[1], "$name.so")), Symbol(name))
input(name) = read_npy(joinpath(ARGS[2], "$name.npy"))
save(name, x) = write_npy(joinpath(ARGS[3], "$name.npy"), x)
