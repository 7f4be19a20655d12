// SPDX-License-Identifier: Apache-2.0
//! Calls a ufunc of a module that gufcc compiled: `gufcc examples/kernels/discriminant.guf.cpp -o
//! discriminant.so`, then `cargo run --example own_module discriminant.so`.

use gufunc::{load_module, ufunc};

fn main() -> gufunc::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "discriminant.so".to_string());
    // SAFETY: the module is built by this project.
    let module = unsafe { load_module(path)? }; // while it lives, its ufuncs can be found
    println!("{:?}", module.functions()?);

    let a = [0.0, 0.25, 0.5, 0.75, 1.0];
    let b = [10.0, 10.1, 10.5, 10.7, 11.0];
    let c = [1.0, 0.9, 0.3, 0.6, 0.1];
    let mut x = [0.0; 5];
    ufunc("discriminant")?.call_into((&a, &b, &c), &mut x)?;
    for x in x {
        println!("{x}");
    }
    Ok(())
}
