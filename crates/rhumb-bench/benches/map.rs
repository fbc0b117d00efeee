//! The cost of the repo map of a generated repository with 100,000 small files: `cargo bench -p rhumb-bench --bench map`.
//! `RHUMB_BENCH_FILES` sets another number of files. `rhumb-bench map` measures any repository.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]

mod report;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::{env, fs, io};

use rhumb_bench::Unit;
use rhumb_workspace::Root;

/// Number of files in a folder.
const FILES_PER_FOLDER: usize = 100;

fn main() -> io::Result<()> {
    let files = env::var("RHUMB_BENCH_FILES").ok().and_then(|number| number.parse().ok()).unwrap_or(100_000);
    let (repository, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
    generate(repository.path(), files)?;
    let root = Root::at(repository.path()).map_err(io::Error::other)?;
    for figure in rhumb_bench::map::measure(&root, scratch.path(), NonZeroUsize::MIN) {
        let less_is_better = !matches!(figure.unit, Unit::Share | Unit::Count);
        if less_is_better {
            let name = format!("{} ({files} files): {}", figure.name, figure.meaning);
            report::record("map", &name, figure.unit.as_str(), figure.value, None);
        }
        println!("{:<20} {:>12.3} {:<7} {}", figure.name, figure.value, figure.unit.as_str(), figure.meaning);
    }
    Ok(())
}

/// Generates small files in four languages that use each other, always the same ones.
fn generate(root: &Path, files: usize) -> io::Result<()> {
    for number in 0..files {
        let folder = root.join(format!("part_{:03}", number / FILES_PER_FOLDER));
        if number % FILES_PER_FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        let (extension, text) = file(number, files);
        fs::write(folder.join(format!("unit_{number}.{extension}")), text)?;
    }
    Ok(())
}

fn file(number: usize, files: usize) -> (&'static str, String) {
    let mut text = format!("// Cache of unit {number}.\n");
    for step in 1..=4usize {
        let other = (number * 31 + step * 977) % files;
        let _ = match number % 4 {
            0 => writeln!(
                text,
                "pub fn load_{number}_{step}(key: u64) -> u64 {{\n    load_{other}_1(key + {step})\n}}\n"
            ),
            1 => {
                writeln!(text, "func load_{number}_{step}(key int) int {{\n\treturn load_{other}_1(key + {step})\n}}\n")
            }
            2 => writeln!(text, "function load_{number}_{step}(key) {{\n  return load_{other}_1(key + {step});\n}}\n"),
            _ => writeln!(text, "int load_{number}_{step}(int key) {{\n    return load_{other}_1(key + {step});\n}}\n"),
        };
    }
    (["rs", "go", "js", "c"][number % 4], text)
}
