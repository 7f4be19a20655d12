# SPDX-License-Identifier: Apache-2.0
# Runs all programs in one process, each in a separate module, so that the package's calls are
# compiled once:
#   all_programs.jl PROGRAMS_FOLDER MODULES INPUTS FOLDER DEVICE,… PROGRAM…
# A program on a device writes into FOLDER/<device>/ours.
sources, modules, inputs, folder, devices = ARGS[1:5]
programs = ARGS[6:end]

function run_program(program, device)
    append!(empty!(ARGS), [modules, inputs, joinpath(folder, device, "ours"), device])
    place = Module(Symbol(program))
    Core.eval(place, :(include(path) = Base.include($place, path)))
    Base.include(place, joinpath(sources, "$program.jl"))
end

for device in split(devices, ","), program in programs
    run_program(program, device)
end
