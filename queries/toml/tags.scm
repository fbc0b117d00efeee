; TOML. See crates/rhumb-syntax/src/query.rs for the captures.

(table . [(bare_key) (dotted_key) (quoted_key)] @name . "]" . [(pair) (comment)]? @body) @definition.section
(table_array_element . [(bare_key) (dotted_key) (quoted_key)] @name . "]]" . [(pair) (comment)]? @body) @definition.section

(document (pair . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.key)
(table (pair . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.key)
(table_array_element (pair . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.key)

; Other parts of the project
((pair (bare_key) @_key (string) @import)
  (#eq? @_key "path"))
