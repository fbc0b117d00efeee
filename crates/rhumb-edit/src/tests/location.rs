//! Edit location: what is lenient, and what only looks like a typo.

use crate::tests::{block, memory_files, only, proposed};
use crate::{EditFormat, Flag, FormatChoice, Outcome, Proposal, Status, Strategy, parse, propose};

/// The proposal of a unified diff of `src/a.py`, given its hunks without headings.
fn diffed(text: &str, hunks: &[&str]) -> Proposal {
    let hunks: String = hunks.iter().map(|hunk| format!("@@\n{hunk}")).collect();
    let reply = format!("```diff\n--- src/a.py\n+++ src/a.py\n{hunks}```\n");
    propose(&parse(&reply, FormatChoice::Only(EditFormat::Udiff)), &memory_files(&[("src/a.py", text)]))
}

fn text_of(proposal: &Proposal) -> &str {
    proposal.files.first().and_then(|file| file.proposed.as_deref()).unwrap_or_default()
}

fn is_refused(outcome: &Outcome) -> bool {
    outcome.status == Status::Refused
}

#[test]
fn a_removed_line_may_be_misspelt_by_a_word_and_not_by_a_number() {
    let text = "import sea\nversion = \"2.4.0\"\nharbour = open_gate(tide)\nend()\n";
    let slip = diffed(text, &["-harbour = opne_gate(tide)\n+harbour = close_gate(tide)\n end()\n"]);
    assert!(text_of(&slip).contains("close_gate"), "{slip:#?}");
    let number = diffed(text, &[" import sea\n-version = \"2.10.0\"\n+version = \"2.11.0\"\n"]);
    assert!(is_refused(only(&number)), "{number:#?}");
    let other = diffed(text, &["-harbour = shut_door(tide)\n+harbour = close_gate(tide)\n end()\n"]);
    assert!(is_refused(only(&other)), "{other:#?}");
}

#[test]
fn a_quote_of_two_places_is_refused() {
    let body = "def count(path):\n    n = 0\n    for step in path:\n        if step.open:\n            n += 1\n    if n > 255:\n        n = 255\n    return n\n";
    let hunk = body.replace("        if step.open:\n", "-        if step.open:\n+        if step.shut:\n");
    let hunk: String = hunk
        .lines()
        .map(|line| if line.starts_with(['-', '+']) { format!("{line}\n") } else { format!(" {line}\n") })
        .collect();
    let text = format!("setup()\n\n}}\n\n{body}\n# Gets the value.\n# And the map.\nother()\n");
    assert!(text_of(&diffed(&text, &[&hunk])).contains("step.shut"));
    // Two lines of another location did not lose their plus sign.
    let mixed = diffed(&text, &[&format!(" }}\n \n # Gets the value.\n # And the map.\n \n{hunk}")]);
    assert!(is_refused(only(&mixed)), "{mixed:#?}");
    // Lines far above do not belong to the location.
    let far: String = (0..7).map(|n| format!("step_{n}()\n")).collect();
    let torn = diffed(
        &format!("import a\nimport b\nimport c\n{far}{body}"),
        &[&format!(" import a\n import b\n import c\n{hunk}")],
    );
    assert!(is_refused(only(&torn)), "{torn:#?}");
    let near = diffed(&format!("setup()\nstep()\n{body}"), &[&format!(" setup()\n{hunk}")]);
    assert!(!is_refused(only(&near)), "{near:#?}");
}

#[test]
fn code_of_the_same_kind_is_not_what_was_quoted() {
    let text = "class A:\n    def write(self, out, a):\n        out.value(\"number\")\n    def read(self, a):\n        \
                self.next_string()\n        return make(A, \"number\")\n";
    let quote = "     def write(self, out, t):\n         out.value(\"numbers\")\n     def read(self, t):\n         \
                 self.next_string()\n+        check(t)\n         return make(T, \"number\")\n";
    assert!(is_refused(only(&diffed(text, &[quote]))));
    // A bracket or a semicolon does not make two calls equal.
    let calls = "    }).await.unwrap()\n});\n";
    let other = diffed(calls, &["-    }).await.unwrap();\n+    })\n });\n"]);
    assert!(is_refused(only(&other)), "{other:#?}");
}

