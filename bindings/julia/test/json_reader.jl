# SPDX-License-Identifier: Apache-2.0
# Reads JSON for the corpus. Objects become Dict{String,Any}, arrays Vector{Any}, and numbers Int.
module JsonReader

mutable struct Reader
    text::Vector{UInt8}
    at::Int
end

"""Reads a text that consists of one value."""
function parse_json(text::AbstractString)
    r = Reader(Vector{UInt8}(text), 1)
    value = read_value(r)
    skip_spaces(r)
    r.at > length(r.text) || complain(r, "the end")
    return value
end

complain(r, expected) = error("JSON, byte $(r.at): no $expected")

function skip_spaces(r)
    while r.at <= length(r.text) && r.text[r.at] in (0x20, 0x0a, 0x0d, 0x09)
        r.at += 1
    end
end

function letter(r)
    skip_spaces(r)
    r.at <= length(r.text) || complain(r, "value")
    return Char(r.text[r.at])
end

function read_value(r)::Any
    c = letter(r)
    c == '{' && return read_object(r)
    c == '[' && return read_array(r)
    c == '"' && return read_string(r)
    for (word, value) in (("true", true), ("false", false), ("null", nothing))
        if c == word[1] && String(r.text[r.at:min(end, r.at+length(word)-1)]) == word
            r.at += length(word)
            return value
        end
    end
    return read_number(r)
end

function expect(r, expected)
    letter(r) == expected || complain(r, expected)
    r.at += 1
end

function read_object(r)
    found = Dict{String,Any}()
    expect(r, '{')
    letter(r) == '}' && (r.at += 1; return found)
    while true
        letter(r) == '"' || complain(r, "key")
        key = read_string(r)
        expect(r, ':')
        haskey(found, key) && complain(r, "second key $key")
        found[key] = read_value(r)
        letter(r) == ',' ? (r.at += 1) : (expect(r, '}'); return found)
    end
end

function read_array(r)
    found = Any[]
    expect(r, '[')
    letter(r) == ']' && (r.at += 1; return found)
    while true
        push!(found, read_value(r))
        letter(r) == ',' ? (r.at += 1) : (expect(r, ']'); return found)
    end
end

const ESCAPES = Dict('"' => '"', '\\' => '\\', '/' => '/', 'b' => '\b', 'f' => '\f', 'n' => '\n',
                     'r' => '\r', 't' => '\t')

function read_string(r)
    r.at += 1
    letters = IOBuffer()
    while true
        r.at <= length(r.text) || complain(r, "end of a string")
        byte = r.text[r.at]
        r.at += 1
        byte == UInt8('"') && return String(take!(letters))
        byte == UInt8('\\') ? print(letters, read_escape(r)) : write(letters, byte)
    end
end

function read_escape(r)
    c = Char(r.text[r.at])
    r.at += 1
    haskey(ESCAPES, c) && return ESCAPES[c]
    c == 'u' || complain(r, "escape \\$c")
    code = parse(UInt16, String(r.text[r.at:r.at+3]); base=16)
    r.at += 4
    return Char(code)
end

function read_number(r)
    first = r.at
    while r.at <= length(r.text) && Char(r.text[r.at]) in "-0123456789"
        r.at += 1
    end
    number = tryparse(Int, String(r.text[first:r.at-1]))
    number === nothing && complain(r, "number")
    return number
end

end
