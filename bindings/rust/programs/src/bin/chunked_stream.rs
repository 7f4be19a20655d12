// SPDX-License-Identifier: Apache-2.0
//! Runs a call in chunks twice: first the library divides the call, then the program divides it and
//! uses a stream.

use gufunc::{ufunc, Chunks, Stream};
use gufunc_programs::run;
use std::ops::ControlFlow;

const PIECE: usize = 30_000;

fn main() -> std::process::ExitCode {
    run(|folders| {
        let _module = folders.load("discriminant")?;
        let discriminant = ufunc("discriminant")?;
        let [a, b, c] = ["a", "b", "c"].map(|name| format!("chunked_stream_{name}"));
        let (a, b, c) =
            (folders.read::<f64>(&a)?, folders.read::<f64>(&b)?, folders.read::<f64>(&c)?);

        let mut x = vec![0f64; a.data.len()];
        let (mut last, mut calls) = (0i64, 0i64);
        let chunks = Chunks::new().chunk_bytes(65536).progress(|done, _| {
            (last, calls) = (done, calls + 1);
            ControlFlow::Continue(())
        });
        let inputs = (&a.data, &b.data, &c.data);
        discriminant.with().device(folders.device).call_chunked(inputs, &mut x, chunks)?;
        folders.write("chunked_stream_x", &x, &a.shape)?;
        folders.write("chunked_stream_progress", &[last, calls], &[2])?;

        let mut by_hand = vec![0f64; a.data.len()];
        let (stream, device) = (Stream::new(folders.device)?, folders.device);
        stream.scope(|scope| {
            for (i, out) in by_hand.chunks_mut(PIECE).enumerate() {
                let (piece, shape) = (i * PIECE..i * PIECE + out.len(), [out.len() as i64]);
                let a = scope.to_device(device, &a.data[piece.clone()], &shape)?;
                let b = scope.to_device(device, &b.data[piece.clone()], &shape)?;
                let c = scope.to_device(device, &c.data[piece], &shape)?;
                let x = discriminant.with().stream(&stream).call((&a, &b, &c))?;
                scope.copy_to_host(&x, out)?;
            }
            Ok(())
        })?;
        folders.write("chunked_stream_by_hand", &by_hand, &a.shape)
    })
}
