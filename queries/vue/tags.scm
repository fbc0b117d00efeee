; Vue components, read with the grammar of HTML. See crates/rhumb-syntax/src/query.rs for the captures.

; Components in the template: `<TideChart>`, `<tide-chart>`
((tag_name) @reference
  (#match? @reference "^[A-Z]|-"))

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
((attribute
  (attribute_name) @_bound
  (quoted_attribute_value (attribute_value) @embedded))
  (#match? @_bound "^(@|:|#|v-)")
  (#set! language "typescript"))
((text) @embedded
  (#match? @embedded "\\{\\{")
  (#set! language "typescript"))
