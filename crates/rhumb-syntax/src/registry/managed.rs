//! Languages of the JVM, .NET, phones and the like.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("java", "Java", || tree_sitter_java::LANGUAGE.into())
        .extensions(&["java"])
        .tags(include_str!("../../../../queries/java/tags.scm"))
        .highlights(&[tree_sitter_java::HIGHLIGHTS_QUERY]),
    Language::new("csharp", "C#", || tree_sitter_c_sharp::LANGUAGE.into())
        .extensions(&["cs", "csx"])
        .aliases(&["c#", "dotnet"])
        .tags(include_str!("../../../../queries/csharp/tags.scm"))
        .highlights(&[tree_sitter_c_sharp::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("dart", "Dart", || tree_sitter_dart::LANGUAGE.into())
        .extensions(&["dart"])
        .interpreters(&["dart"])
        .tags(include_str!("../../../../queries/dart/tags.scm"))
        .highlights(&[tree_sitter_dart::HIGHLIGHTS_QUERY]),
    Language::new("kotlin", "Kotlin", || tree_sitter_kotlin_ng::LANGUAGE.into())
        .extensions(&["kt", "kts"])
        .tags(include_str!("../../../../queries/kotlin/tags.scm"))
        .line_ended(),
    #[cfg(feature = "lang-more")]
    Language::new("objc", "Objective-C", || tree_sitter_objc::LANGUAGE.into())
        .extensions(&["m", "mm"])
        .aliases(&["objective-c", "objectivec", "obj-c"])
        .tags(concat!(
            include_str!("../../../../queries/c/tags.scm"),
            include_str!("../../../../queries/objc/tags.scm")
        ))
        .highlights(&[tree_sitter_objc::HIGHLIGHTS_QUERY]),
    Language::new("php", "PHP", || tree_sitter_php::LANGUAGE_PHP.into())
        .extensions(&["php", "phtml", "php5", "php7", "php8"])
        .interpreters(&["php"])
        .tags(include_str!("../../../../queries/php/tags.scm"))
        .highlights(&[tree_sitter_php::HIGHLIGHTS_QUERY]),
    Language::new("scala", "Scala", || tree_sitter_scala::LANGUAGE.into())
        .extensions(&["scala", "sc", "sbt"])
        .interpreters(&["scala"])
        .tags(include_str!("../../../../queries/scala/tags.scm"))
        .highlights(&[tree_sitter_scala::HIGHLIGHTS_QUERY]),
    Language::new("swift", "Swift", || tree_sitter_swift::LANGUAGE.into())
        .extensions(&["swift"])
        .interpreters(&["swift"])
        .tags(include_str!("../../../../queries/swift/tags.scm"))
        .highlights(&[tree_sitter_swift::HIGHLIGHTS_QUERY])
        .line_ended(),
    #[cfg(feature = "lang-more")]
    Language::new("groovy", "Groovy", || tree_sitter_groovy::LANGUAGE.into())
        .extensions(&["groovy", "gradle", "gvy", "gy"])
        .file_names(&["Jenkinsfile"])
        .interpreters(&["groovy"])
        .tags(include_str!("../../../../queries/groovy/tags.scm"))
        .lenient(),
    #[cfg(feature = "lang-more")]
    Language::new("solidity", "Solidity", || tree_sitter_solidity::LANGUAGE.into())
        .extensions(&["sol"])
        .tags(include_str!("../../../../queries/solidity/tags.scm")),
];
