; MATLAB. See crates/rhumb-syntax/src/query.rs for the captures.

(function_definition name: (identifier) @name (block)? @body) @definition.function
(function_definition name: (identifier) @name . (function_arguments)? . (comment) @doc @body) @definition.function
(function_definition name: (identifier) @name (arguments_statement) @body) @definition.function
(function_signature name: (identifier) @name) @definition.method
(class_definition name: (identifier) @name
  [(properties) (methods) (events) (enumeration)] @body) @definition.class
(class_definition name: (identifier) @name . (superclasses)? . (comment) @doc @body) @definition.class
(properties (property name: (identifier) @name) @definition.field)
(enum . (identifier) @name) @definition.constant
(events (identifier) @name @definition.field)

; Bases
(superclasses (property_name (identifier) @reference .))
(superclass (identifier) @reference .)

; Imports
((command (command_name) @_import (command_argument) @import)
  (#eq? @_import "import"))

; Calls, and functions handed over
(function_call name: (identifier) @reference)
(handle_operator (identifier) @reference .)
(field_expression field: (identifier) @reference)
(command (command_name) @reference)

; A capital marks classes and constants.
((identifier) @reference
  (#match? @reference "^[A-Z][A-Za-z0-9_]+")
  (#not-any-of? @reference "Access" "SetAccess" "GetAccess" "Constant" "Static" "Abstract" "Dependent" "Hidden" "Sealed"))
