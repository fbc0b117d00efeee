; Nix. See crates/rhumb-syntax/src/query.rs for the captures.

; What a file names for itself
(let_expression (binding_set (binding
  attrpath: (attrpath (identifier) @name .)) @definition.variable))
(let_expression (binding_set (binding
  attrpath: (attrpath (identifier) @name .)
  expression: (function_expression)) @definition.function))

; What a file is: a set of attributes, or a function that gives one
(source_code expression: [
  (attrset_expression (binding_set (binding attrpath: (attrpath (identifier) @name .)) @definition.variable))
  (rec_attrset_expression (binding_set (binding attrpath: (attrpath (identifier) @name .)) @definition.variable))
  (function_expression body: [
    (attrset_expression (binding_set (binding attrpath: (attrpath (identifier) @name .)) @definition.variable))
    (rec_attrset_expression (binding_set (binding attrpath: (attrpath (identifier) @name .)) @definition.variable))
    (let_expression body: (attrset_expression
      (binding_set (binding attrpath: (attrpath (identifier) @name .)) @definition.variable)))
  ])
  (let_expression body: (attrset_expression
    (binding_set (binding attrpath: (attrpath (identifier) @name .)) @definition.variable)))
])
(source_code expression: (attrset_expression (binding_set (binding
  attrpath: (attrpath (identifier) @name .)
  expression: (function_expression body: (_) @body)) @definition.function)))

; The name of a package
((apply_expression
  function: (select_expression attrpath: (attrpath (identifier) @_make .))
  argument: [
    (attrset_expression (binding_set (binding
      attrpath: (attrpath (identifier) @_key)
      expression: (string_expression (string_fragment) @name)) @definition.module))
    (rec_attrset_expression (binding_set (binding
      attrpath: (attrpath (identifier) @_key)
      expression: (string_expression (string_fragment) @name)) @definition.module))
  ])
  (#match? @_make "^mk|^build")
  (#any-of? @_key "pname" "name"))

(variable_expression name: (identifier) @reference)
(select_expression attrpath: (attrpath (identifier) @reference .))
(inherited_attrs (identifier) @reference)

((path_expression) @import
  (#not-eq? @import "./."))
(spath_expression) @import
