//! Scripting languages.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("bash", "Bash", || tree_sitter_bash::LANGUAGE.into())
        .extensions(&["sh", "bash"])
        .file_names(&[".bashrc", ".bash_profile", ".bash_aliases", ".profile"])
        .aliases(&["shell", "zsh", "ksh"])
        .interpreters(&["sh", "bash", "dash", "ksh", "zsh"])
        .tags(include_str!("../../../queries/bash/tags.scm"))
        .highlights(&[tree_sitter_bash::HIGHLIGHT_QUERY])
        .ascii_only(),
    Language::new("python", "Python", || tree_sitter_python::LANGUAGE.into())
        .extensions(&["py", "pyi", "pyw"])
        .file_names(&["SConstruct", "SConscript"])
        .aliases(&["python3", "py3"])
        .interpreters(&["python", "pypy"])
        .tags(include_str!("../../../queries/python/tags.scm"))
        .highlights(&[tree_sitter_python::HIGHLIGHTS_QUERY]),
    Language::new("ruby", "Ruby", || tree_sitter_ruby::LANGUAGE.into())
        .extensions(&["rb", "rake", "gemspec", "ru"])
        .file_names(&["Rakefile", "Gemfile", "Guardfile", "Vagrantfile"])
        .interpreters(&["ruby"])
        .tags(include_str!("../../../queries/ruby/tags.scm"))
        .highlights(&[tree_sitter_ruby::HIGHLIGHTS_QUERY])
        .locals(&[tree_sitter_ruby::LOCALS_QUERY]),
];
