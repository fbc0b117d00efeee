//! Tests of commands, well-behaved ones and others.

use super::*;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Runs a shell command in `folder`, where long outputs are written too.
fn run_in(
    folder: &Path,
    line: &str,
    limit: Duration,
    stop: &StopHandle,
    watch: &mut dyn FnMut(LiveOutput, Duration),
) -> CommandOutcome {
    let masks = SecretMask::new([("THE_KEY", "sk-canary-0123")]);
    let line = CommandLine::Shell(line.into());
    let environment = Environment { without: vec!["RHUMB_API_KEY".into()], ..Environment::default() };
    let order = RunRequest { line: &line, folder, time_limit: Some(limit), environment: &environment, masks: &masks };
    let mut keep = || {
        let path = folder.join("kept.txt");
        fs::File::create(&path).map(|file| Some((path, file)))
    };
    run(&order, stop, &mut keep, watch).unwrap()
}

/// Far longer than any test needs.
const AMPLE: Duration = Duration::from_secs(60);

fn ended(line: &str) -> CommandOutcome {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), line, AMPLE, &StopHandle::default(), &mut |_, _| {})
}

/// Returns whether the process whose id is in the file has ended. A zombie counts as ended.
fn is_gone(file: &Path) -> bool {
    let number = fs::read_to_string(file).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    status.is_empty() || status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

#[track_caller]
fn goes(file: &Path) {
    for _ in 0..1_000 {
        if is_gone(file) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it still runs");
}

#[test]
fn both_outputs_are_interleaved_in_order() {
    let ended = ended("echo one; echo two >&2; echo three; exit 7");
    assert_eq!((ended.end, ended.output.text.as_str()), (End::Exit(7), "one\ntwo\nthree\n"));
    assert!(!ended.end.is_success() && !ended.left_running);
}

#[test]
fn standard_input_is_empty() {
    assert_eq!(ended("cat; read x; echo \"[$x]\"").output.text, "[]\n");
}

#[test]
fn a_signal_is_distinguished_from_an_exit() {
    assert_eq!(ended("kill -9 $$").end, End::Signal(9));
}

#[test]
fn a_missing_program_is_named() {
    let masks = SecretMask::default();
    let line = CommandLine::Program(vec!["no-such-program-of-ours".into()]);
    let environment = Environment::default();
    let order =
        RunRequest { line: &line, folder: Path::new("."), time_limit: None, environment: &environment, masks: &masks };
    let told = match run(&order, &StopHandle::default(), &mut || Ok(None), &mut |_, _| {}) {
        Ok(ended) => format!("{:?} {}", ended.end, ended.output.text),
        Err(error) => error.to_string(),
    };
    assert!(told.contains("no-such-program-of-ours") && !told.contains("Exit(0)"), "{told}");
    assert_eq!(ended("no-such-program-of-ours").end, End::Exit(127));
}

#[test]
fn a_time_limit_kills_grandchildren_too() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sh -c 'echo $$ > grandchild; trap \"\" TERM; while :; do sleep 0.05; done' & echo begun; wait";
    let ended = run_in(folder.path(), line, Duration::from_millis(600), &StopHandle::default(), &mut |_, _| {});
    assert_eq!((ended.end, ended.output.text.as_str()), (End::TimeLimit, "begun\n"));
    goes(&folder.path().join("grandchild"));
}

#[test]
fn a_command_is_stopped_from_another_thread() {
    let folder = tempfile::tempdir().unwrap();
    let stop = StopHandle::default();
    let mut watch = |live: LiveOutput, _| {
        if live.text.contains("ready") {
            stop.stop();
        }
    };
    let line = "echo $$ > leader; while :; do echo ready; sleep 0.02; done";
    let ended = run_in(folder.path(), line, AMPLE, &stop, &mut watch);
    assert_eq!(ended.end, End::Stopped);
    goes(&folder.path().join("leader"));
}

#[test]
fn a_background_process_does_not_delay_the_result_and_is_terminated() {
    let folder = tempfile::tempdir().unwrap();
    let line = "(echo $BASHPID; sleep 600) & echo $! > child; echo done";
    let ended = run_in(folder.path(), line, AMPLE, &StopHandle::default(), &mut |_, _| {});
    assert_eq!(ended.end, End::Exit(0));
    assert!(ended.left_running && ended.output.text.contains("done"), "{ended:?}");
    goes(&folder.path().join("child"));
}

#[test]
fn a_huge_output_keeps_its_beginning_and_end_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let line = "echo first; head -c 80000000 /dev/zero | tr '\\0' 'x'; echo; echo last";
    let mut most = 0;
    let mut watch = |live: LiveOutput, _| most = most.max(live.text.len() + live.open_line.len());
    let ended = run_in(folder.path(), line, AMPLE, &StopHandle::default(), &mut watch);
    assert_eq!((ended.end, ended.output.bytes), (End::Exit(0), 80_000_012));
    let Output { text, whole, not_kept, .. } = ended.output;
    assert!(text.starts_with("first\n") && text.ends_with("x\nlast\n"), "{}", &text[text.len() - 40..]);
    assert!(text.len() < 1_000_000 && text.contains("bytes left out; "), "{}", text.len());
    assert_eq!(not_kept, None);
    let kept = fs::metadata(whole.unwrap()).unwrap().len();
    assert!((MAX_KEPT_BYTES / 2..=MAX_KEPT_BYTES + 200_000).contains(&kept), "{kept}");
    assert!(most <= 64 * 1024, "{most}");
}

