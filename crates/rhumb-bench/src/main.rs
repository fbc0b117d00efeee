//! The `rhumb-bench` program.

fn main() -> std::process::ExitCode {
    rhumb_bench::main()
}
