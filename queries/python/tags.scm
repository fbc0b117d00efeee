; Python. See crates/rhumb-syntax/src/query.rs for the captures.

(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc))?)) @definition.function
(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc))?)) @definition.class

; Names of a module
(module (expression_statement (assignment left: (identifier) @name) @definition.variable))
(module (expression_statement (assignment
  left: (identifier) @name
  right: (lambda body: (_) @body)) @definition.function))
((module (expression_statement (assignment left: (identifier) @name) @definition.constant))
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
(module (type_alias_statement left: (type (identifier) @name)) @definition.type)
((module (expression_statement (assignment left: (identifier) @name) @ignore))
  (#any-of? @name "__all__" "__slots__"))

; Fallbacks of the kind `try: import json … except ImportError: json = None`
(module (try_statement body: (block (expression_statement
  (assignment left: (identifier) @name) @definition.variable))))

; Fields that a class declares by their type are its interface (data classes), and capitals are constants (enums).
(class_definition body: (block (expression_statement
  (assignment left: (identifier) @name type: (type)) @definition.field)))
((class_definition body: (block (expression_statement
  (assignment left: (identifier) @name) @definition.constant)))
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))

; Calls
(call function: (identifier) @reference)
(call function: (attribute attribute: (identifier) @reference))

; Decorators
(decorator (identifier) @reference)
(decorator (attribute attribute: (identifier) @reference))

; Bases, and metaclasses
(class_definition superclasses: (argument_list (identifier) @reference))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @reference)))
(class_definition superclasses: (argument_list (keyword_argument value: (identifier) @reference)))

; Annotations
(type (identifier) @reference)
(type (attribute attribute: (identifier) @reference))
(type (generic_type (identifier) @reference))
(type (binary_operator (identifier) @reference))
(type (subscript (identifier) @reference))
(type (subscript (attribute attribute: (identifier) @reference)))
(member_type (identifier) @reference)

; Imports, but not of whole modules, which define no name
(import_from_statement name: (dotted_name (identifier) @reference .))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @reference .)))

; A capital marks classes and constants wherever they stand: `except Timeout`, `isinstance(x, Node)`, `Color.RED`.
((identifier) @reference
  (#match? @reference "^_*[A-Z]"))
((class_pattern (dotted_name (identifier) @reference .)))

; Modules that are imported, whole or in part
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
