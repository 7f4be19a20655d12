// SPDX-License-Identifier: Apache-2.0
//! Arrays that stay on a device, and a stream: `cargo run --example device_stream cuda:0`.

use gufunc::{device, ufunc, weak, Array, Stream};

fn main() -> gufunc::Result<()> {
    let device = device(&std::env::args().nth(1).unwrap_or_else(|| "cpu".to_string()))?;
    let (multiply, add) = (ufunc("multiply")?, ufunc("add")?);
    let host: Vec<f64> = (0..6).map(f64::from).collect();
    let mut result = vec![0.0; 6];

    let stream = Stream::new(device)?;
    // Slices are lent to the stream until the scope ends, which waits for it.
    stream.scope(|scope| {
        let x = scope.to_device(device, &host, &[6])?;
        let y = multiply.with().stream(&stream).call((&x, &x))?; // queued: x never leaves
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
