; Protocol buffers. See crates/rhumb-syntax/src/query.rs for the captures.

(message (message_name (identifier) @name) (message_body) @body) @definition.struct
(enum (enum_name (identifier) @name) (enum_body) @body) @definition.enum
(service (service_name (identifier) @name)) @definition.interface
(rpc (rpc_name (identifier) @name)) @definition.method
(enum_field . (identifier) @name) @definition.constant
(field (identifier) @name) @definition.field
(map_field (identifier) @name) @definition.field
(oneof_field (identifier) @name) @definition.field

; What is added to a message that stands elsewhere
(extend (full_ident (identifier) @name @reference .)) @scope

(message_or_enum_type (identifier) @reference .)

(import path: (string) @import)
