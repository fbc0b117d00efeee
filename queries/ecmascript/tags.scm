; What JavaScript and TypeScript share. See crates/rhumb-syntax/src/query.rs for the captures.

(function_declaration name: (_) @name) @definition.function
(generator_function_declaration name: (_) @name) @definition.function
(class_declaration name: (_) @name) @definition.class
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @definition.method

; Functions and classes held by variables. One that is declared alone shows its `const`.
(lexical_declaration . (variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) .) @definition.function
(variable_declaration . (variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) .) @definition.function
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.function
(lexical_declaration . (variable_declarator
  name: (identifier) @name
  value: (class body: (_) @body)) .) @definition.class
(variable_declarator
  name: (identifier) @name
  value: (class body: (_) @body)) @definition.class

; A component wrapped in a call: `const Row = memo((props) => …)`
(program (lexical_declaration . (variable_declarator
  name: (identifier) @name
  value: (call_expression arguments: (arguments . [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]))) .) @definition.function)
(program (export_statement (lexical_declaration . (variable_declarator
  name: (identifier) @name
  value: (call_expression arguments: (arguments . [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]))) .) @definition.function))

; Other variables at the top of a file
(program (lexical_declaration . (variable_declarator name: (identifier) @name) .) @definition.variable)
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(program (variable_declaration . (variable_declarator name: (identifier) @name) .) @definition.variable)
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name) .) @definition.variable))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable)))
((program (lexical_declaration . (variable_declarator name: (identifier) @name) .) @definition.constant)
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
((program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name) .) @definition.constant))
  (#match? @name "^[A-Z][A-Z0-9_]*$"))

; `const x = require("x")` imports a name, it does not make one.
((variable_declarator
  name: (identifier) @name @reference
  value: (call_expression function: (identifier) @_require)) @ignore
  (#eq? @_require "require"))
((variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @reference)
  value: (call_expression function: (identifier) @_require))
  (#eq? @_require "require"))
((variable_declarator
  name: (identifier) @name
  value: (member_expression
    object: (call_expression function: (identifier) @_require)
    property: (property_identifier) @reference)) @ignore
  (#eq? @_require "require"))

; Functions assigned to members: exports, prototypes, objects built piece by piece
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.function
  (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.function
  (#eq? @_module "module")
  (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @container property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method
  (#eq? @_prototype "prototype"))
((assignment_expression
  left: (member_expression object: (identifier) @container property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method
  (#not-any-of? @container "exports" "module"))
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (class body: (_) @body)) @definition.class
  (#eq? @_exports "exports"))

; Functions in an object that has a name: `const api = { get: () => … }`, `module.exports = { … }`
(variable_declarator value: (object (pair
  key: (property_identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method))
(assignment_expression right: (object (pair
  key: (property_identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method))
(export_statement value: (object (pair
  key: (property_identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method))

; A program that is a name: the handler of an event in a template
(program (expression_statement (identifier) @reference))

; Calls and constructions
(call_expression function: (identifier) @reference)
(call_expression function: (member_expression property: [(property_identifier) (private_property_identifier)] @reference))
(new_expression constructor: (identifier) @reference)
(new_expression constructor: (member_expression property: (property_identifier) @reference))

; Decorators
(decorator (identifier) @reference)
(decorator (member_expression property: (property_identifier) @reference))

; Imports, and exports by name
(import_clause (identifier) @reference)
(import_specifier name: (identifier) @reference)
(export_specifier name: (identifier) @reference)

; What a module hands out: `module.exports = { parse, render: draw }`, `exports.parse = parse`
((assignment_expression
  left: (member_expression property: (property_identifier) @_exports)
  right: (object (shorthand_property_identifier) @reference))
  (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression property: (property_identifier) @_exports)
  right: (object (pair value: (identifier) @reference)))
  (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression property: (property_identifier) @_exports)
  right: (identifier) @reference)
  (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @_exports)
  right: (identifier) @reference)
  (#eq? @_exports "exports"))
(export_statement value: (identifier) @reference)

; A capital marks classes, constants and JSX components, before and after a dot.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
((member_expression property: (property_identifier) @reference)
  (#match? @reference "^[A-Z]"))

; Modules, by whatever way they are brought in
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (import) arguments: (arguments . (string) @import))
((call_expression function: (identifier) @_require arguments: (arguments . (string) @import))
  (#eq? @_require "require"))
