/work/main/bindings/rust/target/debug/deps/chunked_stream-445c7185047e9898.d: programs/src/bin/chunked_stream.rs

/work/main/bindings/rust/target/debug/deps/libchunked_stream-445c7185047e9898.rmeta: programs/src/bin/chunked_stream.rs

programs/src/bin/chunked_stream.rs:
