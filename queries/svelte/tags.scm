; Svelte components. See crates/rhumb-syntax/src/query.rs for the captures.

((start_tag
  (attribute
    (attribute_name) @_id
    (quoted_attribute_value (attribute_value) @name))) @definition.selector
  (#eq? @_id "id"))

; Components in the template
((tag_name) @reference
  (#match? @reference "^[A-Z]"))

; Scripts
((script_element (raw_text) @embedded)
  (#set! language "javascript"))
((script_element
  (start_tag (attribute
    (attribute_name) @_key
    (quoted_attribute_value (attribute_value) @language)))
  (raw_text) @embedded)
  (#any-of? @_key "lang" "type"))

; Expressions of the template
((svelte_raw_text) @embedded
  (#set! language "typescript"))
