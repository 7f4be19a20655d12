# SPDX-License-Identifier: Apache-2.0
# Programs in one process, which compiles the package's calls once, each in a module of its own:
#   all_programs.jl PROGRAMS_FOLDER MODULES INPUTS FOLDER DEVICE,… PROGRAM…
# What a program writes on a device lies in FOLDER/<device>/ours.
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
