# SPDX-License-Identifier: Apache-2.0
# Runs all programs in one process, each in a separate module, so that the calls of the package are
# compiled only once:
#   all_programs.jl PROGRAMS_FOLDER MODULES INPUTS FOLDER DEVICE,… PROGRAM…
# The programs write their results for a device to FOLDER/<device>/ours.
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
