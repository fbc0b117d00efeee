; HCL: Terraform and its kin. See crates/rhumb-syntax/src/query.rs for the captures.

; A block with two labels belongs to the first, as in `resource "aws_s3_bucket" "tables"`.
(body (block
  (identifier)
  . (string_lit (template_literal) @container)
  . (string_lit (template_literal) @name)
  . (block_start) @body) @definition.section)
((body (block
  (identifier) @_type
  . (string_lit (template_literal) @name)
  . (block_start) @body) @definition.section)
  (#not-any-of? @_type "variable" "output" "module" "dynamic"))
((body (block
  (identifier) @_type
  . (string_lit (template_literal) @name)
  . (block_start) @body) @definition.variable)
  (#any-of? @_type "variable" "output"))
((body (block
  (identifier) @_type
  . (string_lit (template_literal) @name)
  . (block_start) @body) @definition.module)
  (#eq? @_type "module"))
((block
  (identifier) @_type
  (body (attribute . (identifier) @name) @definition.variable))
  (#eq? @_type "locals"))

; Files of values: `region = "eu-north-1"`
(config_file (body (attribute . (identifier) @name) @definition.key))

; `var.region`, `aws_s3_bucket.tables.id`, `data.aws_caller_identity.current.account_id`
((variable_expr (identifier) @reference)
  (#match? @reference "_"))
[
  (expression (variable_expr) . (get_attr (identifier) @reference))
  (binary_operation (variable_expr) . (get_attr (identifier) @reference))
  (unary_operation (variable_expr) . (get_attr (identifier) @reference))
]
([
  (expression (variable_expr (identifier) @_data) . (get_attr) . (get_attr (identifier) @reference))
  (binary_operation (variable_expr (identifier) @_data) . (get_attr) . (get_attr (identifier) @reference))
  (unary_operation (variable_expr (identifier) @_data) . (get_attr) . (get_attr (identifier) @reference))
]
  (#eq? @_data "data"))
(function_call . (identifier) @reference)

((block
  (identifier) @_type
  (body (attribute . (identifier) @_source (expression (literal_value (string_lit (template_literal) @import))))))
  (#eq? @_type "module")
  (#eq? @_source "source"))
