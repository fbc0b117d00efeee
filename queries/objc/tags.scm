; Objective-C alone

(class_interface . (identifier) @name superclass: (_)) @definition.class
(class_implementation . (identifier) @name !category) @definition.class
(protocol_declaration . (identifier) @name) @definition.interface

; What a category or a class extension adds belongs to its class.
(class_interface . (identifier) @name !superclass) @scope
(class_implementation . (identifier) @name category: (_)) @scope

; A method goes by the first part of its selector.
(method_declaration (method_type) . (identifier) @name) @definition.method
(implementation_definition
  (method_definition (method_type) . (identifier) @name (compound_statement) @body)) @definition.method
(property_declaration (struct_declaration (struct_declarator [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
]))) @definition.field

; Blocks with a name, and enumerations as the frameworks write them, which the grammar takes for something else
(type_definition declarator: (function_declarator
  declarator: (parenthesized_declarator (block_pointer_declarator declarator: (type_identifier) @name)))) @definition.type
((type_definition type: (macro_type_specifier
  name: (identifier) @_macro
  (ERROR (identifier) @name))) @definition.enum
  (#any-of? @_macro "NS_ENUM" "NS_OPTIONS" "NS_CLOSED_ENUM" "NS_ERROR_ENUM"))
(type_definition
  type: (macro_type_specifier (ERROR))
  declarator: (type_identifier) @name) @ignore

; Imports
(preproc_include path: (_) @import)
(module_import path: (identifier) @import)

; Messages
(message_expression method: (identifier) @reference)
(selector_expression (identifier) @reference)

; Classes and protocols
(class_declaration (identifier) @reference)
(class_interface superclass: (identifier) @reference)
(protocol_reference_list (identifier) @reference)
((message_expression receiver: (identifier) @reference)
  (#match? @reference "^[A-Z]"))