#[test]
fn ascii_art_that_is_there_is_not_added_again() {
    let logo = " ______  ______ \n|  __  ||  __  |\n| |__| || |__| |\n|______||______|\n";
    let text = format!("{logo}\nA sea mark\n\n## Use\n");
    let marked: String = logo.lines().map(|line| format!("+{line}\n")).collect();
    let again = diffed(&text, &[&format!("{marked} \n A sea mark\n ## Use\n")]);
    assert!(only(&again).flags.contains(&Flag::AlreadyApplied), "{again:#?}");
}

#[test]
fn an_ambiguous_edit_goes_where_no_other_edit_goes() {
    let text = "def f():\n    lift()\n    open_gate()\n\ndef g():\n    drop()\n    open_gate()\n";
    let short = "-    open_gate()\n+    swing_gate()\n";
    let other = "     lift()\n-    open_gate()\n+    close_gate()\n";
    let wanted = text.replacen("open_gate", "close_gate", 1).replace("open_gate", "swing_gate");
    for hunks in [[short, other], [other, short]] {
        assert_eq!(text_of(&diffed(text, &hunks)), wanted);
    }
    // Lines added to a location do not change it.
    let pair = text.replace("open_gate()\n", "open_gate()\n    wait()\n");
    let short = "     open_gate()\n-    wait()\n+    sleep()\n";
    let between = "     lift()\n     open_gate()\n+    look()\n";
    for hunks in [[short, between], [between, short]] {
        let proposal = diffed(&pair, &hunks);
        assert_eq!(text_of(&proposal), pair.replacen("    wait()", "    look()\n    wait()", 1));
        assert!(proposal.outcomes.iter().any(|outcome| outcome.flags.contains(&Flag::Ambiguous)), "{proposal:#?}");
    }
}

#[test]
fn a_line_number_breaks_a_tie_where_the_others_have_proved_right() {
    let far: String = (0..30).map(|n| format!("step_{n}()\n")).collect();
    let text = format!("open_gate()\nlift()\n{far}open_gate()\nlower()\n");
    let places = |numbers: [usize; 2]| {
        let tie = format!("@@ -{},1 +1,1 @@\n-open_gate()\n+swing_gate()\n", numbers[0]);
        let sure = format!("@@ -{},1 +1,1 @@\n-step_7()\n+leap_7()\n", numbers[1]);
        let reply = format!("```diff\n--- src/a.py\n+++ src/a.py\n{tie}{sure}```\n");
        let proposal = propose(&parse(&reply, FormatChoice::Auto), &memory_files(&[("src/a.py", &text)]));
        text_of(&proposal)
            .lines()
            .enumerate()
            .filter(|(_, line)| *line == "swing_gate()")
            .map(|(at, _)| at + 1)
            .collect::<Vec<_>>()
    };
    let nowhere: Vec<usize> = Vec::new();
    assert_eq!([places([1, 10]), places([33, 10])], [[1], [33]]);
    assert_eq!(places([33, 11]), nowhere, "the other number is wrong");
    assert_eq!(places([32, 10]), nowhere, "there is no such place");
    assert_eq!(places([0, 10]), nowhere);
    let near = text.replace("step_20()", "open_gate()");
    let reply = "```diff\n--- src/a.py\n+++ src/a.py\n@@ -33 +33 @@\n-open_gate()\n+swing_gate()\n@@ -10 +10 @@\n-step_7()\n+x()\n```\n";
    let proposal = propose(&parse(reply, FormatChoice::Auto), &memory_files(&[("src/a.py", &near)]));
    assert!(is_refused(&proposal.outcomes[0]), "another place is near: {proposal:#?}");
}

