//! The `rhumb` program.

fn main() -> std::process::ExitCode {
    survive_file_size_limits();
    rhumb::cli::main()
}

/// Past a file-size limit (`ulimit -f`) the system kills the writer unless it listens; with a listener the write fails like on
/// a full disk, which we can tell and survive.
#[cfg(unix)]
fn survive_file_size_limits() {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    // If listening fails, a write past the limit ends the program, and the files stay whole all the same.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
}

#[cfg(not(unix))]
fn survive_file_size_limits() {}
