/work/main/bindings/rust/target/debug/deps/gufunc_corpus-79818d72850185ff.d: corpus/src/main.rs corpus/src/case.rs corpus/src/elements.rs corpus/src/json.rs corpus/src/judge.rs corpus/src/operands.rs

/work/main/bindings/rust/target/debug/deps/libgufunc_corpus-79818d72850185ff.rmeta: corpus/src/main.rs corpus/src/case.rs corpus/src/elements.rs corpus/src/json.rs corpus/src/judge.rs corpus/src/operands.rs

corpus/src/main.rs:
corpus/src/case.rs:
corpus/src/elements.rs:
corpus/src/json.rs:
corpus/src/judge.rs:
corpus/src/operands.rs:
