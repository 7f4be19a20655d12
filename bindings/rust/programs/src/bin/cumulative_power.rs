// SPDX-License-Identifier: Apache-2.0
//! Calls a gufunc whose operand is both input and output. One call works in place, one call writes
//! to a reversed output, and one call works along another axis.

use gufunc::{inout, ufunc, view, Array, Slice};
use gufunc_programs::run;

fn main() -> std::process::ExitCode {
    run(|folders| {
        let _module = folders.load("cumulative_power")?;
        let cumulative_power = ufunc("cumulative_power")?;
        let mut rows = folders.read::<f32>("cumulative_power_rows")?;
        let mut columns = folders.read::<f64>("cumulative_power_columns")?;

        // The output is a view with a negative stride, through which the call writes the elements
        // of `reversed`.
        let reversed = Array::from_vec(vec![0f32; rows.data.len()], &rows.shape)?;
        let backwards = reversed.slice(&[Slice::ALL, Slice::ALL.step(-1)])?;
        cumulative_power
            .with()
            .device(folders.device)
            .call_into(view(&rows.data, &rows.shape)?, &backwards)?;
        folders.write_array::<f32>("cumulative_power_reversed", &reversed)?;

        let in_place = inout(&mut rows.data, &rows.shape)?;
        cumulative_power.with().device(folders.device).call_into(in_place, ())?;
        folders.write("cumulative_power_rows", &rows.data, &rows.shape)?;

        let in_place = inout(&mut columns.data, &columns.shape)?;
        cumulative_power.with().axis(0).device(folders.device).call_into(in_place, ())?;
        folders.write("cumulative_power_columns", &columns.data, &columns.shape)
    })
}
