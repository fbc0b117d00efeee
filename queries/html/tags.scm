; HTML. See crates/rhumb-syntax/src/query.rs for the captures.

; An element with an id
((start_tag
  (attribute
    (attribute_name) @_id
    (quoted_attribute_value (attribute_value) @name))) @definition.selector
  (#eq? @_id "id"))

; Titles and headings
((element
  (start_tag (tag_name) @_heading)
  . (text) @name) @definition.section
  (#any-of? @_heading "title" "h1" "h2" "h3"))

; Elements and classes of our own
((tag_name) @reference
  (#match? @reference "-"))
((attribute
  (attribute_name) @_class
  (quoted_attribute_value (attribute_value) @reference))
  (#eq? @_class "class"))

((attribute
  (attribute_name) @_link
  (quoted_attribute_value (attribute_value) @import))
  (#any-of? @_link "src" "href")
  (#match? @import "\\.[a-z0-9]+$")
  (#not-match? @import "^([a-z]+:|//|#)"))

; Scripts and what elements do
((script_element (raw_text) @embedded)
  (#set! language "javascript"))
((script_element
  (start_tag (attribute
    (attribute_name) @_key
    (quoted_attribute_value (attribute_value) @language)))
  (raw_text) @embedded)
  (#any-of? @_key "lang" "type"))
((attribute
  (attribute_name) @_on
  (quoted_attribute_value (attribute_value) @embedded))
  (#match? @_on "^on[a-z]+$")
  (#set! language "javascript"))
((style_element (raw_text) @embedded)
  (#set! language "css"))
