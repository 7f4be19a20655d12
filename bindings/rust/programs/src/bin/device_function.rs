// SPDX-License-Identifier: Apache-2.0
//! Computes x ** y / z, where x is a column, y is a row and z is a number, and then reduces the
//! result.

use gufunc::{ufunc, view, weak};
use gufunc_programs::run;

fn main() -> std::process::ExitCode {
    run(|folders| {
        let _module = folders.load("device_function")?;
        let x = folders.read::<f64>("device_function_x")?;
        let y = folders.read::<f64>("device_function_y")?;
        let operands = (view(&x.data, &x.shape)?, view(&y.data, &y.shape)?, weak(7));
        let out = ufunc("power_over")?.with().device(folders.device).call(operands)?;
        folders.write_array::<f64>("device_function_out", &out)?;

        let (add, maximum) = (ufunc("add")?, ufunc("maximum")?);
        let sum = add.reduce(&out).all_axes().device(folders.device).call()?;
        folders.write_array::<f64>("device_function_sum", &sum)?;
        let most = maximum.reduce(&out).axis(1).keepdims().device(folders.device).call()?;
        folders.write_array::<f64>("device_function_most", &most)
    })
}
