; Kotlin. See crates/rhumb-syntax/src/query.rs for the captures.

(class_declaration "class" name: (identifier) @name) @definition.class
(class_declaration "interface" name: (identifier) @name) @definition.interface
((class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @definition.enum)
(object_declaration name: (identifier) @name) @definition.class
(companion_object name: (identifier) @name) @definition.class
(type_alias type: (identifier) @name) @definition.type

; An extension belongs to the type that it extends.
(function_declaration name: (identifier) @name) @definition.function
(function_declaration
  [(user_type . (identifier) @container) (nullable_type (user_type . (identifier) @container))]
  . "." . name: (identifier) @name) @definition.method
(property_declaration
  [(user_type . (identifier) @container) (nullable_type (user_type . (identifier) @container))]
  . "." . (variable_declaration (identifier) @name)) @definition.field
(secondary_constructor "constructor" @name) @definition.method

; Values of a file, and those members that others can see
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.variable)
(class_body (property_declaration (variable_declaration (identifier) @name)) @definition.field)
(enum_class_body (property_declaration (variable_declaration (identifier) @name)) @definition.field)
(property_declaration
  (modifiers (property_modifier "const"))
  (variable_declaration (identifier) @name)) @definition.constant
(class_body (property_declaration
  (modifiers (visibility_modifier "private"))
  (variable_declaration (identifier) @name)) @ignore)

; Imports
(import (qualified_identifier) @import)
(import (qualified_identifier (identifier) @reference .))

; Calls, also by reference and between operands
(call_expression . (identifier) @reference)
(call_expression . (navigation_expression (identifier) @reference .))
((navigation_expression "::" . (identifier) @reference)
  (#not-eq? @reference "class"))
(callable_reference (identifier) @reference .)
(infix_expression (_) . (identifier) @reference . (_))

; Types, in whatever position
(user_type (identifier) @reference)

; A capital marks classes, objects and constants.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
