// SPDX-License-Identifier: Apache-2.0
//! Computes with arrays that stay on a device, on a stream: `cargo run --example device_stream
//! cuda:0`.

use gufunc::{device, ufunc, weak, Array, Stream};

fn main() -> gufunc::Result<()> {
    let device = device(&std::env::args().nth(1).unwrap_or_else(|| "cpu".to_string()))?;
    let (multiply, add) = (ufunc("multiply")?, ufunc("add")?);
    let host: Vec<f64> = (0..6).map(f64::from).collect();
    let mut result = vec![0.0; 6];

    let stream = Stream::new(device)?;
    // The scope borrows slices for the stream, and waits for the stream when it ends.
    stream.scope(|scope| {
        let x = scope.to_device(device, &host, &[6])?;
        let y = multiply.with().stream(&stream).call((&x, &x))?; // queued: x stays on the device
        let z = add.with().stream(&stream).call((&y, weak(1)))?;
        scope.copy_to_host(&z, &mut result)
    })?;
    println!("{result:?}");

    let x = Array::from_slice(device, &host, &[2, 3])?;
    let total = add.reduce(&x.transpose(None)?).axis(0).stream(&stream).call()?;
    stream.record()?.wait(None)?;
    println!("{:?}", total.to_vec::<f64>()?);
    Ok(())
}
