// SPDX-License-Identifier: Apache-2.0
//! Computes Hermite functions with a recurrence along each row, on a stream of the device.

use gufunc::{scalar, ufunc, Array, Stream};
use gufunc_programs::run;

fn main() -> std::process::ExitCode {
    run(|folders| {
        let _module = folders.load("hermite")?;
        let (hermite, device) = (ufunc("hermite")?, folders.device);
        let stream = Stream::new(device)?;
        let rows = folders.read::<f32>("hermite_rows")?;
        let rows = Array::from_vec(rows.data, &rows.shape)?.to_device(device, Some(&stream))?;

        let out = Array::<f32>::alloc(device, &rows.shape()?, gufunc::Order::C)?;
        out.fill(scalar(9f32), Some(&stream))?;
        hermite.with().stream(&stream).call_into(&rows, &out)?;
        hermite.with().stream(&stream).call_into(&rows, ())?;
        let long = folders.read::<f64>("hermite_long")?;
        let long = Array::from_vec(long.data, &long.shape)?.to_device(device, Some(&stream))?;
        hermite.with().stream(&stream).call_into(&long, ())?;
        stream.synchronize()?;

        folders.write_array::<f32>("hermite_out", &out)?;
        folders.write_array::<f32>("hermite_in_place", &rows)?;
        folders.write_array::<f64>("hermite_long", &long)
    })
}