#[test]
fn an_applied_edit_is_recognised_whatever_its_indentation() {
    let done = "def f():\n    tide = read()\n    if tide:\n        open_gate(tide)\n    return tide\n";
    let hunk = " def f():\n-  open_gate(read())\n+  tide = read()\n+  if tide:\n+    open_gate(tide)\n   return tide\n";
    let outcome = only(&diffed(done, &[hunk])).clone();
    assert!(is_refused(&outcome), "{outcome:#?}");
    // A comment that the first attempt added is not added again.
    let text = "a = 1\n\n# Why.\ndef g():\n    pass\n";
    let again = proposed(&block("src/a.py", "\ndef g():\n", "\n# Why.\ndef g():\n"), &[("src/a.py", text)]);
    assert!(only(&again).flags.contains(&Flag::AlreadyApplied), "{again:#?}");
}

#[test]
fn a_hunk_repeated_with_other_context_is_applied_once() {
    let text = "def f():\n    lift()\n    open_gate()\n    close_gate()\n";
    let hunk = " def f():\n     lift()\n-    open_gate()\n+    swing_gate()\n";
    let other = "     lift()\n-    open_gate()\n+    swing_gate()\n     close_gate()\n";
    let twice = diffed(text, &[hunk, other]);
    assert_eq!(text_of(&twice).matches("swing_gate").count(), 1);
    assert!(twice.outcomes.iter().all(|outcome| !is_refused(outcome)), "{twice:#?}");
    assert_eq!(twice.outcomes[1].strategy, Some(Strategy::Unchanged));
}

#[test]
fn a_line_that_takes_the_place_of_a_heading_stays_above_its_docstring() {
    let text = "def f(a):\n    \"\"\"What it does.\"\"\"\n    return a\n";
    let proposal = proposed(&block("src/a.py", "def f(a):\n", "@cached\ndef f(a, b):\n"), &[("src/a.py", text)]);
    assert_eq!(text_of(&proposal), "@cached\ndef f(a, b):\n    \"\"\"What it does.\"\"\"\n    return a\n");
}

#[test]
fn entities_are_read_as_characters_where_the_file_has_those() {
    let text = "if tide < low && open:\n    shut()\n";
    let files = [("src/a.py", text)];
    let escaped = proposed(&block("src/a.py", "if tide &lt; low &amp;&amp; open:\n", "if tide &lt; high:\n"), &files);
    assert_eq!(text_of(&escaped), "if tide < high:\n    shut()\n");
    // The file has none of the characters, so that the entities are meant.
    let meant = proposed(&block("src/a.py", "    shut()\n", "    print('&lt;' + '<')\n"), &files);
    assert!(text_of(&meant).contains("'&lt;'"), "{meant:#?}");
}

#[test]
fn a_marker_that_the_end_of_the_reply_cuts_is_an_edit_that_is_missing() {
    let reply = "src/a.py\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SE";
    let proposal = proposed(reply, &[("src/a.py", "a\n")]);
    let statuses: Vec<Status> = proposal.outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(statuses, [Status::Applied, Status::Refused]);
    assert!(proposal.outcomes[1].flags.contains(&Flag::Incomplete));
}

#[test]
fn a_whole_file_under_a_misspelt_name_makes_no_new_one() {
    let lines: String = (0..30).map(|n| format!("step_{n}()\n")).collect();
    let reply = format!("sorce/gaet.py\n```python\n{}```\n", lines.replace("step_3()", "leap()"));
    let proposal = propose(
        &parse(&reply, FormatChoice::Only(EditFormat::Whole)),
        &memory_files(&[("source/gate.py", &lines), ("source/empty.py", "")]),
    );
    assert!(is_refused(only(&proposal)) && proposal.files.is_empty(), "{proposal:#?}");
}

#[test]
fn a_file_stays_when_what_is_to_take_its_place_is_refused() {
    let text = "one()\ntwo()\nthree()\n";
    let replaced = |added: &str| {
        let reply =
            format!("*** Begin Patch\n*** Delete File: src/a.py\n*** Add File: src/a.py\n{added}*** End Patch\n");
        proposed(&reply, &[("src/a.py", text)])
    };
    assert_eq!(text_of(&replaced("+one()\n+four()\n")), "one()\nfour()\n");
    let elided = replaced("+one()\n+# ... rest of the code unchanged ...\n");
    assert!(elided.files.is_empty() && elided.outcomes.iter().all(is_refused), "{elided:#?}");
}

