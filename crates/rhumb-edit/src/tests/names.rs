//! New files with doubtful names, and fences that are not whole files.

use super::*;

const NEW: &str = "one = 1\ntwo = 2\nthree = 3\n";

/// The new files of a whole-file fence below a line: those without doubt, and the doubtful ones.
fn made(above: &str) -> (Vec<String>, Vec<String>) {
    let files = [
        ("src/app/config.py", "DEBUG = False\nPORT = 8000\nHOST = 1\n"),
        ("src/app/views.py", "import json\nx = 1\n"),
        ("README.md", "# Harbour\n"),
    ];
    let mut proposal = proposed(&format!("Some words.\n\n{above}\n\n```\n{NEW}```\n"), &files);
    let paths = |proposal: &Proposal| proposal.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    let all = paths(&proposal);
    proposal.refuse_doubtful_names();
    let sure = paths(&proposal);
    let refused = proposal.outcomes.iter().filter(|outcome| outcome.status == Status::Refused);
    assert!(refused.clone().all(|outcome| !outcome.reason.is_empty()));
    let doubtful: Vec<String> = all.into_iter().filter(|path| !sure.contains(path)).collect();
    assert!(doubtful.is_empty() || refused.clone().any(|outcome| outcome.reason.contains("doubtful name")), "{above}");
    (sure, doubtful)
}

#[test]
fn a_title_or_a_phrase_is_a_doubtful_name() {
    for (above, path) in [
        ("### Node.js", "Node.js"),
        ("**Express.js**", "Express.js"),
        ("asyncio.run:", "asyncio.run"),
        ("`json.dumps`", "json.dumps"),
        ("### TCP/IP", "TCP/IP"),
        ("**read/write**:", "read/write"),
        ("Sample config.yaml:", "Sample config.yaml"),
        ("Output of test.py:", "Output of test.py"),
        ("lib/config.py", "lib/config.py"),
        ("app/config.py", "app/config.py"),
    ] {
        assert_eq!(made(above), (vec![], vec![path.to_owned()]), "{above}");
    }
}

#[test]
fn a_plain_path_is_no_doubtful_name() {
    for (above, path) in [
        ("src/app/fresh.py", "src/app/fresh.py"),
        ("fresh.py", "fresh.py"),
        ("### `src/jobs/run.py`", "src/jobs/run.py"),
        ("Updated src/app/fresh.py:", "src/app/fresh.py"),
        ("### New `docs/how-to.md`", "docs/how-to.md"),
        ("./Node.js", "Node.js"),
        ("New file: asyncio.run", "asyncio.run"),
        ("docker/Dockerfile", "docker/Dockerfile"),
        (".env.example", ".env.example"),
        ("src/other/config.py", "src/other/config.py"),
        ("lib/README.md", "lib/README.md"),
        ("`lib/my notes.md`", "lib/my notes.md"),
    ] {
        assert_eq!(made(above), (vec![path.to_owned()], vec![]), "{above}");
    }
}

#[test]
fn a_new_file_of_the_name_of_another_is_doubtful_in_every_format() {
    let files = [("src/app/config.py", "DEBUG = False\n")];
    let patch = "*** Begin Patch\n*** Add File: config.py\n+x = 1\n*** End Patch\n".to_owned();
    let diff = "```diff\n--- /dev/null\n+++ b/config.py\n@@ -0,0 +1 @@\n+x = 1\n```\n".to_owned();
    for reply in [block("config.py", "", "x = 1\n"), patch, diff] {
        let mut proposal = proposed(&reply, &files);
        assert!(only(&proposal).has_doubtful_name(), "{:#?}", proposal.outcomes);
        proposal.refuse_doubtful_names();
        assert!(proposal.files.is_empty() && only(&proposal).reason.contains("`src/app/config.py`"));
    }
}

#[test]
fn a_diff_with_two_names_moves_no_file_without_a_question() {
    let text = "one\ntwo\nthree\n";
    let diff = |from: &str, to: &str| format!("```diff\n--- {from}\n+++ {to}\n@@ @@\n one\n-two\n+zwei\n three\n```\n");
    let mut moved = proposed(&diff("src/a.x", "src/other.x"), &[("src/a.x", text)]);
    assert!(only(&moved).has_doubtful_name());
    moved.refuse_doubtful_names();
    assert!(moved.files.is_empty());
    for (from, to) in [("src/a.x.orig", "src/a.x"), ("old/src/a.x", "new/src/a.x"), ("src/a.x", "src/a.x.new")] {
        let proposal = proposed(&diff(from, to), &[("src/a.x", text)]);
        assert_eq!(proposal.files[0].change, FileChange::Modify, "{from} {to}");
        assert_eq!(proposal.files[0].path, "src/a.x");
    }
    let both = [("src/a.x", text), ("src/other.x", "four\n")];
    let proposal = proposed(&diff("src/other.x", "src/a.x"), &both);
    assert_eq!((proposal.files[0].path.as_str(), &proposal.files[0].change), ("src/a.x", &FileChange::Modify));
    let both = [("src/a.x", text), ("src/other.x", text)];
    assert_eq!(only(&proposed(&diff("src/other.x", "src/a.x"), &both)).status, Status::Refused);
}

