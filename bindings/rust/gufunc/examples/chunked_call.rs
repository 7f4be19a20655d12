// SPDX-License-Identifier: Apache-2.0
//! Stops and resumes a call in chunks: `cargo run --example chunked_call`.

use gufunc::{device, ufunc, Chunks, Status};
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = device(&std::env::args().nth(1).unwrap_or_else(|| "cpu".to_string()))?;
    let sqrt = ufunc("sqrt")?;
    let x: Vec<f64> = (0..100_000).map(|i| f64::from(i) * f64::from(i)).collect();
    let mut y = vec![0.0; x.len()];

    let chunks = || Chunks::new().chunk_bytes(1 << 16);
    let half = chunks().progress(|done, items| match 2 * done < items {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    });
    let Err(stopped) = sqrt.with().device(device).call_chunked(&x, &mut y, half) else {
        return Err("not stopped".into());
    };
    assert_eq!(stopped.error.status(), Status::CANCELLED);
    println!("stopped after {} of {} items", stopped.items, x.len());

    let rest = chunks().first_item(stopped.items);
    let items = sqrt.with().device(device).call_chunked(&x, &mut y, rest)?;
    println!("{items} items are done");
    println!("{} {} {}", y[1], y[50_000], y[99_999]);
    Ok(())
}
