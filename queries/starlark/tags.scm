; Starlark: Bazel, Buck, Tilt. See crates/rhumb-syntax/src/query.rs for the captures.

(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc))?)) @definition.function

(module (expression_statement (assignment left: (identifier) @name) @definition.variable))
((module (expression_statement (assignment left: (identifier) @name) @definition.constant))
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
((module (expression_statement (assignment
  left: (identifier) @name
  right: (call function: (identifier) @_make arguments: (_) @body)) @definition.function))
  (#any-of? @_make "rule" "repository_rule" "module_extension" "aspect" "macro"))
((module (expression_statement (assignment
  left: (identifier) @name
  right: (call function: (identifier) @_make arguments: (_) @body)) @definition.struct))
  (#any-of? @_make "provider" "struct"))

; A target is a call with a name.
((module (expression_statement (call
  function: (_)
  arguments: (argument_list (keyword_argument
    name: (identifier) @_key
    value: (string (string_content) @name))))) @definition.target)
  (#eq? @_key "name"))

(call function: (identifier) @reference)
(call function: (attribute attribute: (identifier) @reference))
(keyword_argument value: (identifier) @reference)
((identifier) @reference
  (#match? @reference "^_*[A-Z]"))

; What is loaded, and from where
((call
  function: (identifier) @_load
  arguments: (argument_list . (string (string_content) @import)))
  (#eq? @_load "load"))
((call
  function: (identifier) @_load
  arguments: (argument_list (string) (string (string_content) @reference)))
  (#eq? @_load "load"))
((call
  function: (identifier) @_load
  arguments: (argument_list (keyword_argument value: (string (string_content) @reference))))
  (#eq? @_load "load"))

; What a target is made from: its neighbours by name, others by their label
((keyword_argument
  name: (identifier) @_deps
  value: (list (string (string_content) @reference)))
  (#any-of? @_deps "deps" "exports" "runtime_deps" "data")
  (#match? @reference "^:"))
((keyword_argument
  name: (identifier) @_deps
  value: (list (string (string_content) @import)))
  (#any-of? @_deps "deps" "exports" "runtime_deps" "data")
  (#match? @import "^(//|@)"))
