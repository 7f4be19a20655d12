// SPDX-License-Identifier: Apache-2.0
//! Code that the six programs share: their command line, and `.npy` files. The reader of these
//! files makes the programs independent of NumPy: they use only the public interface of the crate.

use gufunc::{Device, Element};
use std::error::Error;
use std::fs;
use std::path::PathBuf;

/// The result of the programs' functions.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The command line: `<program> MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE]`.
pub struct Folders {
    modules: PathBuf,
    inputs: PathBuf,
    outputs: PathBuf,
    /// The device on which calls run.
    pub device: Device,
}

/// Runs a program. Returns 0, or prints the error to stderr and returns 1.
pub fn run(program: impl FnOnce(&Folders) -> Result<()>) -> std::process::ExitCode {
    let done = Folders::of_arguments().and_then(|folders| program(&folders));
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

/// An array read from a file, with the elements in C order.
pub struct Npy<T> {
    /// The elements.
    pub data: Vec<T>,
    /// The extents.
    pub shape: Vec<i64>,
}

impl Folders {
    fn of_arguments() -> Result<Self> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [modules, inputs, outputs, device @ ..] = arguments.as_slice() else {
            return Err("<program> MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE]".into());
        };
        let device = gufunc::device(device.first().map_or("cpu", String::as_str))?;
        let [modules, inputs, outputs] = [modules, inputs, outputs].map(PathBuf::from);
        Ok(Folders { modules, inputs, outputs, device })
    }

    /// Loads a module. Its ufuncs can be found until the module is dropped.
    #[must_use = "its ufuncs are found as long as it is kept"]
    pub fn load(&self, name: &str) -> gufunc::Result<gufunc::Module> {
        // SAFETY: the module is built from the examples.
        unsafe { gufunc::load_module(self.modules.join(format!("{name}.so"))) }
    }

    /// Reads an input.
    pub fn read<T: Element>(&self, name: &str) -> Result<Npy<T>> {
        let bytes = fs::read(self.inputs.join(format!("{name}.npy")))?;
        read_npy(&bytes).map_err(|why| format!("{name}.npy: {why}").into())
    }

    /// Writes an output.
    pub fn write<T: Element>(&self, name: &str, data: &[T], shape: &[i64]) -> Result<()> {
        let bytes = npy(data, shape)?;
        Ok(fs::write(self.outputs.join(format!("{name}.npy")), bytes)?)
    }

    /// Writes an array of any device as an output.
    pub fn write_array<T: Element>(&self, name: &str, array: &gufunc::DynArray) -> Result<()> {
        self.write(name, &array.to_vec::<T>()?, &array.shape()?)
    }
}

/// Returns NumPy's spelling of a dtype in files, such as `<f4` or `|b1`.
fn description<T: Element>() -> Result<String> {
    let info = T::dtype().info()?;
    let order = if info.itemsize == 1 { '|' } else { '<' };
    Ok(format!("{order}{}{}", info.kind, info.itemsize))
}

fn read_npy<T: Element>(bytes: &[u8]) -> Result<Npy<T>> {
    if bytes.len() < 10 || !bytes.starts_with(b"\x93NUMPY\x01\x00") {
        return Err("not a .npy file of version 1.0".into());
    }
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(bytes.get(10..start).ok_or("cut short")?)?;
    if !header.contains(&format!("'{}'", description::<T>()?)) || !header.contains("False") {
        return Err(format!("not of {} in C order: {header}", T::dtype()).into());
    }
    let list = header.split('(').nth(1).and_then(|rest| rest.split(')').next());
    let extents = list.ok_or("no shape")?.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape = extents.map(str::parse).collect::<std::result::Result<Vec<i64>, _>>()?;
    let size = usize::try_from(shape.iter().product::<i64>())?;
    let data = bytes.get(start..start + size * size_of::<T>()).ok_or("cut short")?;
    if !T::valid(data) {
        return Err("bytes that are not elements".into());
    }
    // SAFETY: the data has this many elements; the address may be unaligned.
    let element = |i: usize| unsafe { data.as_ptr().cast::<T>().add(i).read_unaligned() };
    Ok(Npy { data: (0..size).map(element).collect(), shape })
}

fn npy<T: Element>(data: &[T], shape: &[i64]) -> Result<Vec<u8>> {
    let mut extents: Vec<String> = shape.iter().map(i64::to_string).collect();
    if let [only] = extents.as_mut_slice() {
        only.push(',');
    }
    let (description, extents) = (description::<T>()?, extents.join(", "));
    let mut header =
        format!("{{'descr': '{description}', 'fortran_order': False, 'shape': ({extents}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len())?.to_le_bytes());
    bytes.extend(header.as_bytes());
    // SAFETY: elements are plain numbers.
    bytes.extend(unsafe {
        std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data))
    });
    Ok(bytes)
}
