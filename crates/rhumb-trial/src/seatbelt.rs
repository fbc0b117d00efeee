//! The sandbox of macOS: `sandbox-exec` runs a command under a profile, see sandbox-exec(1) and the profiles in
//! `/System/Library/Sandbox/Profiles`. In a profile the last rule that matches decides.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Network;
use crate::isolation::{Isolation, WriteIsolation};
use crate::spec::Spec;

const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Files outside of the checkout that commands write to. None of them keeps anything.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"];

/// Whether this system has the sandbox.
pub(crate) fn is_available() -> bool {
    cfg!(target_os = "macos") && Path::new(PROGRAM).is_file()
}

/// The command line that runs the command of `spec` in the sandbox. `temporary` is the folder for its temporary files.
pub(crate) fn wrapped(spec: &Spec, temporary: &Path) -> Vec<String> {
    // The kernel compares paths without links. Parameters need no escapes, whatever the path.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned();
    let writable = [spec.checkout.as_path(), temporary];
    let hidden: Vec<&PathBuf> = spec.hidden.iter().filter(|path| path.exists()).collect();
    let mut line = vec![PROGRAM.to_owned(), "-p".to_owned(), profile(writable.len(), hidden.len(), spec.network)];
    for (number, path) in writable.into_iter().enumerate() {
        line.extend(["-D".to_owned(), format!("WRITABLE_{number}={}", real(path))]);
    }
    for (number, path) in hidden.into_iter().enumerate() {
        line.extend(["-D".to_owned(), format!("HIDDEN_{number}={}", real(path))]);
    }
    line.extend(spec.line.iter().cloned());
    line
}

/// Records in `isolation` what the sandbox enforces.
pub(crate) fn record(network: Network, isolation: &mut Isolation) {
    isolation.writes = WriteIsolation::Seatbelt;
    isolation.network.enforced = true;
    let services = match network {
        Network::Full => {
            "the command can reach services of the system and have them start programs outside of the sandbox"
        }
        _ => "the command can have services of the system start programs outside of the sandbox",
    };
    isolation.missing.push(services.to_owned());
}

fn profile(writable: usize, hidden: usize, network: Network) -> String {
    let mut text = "(version 1)\n(allow default)\n(deny appleevent-send)\n(deny file-write*)\n".to_owned();
    let devices = DEVICES.map(|device| format!(" (literal \"{device}\")")).concat();
    let _ = write!(text, "(allow file-write*{devices}");
    for number in 0..writable {
        let _ = write!(text, " (subpath (param \"WRITABLE_{number}\"))");
    }
    text.push_str(")\n");
    for number in 0..hidden {
        let _ = writeln!(text, "(deny file-read* file-write* (subpath (param \"HIDDEN_{number}\")))");
    }
    text.push_str(match network {
        Network::Full => "",
        Network::Loopback => {
            "(deny network*)\n(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n"
        }
        Network::None => "(deny network*)\n",
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_follows_the_profile_and_its_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| {
            let path = folder.path().canonicalize().expect("it exists").join(name);
            std::fs::create_dir_all(&path).expect("it can be created");
            path
        };
        let (copy, temporary, keys) = (path("a copy"), path("tmp"), path("keys"));
        let root = rhumb_workspace::Root::at(&path("root")).expect("a root");
        let trial = crate::Trial::new(&root, &path("trials")).expect("a trial");
        let line = vec!["make".to_owned(), "test".to_owned()];
        let options = crate::RunOptions::new(crate::CommandLine::Program(line.clone()));
        let mut spec = Spec::new(&trial, &copy, line, &options);
        spec.hidden = vec![keys.clone(), folder.path().join("missing")];
        let line = wrapped(&spec, &temporary);
        let parameter = |name: &str, path: &Path| ["-D".to_owned(), format!("{name}={}", path.display())];
        let expected = [
            parameter("WRITABLE_0", &copy),
            parameter("WRITABLE_1", &temporary),
            parameter("HIDDEN_0", &keys),
            ["make".to_owned(), "test".to_owned()],
        ];
        assert_eq!(
            line.split_at(3),
            (&[PROGRAM.to_owned(), "-p".to_owned(), profile(2, 1, Network::None)][..], &expected.concat()[..])
        );
    }

    #[test]
    fn the_last_rules_hide_credentials_and_block_the_network() {
        let text = profile(2, 1, Network::None);
        assert_eq!(
            text,
            "(version 1)\n(allow default)\n(deny appleevent-send)\n(deny file-write*)\n\
             (allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/random\") \
             (literal \"/dev/urandom\") (literal \"/dev/dtracehelper\") (subpath (param \"WRITABLE_0\")) \
             (subpath (param \"WRITABLE_1\")))\n\
             (deny file-read* file-write* (subpath (param \"HIDDEN_0\")))\n\
             (deny network*)\n"
        );
        assert!(!profile(1, 0, Network::Full).contains("network"));
        assert!(profile(1, 0, Network::Loopback).ends_with("(remote ip \"localhost:*\"))\n"));
    }
}
