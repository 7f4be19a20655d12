// SPDX-License-Identifier: Apache-2.0
//! Applies ufuncs that are part of the library to slices: broadcasting, dtypes, and an error.

use gufunc::{ufunc, view, weak};

fn main() -> gufunc::Result<()> {
    let multiply = ufunc("multiply")?;
    let column = [1.0, 2.0, 3.0];
    let table = multiply.call((view(&column, &[3, 1])?, &[1.0, 10.0, 100.0]))?;
    println!("{table}");

    let mut halves = [0f32; 3];
    multiply.call_into((&[1f32, 2.0, 3.0], weak(0.5)), &mut halves)?;
    println!("{halves:?}");

    let total = ufunc("add")?.reduce(&table).axis(1).call()?;
    println!("{:?}", total.to_vec::<f64>()?);

    if let Err(error) = multiply.call((&[1.0, 2.0], &[1.0, 2.0, 3.0])) {
        println!("{:?}: {error}", error.status());
    }
    Ok(())
}
