/work/main/bindings/rust/target/debug/deps/device_function-0d9936cd70e54bcc.d: programs/src/bin/device_function.rs

/work/main/bindings/rust/target/debug/deps/libdevice_function-0d9936cd70e54bcc.rmeta: programs/src/bin/device_function.rs

programs/src/bin/device_function.rs:
