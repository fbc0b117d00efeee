; SQL. See crates/rhumb-syntax/src/query.rs for the captures.

(statement (create_table
  (object_reference name: (identifier) @name)
  (column_definitions)? @body)) @definition.table
(statement (create_view (object_reference name: (identifier) @name) (create_query)? @body)) @definition.table
(statement (create_materialized_view
  (object_reference name: (identifier) @name)
  (create_query)? @body)) @definition.table
(statement (create_index column: (identifier) @name)) @definition.table
(statement (create_function
  (keyword_function)
  . (object_reference name: (identifier) @name)
  (function_body)? @body)) @definition.function
(statement (create_trigger (keyword_trigger) . (object_reference name: (identifier) @name))) @definition.function
(statement (create_type (object_reference name: (identifier) @name))) @definition.type
(statement (create_sequence (object_reference name: (identifier) @name))) @definition.variable
(statement (create_schema (identifier) @name)) @definition.module

(create_table (column_definitions (column_definition name: (identifier) @name) @definition.field))
(alter_table
  (object_reference name: (identifier) @container)
  (add_column (column_definition name: (identifier) @name) @definition.field))

; Tables by whatever statement, functions by their calls. The names before a column are mostly aliases.
(relation (object_reference name: (identifier) @reference))
(insert (object_reference name: (identifier) @reference))
(from (object_reference name: (identifier) @reference))
(alter_table (object_reference name: (identifier) @reference))
(drop_table (object_reference name: (identifier) @reference))
(create_index (object_reference name: (identifier) @reference))
(create_trigger (object_reference name: (identifier) @reference))
(column_definition (object_reference name: (identifier) @reference))
(constraint (object_reference name: (identifier) @reference))
(invocation (object_reference name: (identifier) @reference))
(column_definition type: (object_reference name: (identifier) @reference))
(field name: (identifier) @reference)
