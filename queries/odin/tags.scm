; Odin. See crates/rhumb-syntax/src/query.rs for the captures.

(procedure_declaration (identifier) @name (procedure (block) @body)) @definition.function
(procedure_declaration (identifier) @name (procedure (uninitialized))) @definition.function
; … and without a body it is the type of a procedure.
(procedure_declaration (identifier) @name) @definition.type
(overloaded_procedure_declaration . (identifier) @name) @definition.function
(struct_declaration (identifier) @name "{" @body) @definition.struct
(union_declaration (identifier) @name "{" @body) @definition.struct
(enum_declaration (identifier) @name "{" @body) @definition.enum
(bit_field_declaration (identifier) @name) @definition.struct

; Types, and values of a file
(source_file (const_declaration
  . (identifier) @name
  . [(distinct_type) (bit_set_type) (map_type) (array_type) (pointer_type)]) @definition.type)
(source_file (const_declaration . (identifier) @name) @definition.constant)
(source_file (const_type_declaration . (identifier) @name) @definition.constant)
(source_file (var_declaration . (identifier) @name) @definition.variable)
(source_file (variable_declaration . (identifier) @name) @definition.variable)

; Imports
(import_declaration (string (string_content) @import))

; Calls
(call_expression function: (identifier) @reference)
(overloaded_procedure_declaration (identifier) (identifier) @reference)

; Types, in whatever position
(type (identifier) @reference)
(field_type (identifier) (identifier) @reference)
(bit_set_type (identifier) @reference)
(struct . (identifier) @reference)

; A capital marks types and constants.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