#[test]
fn a_bare_name_of_several_files_is_never_the_empty_one() {
    let lines: String = (0..30).map(|n| format!("step_{n}()\n")).collect();
    let reply = format!("__init__.py\n```python\n{}```\n", lines.replace("step_3()", "leap()"));
    let files = [("a/__init__.py", ""), ("b/__init__.py", lines.as_str())];
    let proposal = propose(&parse(&reply, FormatChoice::Only(EditFormat::Whole)), &memory_files(&files));
    assert_eq!(proposal.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b/__init__.py"]);
}

#[test]
fn kept_lines_of_a_diff_may_lack_the_blank_that_marks_them() {
    let text = "class Boat:\n    def moor(self):\n        tie(self)\n        rest()\n";
    let added = "class Boat:\n    def moor(self):\n        self.check()\n        tie(self)\n        rest()\n";
    for hunk in [
        "    def moor(self):\n+        self.check()\n        tie(self)\n",
        "class Boat:\n    def moor(self):\n+        self.check()\n         tie(self)\n",
        "     def moor(self):\n+        self.check()\n        tie(self)\n        rest()\n",
    ] {
        assert_eq!(text_of(&diffed(text, &[hunk])), added, "{hunk}");
    }
    let replaced = diffed(text, &["    def moor(self):\n-        tie(self)\n+        tie(self, 2)\n        rest()\n"]);
    assert_eq!(text_of(&replaced), text.replace("tie(self)", "tie(self, 2)"));
    // A line that lost its plus sign keeps its indentation.
    let unsigned = "    def moor(self):\n        watch(self)\n+        self.check()\n        tie(self)\n";
    let both = added.replace("        self.check()", "        watch(self)\n        self.check()");
    assert_eq!(text_of(&diffed(text, &[unsigned])), both);
}

#[test]
fn a_hunk_moved_to_the_left_by_a_column_is_moved_back() {
    let text = "/**\n * Opens.\n * Waits.\n */\nopen()\n";
    let moved = diffed(text, &[" * Opens.\n+* Looks.\n * Waits.\n"]);
    assert_eq!(text_of(&moved), "/**\n * Opens.\n * Looks.\n * Waits.\n */\nopen()\n");
    let block = proposed(
        &block("src/a.py", "   def a():\n       go()\n", "   def a():\n       now()\n       go()\n"),
        &[("src/a.py", "class A:\n    def a():\n        go()\n")],
    );
    assert_eq!(text_of(&block), "class A:\n    def a():\n        now()\n        go()\n");
}

#[test]
fn a_removed_line_may_not_differ_in_an_operator() {
    let text = "def f(a, b):\n    if a > b:\n        swap(a, b)\n    return price - tax\n";
    for hunk in
        ["-    if a < b:\n+    if a <= b:\n         swap(a, b)\n", "-    return price + tax\n+    return price\n"]
    {
        let other = diffed(text, &[hunk]);
        assert!(is_refused(only(&other)) && other.files.is_empty(), "{other:#?}");
    }
    let slip = diffed(text, &["         swap(a, b)\n-    return pirce - tax\n+    return price\n"]);
    assert!(text_of(&slip).ends_with("return price\n"), "{slip:#?}");
}

#[test]
fn kept_lines_of_another_number_or_name_are_another_place() {
    let text = "switch (kind) {\n  case 1:\n    start();\n    break;\n  case 2:\n    alpha(kind);\n    stop();\n    break;\n}\n\
                function clampMax(v) {\n  check(v);\n  return limit(v);\n}\n";
    for hunk in [
        "   case 4:\n     alpha(kind);\n-    stop();\n+    halt();\n     break;\n",
        " function clampMin(v) {\n   check(v);\n-  return limit(v);\n+  return limit(v, 0);\n }\n",
    ] {
        let other = diffed(text, &[hunk]);
        assert!(is_refused(only(&other)) && other.files.is_empty(), "{other:#?}");
    }
    let signature = " function clampMax(value) {\n   check(v);\n-  return limit(v);\n+  return limit(v, 0);\n }\n";
    assert!(text_of(&diffed(text, &[signature])).contains("limit(v, 0)"));
}

#[test]
fn a_heading_of_another_number_is_not_added() {
    let text = "intro()\n# Step 2: open\nopen()\nclose()\n";
    let other = diffed(text, &[" intro()\n # Step 3: open\n open()\n-close()\n+shut()\n"]);
    assert!(is_refused(only(&other)) && other.files.is_empty(), "{other:#?}");
}

#[test]
fn a_divider_sent_twice_is_no_line_of_the_file() {
    let files = [("src/a.py", "rate = 0.2\nopen()\n")];
    for block in ["rate = 0.2\n=======\nrate = 0.25\n=======\n", "rate = 0.2\n=======\n=======\nrate = 0.25\n"] {
        let reply = format!("src/a.py\n```\n<<<<<<< SEARCH\n{block}>>>>>>> REPLACE\n```\n");
        assert_eq!(text_of(&proposed(&reply, &files)), "rate = 0.25\nopen()\n", "{block}");
    }
    let three = "src/a.py\n```\n<<<<<<< SEARCH\nrate = 0.2\n=======\nrate_of_tide = 0.25\n=======\nx = 1\n>>>>>>> REPLACE\n```\n";
    let three = proposed(three, &files);
    assert!(is_refused(only(&three)) && three.files.is_empty(), "{three:#?}");
}

#[test]
fn an_underlined_heading_is_no_second_divider() {
    let document = [("a.md", "Tides\n=======\n\nold\n")];
    let added = block("a.md", "old\n", "old\n\nLocks\n=======\n");
    assert_eq!(text_of(&proposed(&added, &document)), "Tides\n=======\n\nold\n\nLocks\n=======\n");
    let code = [("src/a.py", "\"\"\"\nold\n\"\"\"\n")];
    let added = block("src/a.py", "old\n", "Tides\n=======\n\nold\n");
    assert_eq!(text_of(&proposed(&added, &code)), "\"\"\"\nTides\n=======\n\nold\n\"\"\"\n");
}

#[test]
fn words_that_stand_for_lost_code_are_refused() {
    let text = "def total(self):\n    result = 0\n    for amount in self.entries:\n        result += amount\n    return result\n";
    let replaced = |line: &str| {
        let added = format!("def total(self):\n    \"\"\"The sum.\"\"\"\n    {line}\n    return result\n");
        proposed(&block("src/a.py", text, &added), &[("src/a.py", text)])
    };
    for line in ["...", "# rest of the loop stays the same", "# keep existing accumulation code", "# as before"] {
        let elided = replaced(line);
        assert!(is_refused(only(&elided)) && elided.files.is_empty(), "{line}: {elided:#?}");
    }
    for line in [
        "result = sum(self.entries)",
        "# Use the existing helper",
        "# existing entries\n    result = sum(self.entries)",
    ] {
        assert_eq!(replaced(line).files.len(), 1, "{line}");
    }
    // Nothing is lost if few lines are removed, or if the ellipsis is the whole new body.
    let one = block("src/a.py", "    result = 0\n", "    # existing entries\n");
    assert_eq!(proposed(&one, &[("src/a.py", text)]).files.len(), 1);
    let stub = block("src/a.py", text, "def total(self) -> int:\n    ...\n");
    assert_eq!(text_of(&proposed(&stub, &[("src/a.py", text)])), "def total(self) -> int:\n    ...\n");
}

#[test]
fn words_for_functions_that_a_whole_file_loses_are_refused() {
    let lines: String = (0..30).map(|n| format!("step_{n}()\n")).collect();
    let cut: String = lines.lines().take(26).map(|line| format!("{line}\n")).collect();
    for line in ["# rest of the steps remains the same", "# remaining steps as before", "[rest of the file unchanged]"]
    {
        let reply = format!("src/a.py\n```python\n{}{line}\n```\n", cut.replace("step_3()", "leap()"));
        let elided = proposed(&reply, &[("src/a.py", &lines)]);
        assert!(is_refused(only(&elided)) && elided.files.is_empty(), "{line}: {elided:#?}");
    }
    let commented = format!("src/a.py\n```python\n{}# existing steps\nrest()\n```\n", cut);
    assert_eq!(proposed(&commented, &[("src/a.py", &lines)]).files.len(), 1);
}

#[test]
fn fences_of_a_document_may_lack_the_blank_of_context() {
    let text = "# Boats\n\n## Install\n\n```bash\nnpm install boats\n```\n\n## Use\n\nSail.\n";
    let files = [("README.md", text)];
    let diff = |hunks: &str| format!("```diff\n--- a/README.md\n+++ b/README.md\n{hunks}```\n");
    let hunk = "@@\n ## Install\n \n```bash\n-npm install boats\n+npm ci\n```\n";
    let both = format!("{hunk}@@\n ## Use\n \n-Sail.\n+Row.\n");
    let wanted = text.replace("npm install boats", "npm ci");
    assert_eq!(text_of(&proposed(&diff(hunk), &files)), wanted);
    assert_eq!(text_of(&proposed(&diff(&both), &files)), wanted.replace("Sail", "Row"));
    // Where a diff that stops within such a fence ends is unknown, so that it is refused.
    let open = diff(hunk).replace("+npm ci\n```\n```\n", "+npm ci\n");
    let open = proposed(&open, &files);
    assert!(is_refused(only(&open)) && open.files.is_empty(), "{open:#?}");
    // In other files a fence ends the diff.
    let next = "```diff\n--- a/src/a.py\n+++ b/src/a.py\n@@\n-one()\n+two()\n```bash\nls\n```\n";
    assert_eq!(text_of(&proposed(next, &[("src/a.py", "one()\n")])), "two()\n");
}

#[test]
fn a_new_document_of_a_patch_keeps_its_fences() {
    let reply = "```\n*** Begin Patch\n*** Add File: n.md\n# N\n\n```bash\nls\n```\nend\n*** End Patch\n```\n";
    assert_eq!(text_of(&proposed(reply, &[("a.md", "a\n")])), "# N\n\n```bash\nls\n```\nend\n");
}

#[test]
fn typographic_quotes_are_not_added_to_a_file_of_plain_ones() {
    let search = "boat(\u{201c}gull\u{201d})\n";
    let replace = "boat(\u{201c}tern\u{201d})\n";
    let plain = proposed(&block("src/a.py", search, replace), &[("src/a.py", "boat(\"gull\")\nend()\n")]);
    assert_eq!(text_of(&plain), "boat(\"tern\")\nend()\n");
    // Typographic quotes are meant if the file has some, or if the reply quotes ASCII ones.
    let text = "boat(\"gull\")\nsay(\"\u{2026}\")\n";
    let meant = proposed(&block("src/a.py", search, replace), &[("src/a.py", text)]);
    assert!(text_of(&meant).contains('\u{201c}'), "{meant:#?}");
    let meant = proposed(&block("src/a.py", "end()\n", "end(\"\u{2026}\")\n"), &[("src/a.py", "a()\nend()\n")]);
    assert!(text_of(&meant).contains('\u{2026}'), "{meant:#?}");
}

#[test]
fn lines_added_to_a_quote_without_any_indentation_are_refused() {
    let text = "def f():\n    for a in b:\n        c(a)\n    return d\n";
    let flat = block("src/a.py", "for a in b:\nc(a)\nreturn d\n", "for a in b:\nc(a)\nlog()\nreturn d\n");
    let flat = proposed(&flat, &[("src/a.py", text)]);
    assert!(is_refused(only(&flat)) && flat.files.is_empty(), "{flat:#?}");
    let even = block("src/a.py", "e(a)\nf(a)\n", "e(a)\nlog()\nf(a)\n");
    let even = proposed(&even, &[("src/a.py", "if a:\n    e(a)\n    f(a)\n")]);
    assert_eq!(text_of(&even), "if a:\n    e(a)\n    log()\n    f(a)\n");
}
