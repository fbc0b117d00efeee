; Elixir, where every definition is a call. See crates/rhumb-syntax/src/query.rs for the captures.

; Modules, protocols and what implements them
((call
  target: (identifier) @_define
  (arguments . (alias) @name)
  (do_block) @body) @definition.module
  (#eq? @_define "defmodule")
  (#set! segment "last"))
((call
  target: (identifier) @_define
  (arguments . (alias) @name)
  (do_block
    (unary_operator operand: (call
      target: (identifier) @_doc
      (arguments (string) @doc)))) @body) @definition.module
  (#eq? @_define "defmodule")
  (#eq? @_doc "moduledoc")
  (#set! segment "last"))
((call
  target: (identifier) @_define
  (arguments . (alias) @name)
  (do_block) @body) @definition.interface
  (#eq? @_define "defprotocol")
  (#set! segment "last"))
((call
  target: (identifier) @_define
  (arguments (keywords (pair value: (alias) @name)))
  (do_block)) @scope
  (#eq? @_define "defimpl")
  (#set! segment "last"))

; Functions and macros. The clauses of a function are one definition.
((call
  target: (identifier) @_define
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ] (keywords)? @body)
  (do_block)? @body) @definition.function
  (#any-of? @_define "def" "defp" "defdelegate" "defn" "defnp")
  (#set! joins "clauses"))
((call
  target: (identifier) @_define
  (arguments . (binary_operator left: (_) operator: _ @name) (keywords)? @body)
  (do_block)? @body) @definition.function
  (#any-of? @_define "def" "defp")
  (#not-any-of? @name "when" "\\\\")
  (#set! joins "clauses"))
((call
  target: (identifier) @_define
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ] (keywords)? @body)
  (do_block)? @body) @definition.macro
  (#any-of? @_define "defmacro" "defmacrop" "defguard" "defguardp")
  (#set! joins "clauses"))

; Fields of structs and exceptions
((call
  target: (identifier) @_define
  (arguments [
    (keywords (pair key: (keyword) @name) @definition.field)
    (list (keywords (pair key: (keyword) @name) @definition.field))
    (list (atom) @name @definition.field)
  ]))
  (#any-of? @_define "defstruct" "defexception"))

; Attributes: types, callbacks and constants
((unary_operator operator: "@" operand: (call
  target: (identifier) @_attribute
  (arguments (binary_operator
    left: [(identifier) @name (call target: (identifier) @name)]
    operator: "::")))) @definition.type
  (#any-of? @_attribute "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call
  target: (identifier) @_attribute
  (arguments (binary_operator left: (call target: (identifier) @name) operator: "::")))) @definition.method
  (#any-of? @_attribute "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @definition.constant
  (#not-any-of? @name
    "moduledoc" "doc" "typedoc" "spec" "type" "typep" "opaque" "callback" "macrocallback" "behaviour" "impl" "derive"
    "enforce_keys" "tag" "moduletag" "describetag" "deprecated" "dialyzer" "compile" "before_compile" "after_compile"
    "on_definition" "external_resource" "optional_callbacks" "shortdoc" "since" "vsn" "fallback_to_any" "attr" "slot"))
(unary_operator operator: "@" operand: (identifier) @reference)

; Imports
((call
  target: (identifier) @_import
  (arguments . (alias) @import))
  (#any-of? @_import "alias" "import" "require" "use"))
((call
  target: (identifier) @_import
  (arguments . (dot left: (alias) @import)))
  (#any-of? @_import "alias" "import" "require" "use"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute (arguments (alias) @import)))
  (#eq? @_attribute "behaviour"))

; Calls, and functions that stand in a pipeline or are handed over
((call target: (identifier) @reference)
  (#not-any-of? @reference
    "def" "defp" "defmodule" "defmacro" "defmacrop" "defstruct" "defprotocol" "defimpl" "defdelegate" "defguard"
    "defguardp" "defexception" "doc" "moduledoc" "typedoc" "spec" "type" "typep" "opaque" "callback" "impl" "if"
    "unless" "case" "cond" "with" "for" "quote" "unquote" "alias" "import" "require" "use" "raise" "fn" "do" "test"
    "describe" "assert" "behaviour" "macrocallback" "enforce_keys"))
(call target: (dot right: (identifier) @reference))
(binary_operator operator: "|>" right: (identifier) @reference)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference))

; Modules
((alias) @reference
  (#set! segment "last"))
