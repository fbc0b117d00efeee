//! The `rhumb` program.

fn main() -> std::process::ExitCode {
    rhumb::cli::main()
}
