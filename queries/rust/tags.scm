; Rust. See crates/rhumb-syntax/src/query.rs for the captures.

(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.interface
(mod_item name: (identifier) @name) @definition.module
(macro_definition name: (identifier) @name) @definition.macro
((const_item name: (identifier) @name) @definition.constant
  (#set! only "top-level"))
((static_item name: (identifier) @name) @definition.constant
  (#set! only "top-level"))

; Associated types say `Output` or `Item` again and again, so only free aliases count.
(source_file (type_item name: (type_identifier) @name) @definition.type)
(mod_item body: (declaration_list (type_item name: (type_identifier) @name) @definition.type))

; The functions of an impl belong to its type.
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (generic_type type: (scoped_type_identifier name: (type_identifier) @name))) @scope
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @scope
(impl_item type: (reference_type type: (type_identifier) @name)) @scope
(impl_item type: (reference_type type: (generic_type type: (type_identifier) @name))) @scope
(impl_item type: (primitive_type) @name) @scope

; Calls
(call_expression function: (identifier) @reference)
(call_expression function: (scoped_identifier name: (identifier) @reference))
(call_expression function: (field_expression field: (field_identifier) @reference))
(generic_function function: (identifier) @reference)
(generic_function function: (scoped_identifier name: (identifier) @reference))
(generic_function function: (field_expression field: (field_identifier) @reference))
(macro_invocation macro: (identifier) @reference)
(macro_invocation macro: (scoped_identifier name: (identifier) @reference))

; Functions handed over by path: `.map(Self::parse)`
(arguments (scoped_identifier name: (identifier) @reference))

; Inside a macro there are only tokens: a name before a group is taken for a call.
(token_tree (identifier) @reference . (token_tree))

; Types, in whatever position
((type_identifier) @reference
  (#not-eq? @reference "Self"))

; Imports
(use_declaration argument: (identifier) @reference)
(use_declaration argument: (scoped_identifier name: (identifier) @reference))
(use_list (identifier) @reference)
(use_list (scoped_identifier name: (identifier) @reference))
(use_as_clause path: (identifier) @reference)
(use_as_clause path: (scoped_identifier name: (identifier) @reference))

; Derives and other attributes
(attribute (identifier) @reference)
(attribute (scoped_identifier name: (identifier) @reference))

; A capital marks types in paths, enum variants, tuple structs and constants.
((identifier) @reference
  (#match? @reference "^[A-Z]")
  (#not-eq? @reference "Self"))

; What is imported: a path, the head of a group, a module that is a file of its own
(use_declaration argument: [(identifier) (scoped_identifier)] @import)
(use_declaration argument: (scoped_use_list path: (_) @import))
(use_list (scoped_identifier) @import)
(use_list (scoped_use_list path: (_) @import))
(use_declaration argument: (use_as_clause path: (_) @import))
(use_list (use_as_clause path: (scoped_identifier) @import))
(use_wildcard (_) @import)
(extern_crate_declaration name: (identifier) @import)
(mod_item name: (identifier) @import !body)
