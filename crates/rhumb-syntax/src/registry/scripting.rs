//! Scripting languages.

use super::super::language::Language;
use super::super::{heredoc, unfit};

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("bash", "Bash", || tree_sitter_bash::LANGUAGE.into())
        .extensions(&["sh", "bash"])
        .file_names(&[".bashrc", ".bash_profile", ".bash_aliases", ".profile"])
        .aliases(&["shell", "zsh", "ksh"])
        .interpreters(&["sh", "bash", "dash", "ksh", "zsh"])
        .tags(include_str!("../../../../queries/bash/tags.scm"))
        .highlights(&[tree_sitter_bash::HIGHLIGHT_QUERY])
        .ascii_only()
        .unfit_if(unfit::many_heredocs),
    #[cfg(feature = "lang-more")]
    Language::new("fish", "Fish", tree_sitter_fish::language)
        .extensions(&["fish"])
        .interpreters(&["fish"])
        .tags(include_str!("../../../../queries/fish/tags.scm"))
        .highlights(&[tree_sitter_fish::HIGHLIGHTS_QUERY]),
    Language::new("lua", "Lua", || tree_sitter_lua::LANGUAGE.into())
        .extensions(&["lua", "rockspec"])
        .interpreters(&["lua", "luajit"])
        .tags(include_str!("../../../../queries/lua/tags.scm"))
        .highlights(&[tree_sitter_lua::HIGHLIGHTS_QUERY])
        .locals(&[tree_sitter_lua::LOCALS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("perl", "Perl", || ts_parser_perl::LANGUAGE.into())
        .extensions(&["pl", "pm", "t", "psgi"])
        .file_names(&["cpanfile", "Makefile.PL", "Build.PL"])
        .interpreters(&["perl"])
        .tags(include_str!("../../../../queries/perl/tags.scm"))
        .highlights(&[ts_parser_perl::HIGHLIGHTS_QUERY])
        .without_text(heredoc::blanked)
        // A here document that the end of the source cuts off in a line is read on and on.
        .line_ended(),
    #[cfg(feature = "lang-more")]
    Language::new("powershell", "PowerShell", || tree_sitter_powershell::LANGUAGE.into())
        .extensions(&["ps1", "psm1", "psd1"])
        .aliases(&["pwsh", "posh"])
        .interpreters(&["pwsh", "powershell"])
        .tags(include_str!("../../../../queries/powershell/tags.scm"))
        .highlights(&[tree_sitter_powershell::HIGHLIGHTS_QUERY]),
    Language::new("python", "Python", || tree_sitter_python::LANGUAGE.into())
        .extensions(&["py", "pyi", "pyw"])
        .file_names(&["SConstruct", "SConscript"])
        .aliases(&["python3", "py3"])
        .interpreters(&["python", "pypy"])
        .tags(include_str!("../../../../queries/python/tags.scm"))
        .highlights(&[tree_sitter_python::HIGHLIGHTS_QUERY]),
    Language::new("ruby", "Ruby", || tree_sitter_ruby::LANGUAGE.into())
        .extensions(&["rb", "rake", "gemspec", "ru"])
        .file_names(&["Rakefile", "Gemfile", "Guardfile", "Vagrantfile"])
        .interpreters(&["ruby"])
        .tags(include_str!("../../../../queries/ruby/tags.scm"))
        .highlights(&[tree_sitter_ruby::HIGHLIGHTS_QUERY])
        .locals(&[tree_sitter_ruby::LOCALS_QUERY])
        .unfit_if(unfit::many_heredocs),
];
