; R. See crates/rhumb-syntax/src/query.rs for the captures.

; Functions held by names, by strings, by members and by names on the right
(binary_operator
  lhs: [(identifier) @name (string content: (string_content) @name)]
  operator: ["<-" "=" "<<-" ":="]
  rhs: (function_definition body: (_) @body)) @definition.function
(binary_operator
  lhs: (extract_operator lhs: (identifier) @container rhs: (identifier) @name)
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition body: (_) @body)) @definition.method

; Other names at the top of a file
(program (binary_operator
  lhs: (identifier) @name
  operator: ["<-" "=" "<<-"]) @definition.variable)
((program (binary_operator
  lhs: (identifier) @name
  operator: ["<-" "=" "<<-"]) @definition.constant)
  (#match? @name "^[A-Z][A-Z0-9_.]*$"))
(program (binary_operator
  operator: ["->" "->>"]
  rhs: (identifier) @name) @definition.variable)

; Classes, generics and methods of S4, and reference classes
((call
  function: (identifier) @_define
  arguments: (arguments . (argument value: (string content: (string_content) @name)))) @definition.class
  (#any-of? @_define "setClass" "setRefClass" "setClassUnion" "new_class"))
((call
  function: (identifier) @_define
  arguments: (arguments . (argument value: (string content: (string_content) @name)))) @definition.function
  (#any-of? @_define "setGeneric" "new_generic"))
((call
  function: (identifier) @_define
  arguments: (arguments
    . (argument value: (string content: (string_content) @name))
    . (comma)
    . (argument value: [
        (string content: (string_content) @container)
        (call arguments: (arguments . (argument value: (string content: (string_content) @container))))
      ])
    . (comma)
    . (argument value: (function_definition body: (_) @body)))) @definition.method
  (#any-of? @_define "setMethod" "setReplaceMethod"))

; Classes of R6, and the functions in a list of methods
((binary_operator
  lhs: (identifier) @name
  rhs: (call
    function: [(identifier) @_define (namespace_operator rhs: (identifier) @_define)]
    arguments: (arguments) @body)) @definition.class
  (#any-of? @_define "R6Class" "setRefClass" "setClass" "new_class" "ggproto"))
((argument
  name: (identifier) @_part
  value: (call
    function: (identifier) @_list
    arguments: (arguments (argument
      name: (identifier) @name
      value: (function_definition body: (_) @body)) @definition.method)))
  (#any-of? @_part "public" "private" "active" "methods")
  (#eq? @_list "list"))
((call
  function: (identifier) @_define
  arguments: (arguments (argument name: (identifier) @_inherit value: (identifier) @reference)))
  (#eq? @_inherit "inherit"))
((call
  function: (namespace_operator rhs: (identifier) @_define)
  arguments: (arguments (argument name: (identifier) @_inherit value: (identifier) @reference)))
  (#eq? @_inherit "inherit"))
((argument name: (identifier) @_contains value: (string content: (string_content) @reference))
  (#any-of? @_contains "contains" "class" "signature" "Class"))

; Imports
((call
  function: (identifier) @_import
  arguments: (arguments . (argument value: [
    (identifier) @import
    (string content: (string_content) @import)
  ])))
  (#any-of? @_import "library" "require" "requireNamespace" "loadNamespace" "source" "sys.source" "import"))
(namespace_operator lhs: (identifier) @import)

; Calls, and functions handed over by name
((call function: (identifier) @reference)
  (#not-any-of? @reference "c" "list" "return" "library" "function"))
(call function: (extract_operator rhs: (identifier) @reference))
(namespace_operator rhs: (identifier) @reference)
((argument name: (identifier) @_function value: (identifier) @reference)
  (#any-of? @_function "FUN" "fun" "fn" ".f" "f"))
((call
  function: (identifier) @_apply
  arguments: (arguments . (argument) . (comma) . (argument !name value: (identifier) @reference)))
  (#any-of? @_apply "lapply" "sapply" "vapply" "apply" "map" "map_chr" "map_dbl" "map_lgl" "map_int" "walk" "Map"))
((call
  function: (identifier) @_apply
  arguments: (arguments . (argument value: [(identifier) @reference (string content: (string_content) @reference)])))
  (#any-of? @_apply "do.call" "Reduce" "Filter" "match.fun" "UseMethod" "standardGeneric"))

; Operators that are functions between percent signs
((binary_operator operator: "special" @reference)
  (#not-any-of? @reference "%>%" "%in%" "%%" "%/%" "%*%" "%o%" "%<>%" "%T>%" "%$%"))

; Constants
((identifier) @reference
  (#match? @reference "^[A-Z][A-Z0-9_]{2,}$"))
