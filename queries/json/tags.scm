; JSON. See crates/rhumb-syntax/src/query.rs for the captures.

; The keys of the first two depths
(document (object (pair
  key: (string . (string_content) @name .)
  value: [(object) (array)]? @body) @definition.key))
(document (object (pair value: (object (pair
  key: (string . (string_content) @name .)
  value: [(object) (array)]? @body) @definition.key))))

; Settings that name another file of theirs
((document (object (pair
  key: (string (string_content) @_key)
  value: (string (string_content) @import))))
  (#any-of? @_key "extends" "main" "module" "types" "browser" "$ref"))
