; Solidity. See crates/rhumb-syntax/src/query.rs for the captures.

(contract_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(library_declaration name: (identifier) @name) @definition.module
(struct_declaration name: (identifier) @name) @definition.struct
(enum_declaration name: (identifier) @name) @definition.enum
(event_definition name: (identifier) @name) @definition.type
(error_declaration name: (identifier) @name) @definition.type
(user_defined_type_definition name: (identifier) @name) @definition.type

(function_definition name: (identifier) @name) @definition.function
(modifier_definition name: (identifier) @name) @definition.function
(constructor_definition "constructor" @name) @definition.method

(constant_variable_declaration name: (identifier) @name) @definition.constant
(state_variable_declaration name: (identifier) @name) @definition.field
(state_variable_declaration "constant" name: (identifier) @name) @definition.constant

; Imports
(import_directive source: (string) @import)
(import_directive import_name: (identifier) @reference)

; Calls, also of what the contract emits and throws
(call_expression function: (expression (identifier) @reference))
(call_expression function: (expression (member_expression property: (identifier) @reference)))
(call_expression function: (expression (struct_expression
  type: (expression (member_expression property: (identifier) @reference)))))
(emit_statement name: (expression (identifier) @reference))
(emit_statement name: (expression (member_expression property: (identifier) @reference)))
(revert_statement error: (expression (identifier) @reference))
(revert_statement error: (expression (member_expression property: (identifier) @reference)))
(modifier_invocation (identifier) @reference)

; Types, in whatever position
(user_defined_type (identifier) @reference)
(type_alias (identifier) @reference)

; A capital marks contracts, libraries and constants.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
