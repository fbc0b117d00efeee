//! The `rhumb` program.

/// An index makes and frees many small blocks in several threads. glibc keeps the pages between those that stay; jemalloc returns them
/// to the system, in the background.
#[cfg(all(unix, feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    // A trial starts this program again, in its sandbox.
    if let Some(code) = rhumb_trial::child() {
        return code;
    }
    // Not earlier: only a process with a single thread can enter a user namespace, as a trial does. Without the thread, memory is returned
    // later.
    #[cfg(all(unix, feature = "jemalloc"))]
    let _ = tikv_jemalloc_ctl::background_thread::write(true);
    survive_file_size_limits();
    rhumb::cli::main()
}

/// Handles SIGXFSZ: past a file-size limit (`ulimit -f`), the system would end the process. With a handler, the write fails as on a
/// full disk, and the error is reported.
#[cfg(unix)]
fn survive_file_size_limits() {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    // If this fails, a write past the limit ends the program; the files are still complete.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
}

#[cfg(not(unix))]
fn survive_file_size_limits() {}
