// SPDX-License-Identifier: Apache-2.0
//! Runs the corpus of tests/conformance: gufunc-corpus CORPUS_FOLDER DEVICE MODULE.so...

mod case;
mod json;
mod judge;

use case::Case;
use gufunc::Device;
use json::{Json, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn run_case(json: &Json, blob: &[u8], device: Device) -> Result<()> {
    let mut case = Case::read(json, blob)?;
    let outcome = case.run(device)?;
    judge::judge(&case, blob, outcome)
}

/// Returns the FNV-1a hash of a text.
fn digest(text: &str) -> u64 {
    let with = |found: u64, byte| (found ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, with)
}

/// Runs a group. Returns the number of cases and of failures.
fn run_group(path: &Path, device: Device) -> Result<(usize, usize)> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let json = Json::parse(&text)?;
    let blob = fs::read(path.with_extension("bin")).map_err(|error| error.to_string())?;
    if json.need("format")?.int()? != 1 {
        return Err("another format".to_string());
    }
    let (mut count, mut failed, mut ids) = (0, 0, String::new());
    for case in json.need("cases")?.list()? {
        let (verdict, id) = (run_case(case, &blob, device), case.need("id")?.text()?);
        count += 1;
        ids.extend([id, "\n"]);
        if let Err(why) = verdict {
            failed += 1;
            println!("{id}: {why}");
        }
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    println!("{name}: {count} judged, fnv1a {:016x}", digest(&ids));
    Ok((count, failed))
}

fn run(arguments: &[String]) -> Result<(usize, usize)> {
    let [folder, device, modules @ ..] = arguments else {
        return Err("gufunc-corpus CORPUS_FOLDER DEVICE MODULE.so...".to_string());
    };
    let text = |error: gufunc::Error| error.to_string();
    let device = gufunc::device(device).map_err(text)?;
    // SAFETY: the modules are built from the examples.
    let load = |path| unsafe { gufunc::load_module(path) };
    let modules = modules.iter().map(load).collect::<gufunc::Result<Vec<_>>>();
    let _modules = modules.map_err(text)?;
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut groups: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    groups.retain(|path| path.extension().is_some_and(|end| end == "json"));
    groups.sort();
    let (mut count, mut failed) = (0, 0);
    for group in groups {
        let (cases, wrong) = run_group(&group, device).unwrap_or_else(|why| {
            println!("{}: {why}", group.display());
            (1, 1)
        });
        (count, failed) = (count + cases, failed + wrong);
    }
    Ok((count, failed))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok((count, failed)) => {
            println!("{count} cases, {} passed, {failed} failed", count - failed);
            ExitCode::from(u8::from(failed > 0 || count == 0))
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
