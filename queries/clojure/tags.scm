; Clojure, where every definition is a list. See crates/rhumb-syntax/src/query.rs for the captures.

((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  . value: (str_lit)? @doc
  . value: (_)? @body) @definition.module
  (#any-of? @_define "ns" "in-ns"))

; Functions, of one arity or of several. A doc string is no part of the signature.
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  value: (str_lit)? @doc
  value: (vec_lit)
  . value: (_) @body) @definition.function
  (#any-of? @_define "defn" "defn-" "defmethod"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  value: (str_lit)? @doc
  value: (list_lit . value: (vec_lit) . value: (_)? @body)) @definition.function
  (#any-of? @_define "defn" "defn-"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  value: (str_lit)? @doc) @definition.function
  (#any-of? @_define "defn" "defn-" "defmulti"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  . value: (_)? @body) @definition.function
  (#any-of? @_define "deftest" "defspec"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  value: (str_lit)? @doc
  value: [
    (vec_lit)
    (list_lit . value: (vec_lit))
  ]
  . value: (_)? @body) @definition.macro
  (#eq? @_define "defmacro"))

; Names of a file, also by macros of its own: whatever begins with `def`
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)) @definition.constant
  (#any-of? @_define "def" "defonce")
  (#set! only "top-level"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  . value: (str_lit) @doc
  . value: (_)) @definition.constant
  (#any-of? @_define "def" "defonce")
  (#set! only "top-level"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)) @definition.variable
  (#match? @_define "^def[a-z]*[-a-z]*$")
  (#not-any-of? @_define "deref" "default" "defaults" "defer" "def" "defonce" "defn" "defn-")
  (#set! only "top-level"))

; Types and protocols, and the methods in them
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  . value: (vec_lit)
  . value: (_)? @body) @definition.struct
  (#any-of? @_define "defrecord" "deftype"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit)
  . value: (vec_lit)
  value: (list_lit
    . value: (sym_lit name: (sym_name) @name)
    . value: (vec_lit)
    . value: (_)? @body) @definition.method)
  (#any-of? @_define "defrecord" "deftype"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit name: (sym_name) @name)
  . value: (str_lit)? @doc
  value: (list_lit) @body) @definition.interface
  (#any-of? @_define "defprotocol" "definterface"))
((list_lit
  . value: (sym_lit name: (sym_name) @_define)
  . value: (sym_lit)
  value: (list_lit
    . value: (sym_lit name: (sym_name) @name)
    . value: (vec_lit)
    value: (str_lit)? @doc) @definition.method)
  (#any-of? @_define "defprotocol" "definterface"))
((list_lit
  . value: (sym_lit name: (sym_name) @_extend)
  . value: (sym_lit name: (sym_name) @name)) @scope
  (#any-of? @_extend "extend-type" "extend-protocol"))
((list_lit
  . value: (sym_lit name: (sym_name) @_extend)
  . value: (sym_lit)
  value: (list_lit
    . value: (sym_lit name: (sym_name) @name)
    . value: (vec_lit)
    . value: (_)? @body) @definition.method)
  (#any-of? @_extend "extend-type" "extend-protocol"))

; Imports
((list_lit
  . value: (kwd_lit name: (kwd_name) @_require)
  value: [
    (sym_lit) @import
    (vec_lit . value: (sym_lit) @import)
  ])
  (#any-of? @_require "require" "use" "require-macros"))
((list_lit
  . value: (kwd_lit name: (kwd_name) @_import)
  value: [
    (sym_lit) @import
    (list_lit . value: (sym_lit) @import)
    (vec_lit . value: (sym_lit) @import)
  ])
  (#eq? @_import "import"))
((vec_lit
  value: (kwd_lit name: (kwd_name) @_refer)
  . value: (vec_lit value: (sym_lit name: (sym_name) @reference)))
  (#any-of? @_refer "refer" "only"))

; Calls, what stands in a namespace, and functions handed over
((list_lit . value: (sym_lit name: (sym_name) @reference))
  (#not-any-of? @reference
    "ns" "def" "defn" "defn-" "let" "if" "when" "fn" "do" "->" "->>" "cond" "and" "or" "not" "loop" "recur" "case"
    "if-let" "when-let" "when-not" "if-not" "for" "doseq" "str" "=" "+" "-" "*" "/" "<" ">" "<=" ">=" "defmacro"
    "defonce" "defmulti" "defmethod" "defprotocol" "defrecord" "deftype" "quote" "var" "try" "catch" "throw" "first"
    "get" "assoc" "count" "nil?" "inc" "dec" "comment" "declare" "deftest" "is" "testing" "new" "." ".." "extend-type" "extend-protocol" "definterface")
  (#not-match? @reference "^->[A-Z]|[.]$"))
(sym_lit namespace: (sym_ns) name: (sym_name) @reference)
((list_lit
  . value: (sym_lit name: (sym_name) @_apply)
  value: (sym_lit name: (sym_name) @reference))
  (#any-of? @_apply
    "->" "->>" "map" "mapv" "filter" "filterv" "remove" "keep" "mapcat" "comp" "partial" "apply" "reduce" "some" "every?"
    "sort-by" "group-by" "some->" "cond->" "run!" "juxt" "swap!" "update" "declare" "complement" "memoize"))

; A capital marks classes; `->Tide` and `Tide.` make one.
((sym_name) @reference
  (#match? @reference "^[A-Z]|^(map)?->[A-Z]")
  (#set! segment "last"))