#[test]
fn a_short_output_creates_no_file() {
    let ended = ended("seq 1 10000");
    assert_eq!((ended.output.text.lines().count(), ended.output.whole), (10_000, None));
}

#[test]
fn binary_garbage_and_escapes_become_text() {
    let ended = ended("printf '\\033[31mred\\033[0m\\000\\001\\377\\n\\033]0;x\\007ok\\n'");
    assert_eq!(ended.output.text, "red\u{FFFD}\nok\n");
}

#[test]
fn known_secrets_are_masked() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = String::new();
    let mut watch = |live: LiveOutput, _| seen += &(live.text + &live.open_line);
    let line = "printf 'the key is sk-can'; sleep 0.3; printf 'ary-0123 \\033[1m!\\n'";
    let ended = run_in(folder.path(), line, AMPLE, &StopHandle::default(), &mut watch);
    assert_eq!(ended.output.text, "the key is [THE_KEY] !\n");
    assert!(!seen.contains("sk-canary-0123"), "{seen}");
}

#[test]
fn the_environment_is_inherited_with_exceptions() {
    let masks = SecretMask::default();
    let line = CommandLine::Shell("echo \"[$CARGO_PKG_NAME][$ADDED]\"".into());
    let run_with = |environment: &Environment| {
        let order =
            RunRequest { line: &line, folder: Path::new("."), time_limit: Some(AMPLE), environment, masks: &masks };
        run(&order, &StopHandle::default(), &mut || Ok(None), &mut |_, _| {}).unwrap().output.text
    };
    let with = vec![("ADDED".to_owned(), "yes".to_owned())];
    assert_eq!(
        run_with(&Environment { with: with.clone(), ..Environment::default() }),
        concat!("[", env!("CARGO_PKG_NAME"), "][yes]\n")
    );
    let without = vec!["CARGO_PKG_NAME".to_owned()];
    assert_eq!(run_with(&Environment { without, with, guarded: true }), "[][yes]\n");
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_has_no_controlling_terminal() {
    if !["/usr/bin/setsid", "/bin/setsid"].iter().any(|path| Path::new(path).exists()) {
        eprintln!("skipped: this machine has no setsid");
        return;
    }
    let line = "echo asked > /dev/tty || echo no terminal; read pid name state parent group session rest < /proc/$$/stat; \
                [ $pid = $session ] && echo own session";
    let text = ended(line).output.text;
    assert!(text.contains("no terminal\nown session\n"), "{text}");
}

#[test]
fn a_missing_folder_is_distinguished_from_a_missing_program() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    let (masks, environment) = (SecretMask::default(), Environment::default());
    for line in [CommandLine::Shell("true".into()), CommandLine::Program(vec!["true".into()])] {
        let order =
            RunRequest { line: &line, folder: &gone, time_limit: None, environment: &environment, masks: &masks };
        let error = run(&order, &StopHandle::default(), &mut || Ok(None), &mut |_, _| {}).unwrap_err();
        assert!(matches!(&error, ProcessError::NoFolder(folder) if *folder == gone), "{error}");
    }
}

#[test]
fn all_output_is_watched_if_requested() {
    let line = CommandLine::Shell("seq 1 100000; printf end".into());
    let (environment, masks) = (Environment::default(), SecretMask::default());
    let request =
        RunRequest { line: &line, folder: Path::new("."), time_limit: None, environment: &environment, masks: &masks };
    let (mut text, mut open_line) = (String::new(), String::new());
    let mut watch = |live: LiveOutput, _| {
        text.push_str(&live.text);
        open_line = live.open_line;
    };
    let ended = run_watched(&request, &StopHandle::default(), Watch::All, &mut || Ok(None), &mut watch).unwrap();
    assert_eq!((text.lines().count(), text.lines().last(), &*open_line), (100_000, Some("100000"), "end"));
    let Output { text: kept, omitted, bytes, .. } = ended.output;
    assert!(kept.contains(&format!("{omitted} bytes left out")) && omitted > 0 && omitted < bytes);
}
