; CSS. See crates/rhumb-syntax/src/query.rs for the captures.

; A rule defines the class or id that its selector ends with.
(rule_set
  (selectors [
    (class_selector (class_name (identifier) @name) .)
    (id_selector (id_name) @name)
    (descendant_selector (class_selector (class_name (identifier) @name) .) .)
    (descendant_selector (id_selector (id_name) @name) .)
    (child_selector (class_selector (class_name (identifier) @name) .) .)
    (child_selector (id_selector (id_name) @name) .)
  ])
  (block) @body) @definition.selector

((declaration (property_name) @name) @definition.variable
  (#match? @name "^--"))
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @definition.function

; Classes and ids of longer selectors, and elements of our own
(class_selector (class_name (identifier) @reference))
(id_selector (id_name) @reference)
((tag_name) @reference
  (#match? @reference "-"))

((call_expression (function_name) @_var (arguments (plain_value) @reference))
  (#eq? @_var "var"))
((declaration (property_name) @_property (plain_value) @reference)
  (#any-of? @_property "animation" "animation-name"))

(import_statement (string_value) @import)
(import_statement (call_expression (arguments (string_value) @import)))
(import_statement (call_expression (arguments (plain_value) @import)))
