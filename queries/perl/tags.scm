; Perl. See crates/rhumb-syntax/src/query.rs for the captures.

(package_statement name: (package) @name) @definition.module
(package_statement name: (package) @name (block) @body) @definition.class
(class_statement name: (package) @name) @definition.class
(role_statement name: (package) @name) @definition.interface

((subroutine_declaration_statement name: (bareword) @name body: (_)? @body) @definition.function
  (#set! segment "last"))
(method_declaration_statement name: (bareword) @name body: (_)? @body) @definition.method

; Constants, package variables and those of the file
((use_statement
  module: (package) @_constant
  (list_expression . (autoquoted_bareword) @name)) @definition.constant
  (#eq? @_constant "constant"))
((use_statement
  module: (package) @_constant
  (anonymous_hash_expression (list_expression (autoquoted_bareword) @name))) @definition.constant
  (#eq? @_constant "constant"))
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name))) @definition.variable))
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name))
  right: (anonymous_subroutine_expression body: (_) @body)) @definition.function))
(source_file (expression_statement (variable_declaration variable: (_ (varname) @name)) @definition.variable))
(source_file (expression_statement (variable_declaration variables: (_ (varname) @name)) @definition.variable))
((source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name))) @ignore))
  (#any-of? @name "VERSION" "EXPORT" "EXPORT_OK" "EXPORT_TAGS" "ISA" "AUTOLOAD"))

; A function by another name: `*alias = \&load_all`
((assignment_expression
  left: (glob (varname) @name)
  right: [(refgen_expression) (anonymous_subroutine_expression)]) @definition.function
  (#set! segment "last"))

; Attributes of Moose and its kin
((ambiguous_function_call_expression
  function: (function) @_has
  arguments: (list_expression . [
    (string_literal content: (string_content) @name)
    (autoquoted_bareword) @name
    (bareword) @name
  ])) @definition.field
  (#any-of? @_has "has" "has_field" "option"))

; Imports
((use_statement module: (package) @import)
  (#not-any-of? @import "strict" "warnings" "utf8" "parent" "base" "constant" "lib" "vars" "feature" "overload" "integer"))
((use_statement module: (package) @_parent (quoted_word_list content: (string_content) @import @reference))
  (#any-of? @_parent "parent" "base")
  (#not-match? @import " "))
((use_statement module: (package) @_parent (string_literal content: (string_content) @import @reference))
  (#any-of? @_parent "parent" "base"))
((use_statement module: (package) @_parent (list_expression (string_literal content: (string_content) @import @reference)))
  (#any-of? @_parent "parent" "base"))
(require_expression (bareword) @import)
(require_expression (_ content: (string_content) @import))
((ambiguous_function_call_expression
  function: (function) @_extends
  arguments: [
    (string_literal content: (string_content) @reference)
    (list_expression (string_literal content: (string_content) @reference))
  ])
  (#any-of? @_extends "extends" "with"))

; Calls
((function_call_expression function: (function) @reference)
  (#set! segment "last"))
((ambiguous_function_call_expression function: (function) @reference)
  (#not-any-of? @reference "bless" "print" "push" "sprintf" "die" "join" "return" "open" "printf" "splice" "unshift")
  (#set! segment "last"))
((method_call_expression method: (method) @reference)
  (#set! segment "last"))
((refgen_expression (function (varname) @reference))
  (#set! segment "last"))

; Classes, and constants that stand without arguments
(method_call_expression invocant: (bareword) @reference)
((bareword) @reference
  (#match? @reference "^[A-Z][A-Z0-9_]+$"))