#[test]
fn a_sentence_overrules_a_title_only_where_its_file_takes_the_edit() {
    let files = [("src/views.py", "import json\nversion = 1\n"), ("src/utils.py", "import json\nclean = 1\n")];
    let path = |reply: &str| {
        let proposal = proposed(reply, &files);
        proposal.files.first().map(|file| file.path.clone()).ok_or_else(|| only(&proposal).reason.clone())
    };
    let below = |line: &str, edit: &str| format!("### src/views.py\n\n{line}\n{edit}");
    let edit = |search: &str, replace: &str| block("", search, replace);
    let sentence = "This follows what `utils.py` does:";
    assert_eq!(path(&below(sentence, &edit("version = 1\n", "version = 2\n"))).unwrap(), "src/views.py");
    assert_eq!(path(&below(sentence, &edit("clean = 1\n", "clean = 2\n"))).unwrap(), "src/utils.py");
    let both = path(&below(sentence, &edit("import json\n", "import ujson\n"))).unwrap_err();
    assert!(both.contains("`src/views.py`") && both.contains("`utils.py`"), "{both}");
    // After the title has its edit, a sentence may name another file.
    let first = block("src/views.py", "version = 1\n", "version = 2\n");
    let second = format!("{first}\nThe same in `src/utils.py`:\n{}", edit("import json\n", "import ujson\n"));
    assert_eq!(proposed(&second, &files).files.len(), 2);
}

#[test]
fn a_fence_that_is_never_closed_ends_before_the_next_file() {
    let reply = |lost: &str| format!("src/a.py\n```python\nx = 2\n{lost}\nsrc/b.py\n```python\ny = 2\n```\n");
    let files = [("src/a.py", "x = 1\n"), ("src/b.py", "y = 1\n")];
    let closed = proposed(&reply("```\n"), &files);
    assert!(closed.outcomes.iter().all(|outcome| outcome.status == Status::Applied), "{:#?}", closed.outcomes);
    let open = proposed(&reply(""), &files);
    let paths: Vec<&str> = open.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/b.py"], "{:#?}", open.outcomes);
    assert!(open.outcomes[0].flags.contains(&Flag::Incomplete));
    let prose = "src/a.py\n```python\nx = 2\n\nThis raises the value, so that more fits.\n";
    assert_eq!(only(&proposed(prose, &files)).status, Status::Refused);
    let quoted = "src/a.py\n```python\nPROMPT = \"\"\"\nsrc/b.py\n```python\ny = 3\n```\n\"\"\"\n```\n";
    let proposal = proposed(quoted, &files);
    assert_eq!((only(&proposal).status, proposal.files[0].path.as_str()), (Status::Applied, "src/a.py"));
    let whole = "src/a.py\n```python\nx = 2\n";
    assert_eq!(only(&proposed(whole, &files)).status, Status::Applied, "nothing follows");
}

#[test]
fn a_document_may_hold_fences_of_its_own_width() {
    let text = "# Notes\n\n```\npip install harbour\n```\n\nDone.\n";
    for after in ["", "\nThat is the document.\n", "That is the document.\n"] {
        let proposal = proposed(&format!("docs/notes.md\n```markdown\n{text}```\n{after}"), &[]);
        assert_eq!(proposal.files[0].proposed.as_deref(), Some(text), "{after}");
    }
}

#[test]
fn every_format_is_read_in_a_fence_of_tags() {
    let files = [("src/a.py", "x = 1\n")];
    for tag in ["source", "code", "pre", "codeblock", "sourcecode"] {
        for info in ["", "python"] {
            let fenced = |body: &str| format!("<{tag}>{info}\n{body}</{tag}>\n");
            let edit = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n";
            let diff = "--- a/src/a.py\n+++ b/src/a.py\n@@ @@\n-x = 1\n+x = 2\n";
            let patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n";
            for reply in [
                format!("src/a.py\n{}", fenced(edit)),
                fenced(&format!("src/a.py\n{edit}")),
                format!("src/a.py\n{}", fenced("x = 2\n")),
                fenced(diff),
                fenced(patch),
            ] {
                let proposal = proposed(&format!("Here it is.\n\n{reply}\nDone.\n"), &files);
                assert_eq!(only(&proposal).status, Status::Applied, "{reply}: {}", only(&proposal).reason);
                assert_eq!(proposal.files[0].proposed.as_deref(), Some("x = 2\n"), "{reply}");
            }
        }
    }
}

#[test]
fn tags_that_are_content_or_markup_open_no_fence() {
    let page = "<html>\n<pre>\nusage\n</pre>\n<code>\nx\n</code>\n</html>\n";
    let files = [("page.html", page), ("src/a.py", "x = 1\n")];
    let after = |reply: &str, path: &str| {
        let proposal = proposed(reply, &files);
        let file = proposal.files.into_iter().find(|file| file.path == path);
        file.and_then(|file| file.proposed).map(|text| text.to_string())
    };
    let changed = page.replace("usage", "use");
    assert_eq!(after(&format!("page.html\n```html\n{changed}```\n"), "page.html"), Some(changed.clone()));
    let quoted = block("page.html", "<pre>\nusage\n</pre>\n", "<pre>\nuse\n</pre>\n");
    assert_eq!(after(&quoted, "page.html"), Some(changed.clone()));
    let bare = "```diff\n--- a/page.html\n+++ b/page.html\n@@ @@\n<pre>\n-usage\n+use\n</pre>\n```\n";
    assert_eq!(after(bare, "page.html"), Some(changed));
    // Markup that is never closed does not contain the following edits.
    let edit = block("src/a.py", "x = 1\n", "x = 2\n");
    for prose in [
        "It has a\n<pre>\nblock.\n\nMore words.\n\nAnd more.\n",
        "It prints\n<pre>\nx\n</pre>\n",
        "<code>x</code> goes.\n",
    ] {
        assert_eq!(after(&format!("{prose}\n{edit}"), "src/a.py").as_deref(), Some("x = 2\n"), "{prose}");
    }
}
