; Haskell. See crates/rhumb-syntax/src/query.rs for the captures.

(header module: (module) @name exports: (_)? @body) @definition.module

; Functions and values: the type declared above them and their equations are one definition.
((declarations (signature name: (variable) @name) @definition.constant)
  (#set! joins "clauses"))
((declarations (signature
  name: (variable) @name
  type: [(function) (linear_function) (context) (forall) (apply)]) @definition.function)
  (#set! joins "clauses"))
((declarations (signature names: (binding_list (variable) @name)) @definition.function)
  (#set! joins "clauses"))
((declarations (signature name: (prefix_id (operator) @name)) @definition.function)
  (#set! joins "clauses"))
((declarations (function name: (variable) @name match: (match) @body) @definition.function)
  (#set! joins "clauses"))
((declarations (function (infix operator: (operator) @name) match: (match) @body) @definition.function)
  (#set! joins "clauses"))
((declarations (function (infix operator: (infix_id (variable) @name)) match: (match) @body) @definition.function)
  (#set! joins "clauses"))
((declarations (bind name: (variable) @name match: (match) @body) @definition.constant)
  (#set! joins "clauses"))
((declarations (bind name: (variable) @name match: (match expression: (lambda)) @body) @definition.function)
  (#set! joins "clauses"))
(foreign_import signature: (signature name: (variable) @name)) @definition.function

; Types
(type_synonym name: (name) @name) @definition.type
(type_family name: (name) @name closed_family: (_)? @body) @definition.type
(data_family name: (name) @name) @definition.type
(data_type name: (name) @name !constructors) @definition.struct
(data_type name: (name) @name constructors: (data_constructors . (data_constructor) .) @body) @definition.struct
(data_type name: (name) @name constructors: (data_constructors (data_constructor) (data_constructor)) @body) @definition.enum
(data_type name: (name) @name constructors: (gadt_constructors) @body) @definition.enum
(newtype name: (name) @name constructor: (_) @body) @definition.struct
(class name: (name) @name declarations: (_)? @body) @definition.interface

; Constructors and fields
(data_constructor constructor: (prefix name: (constructor) @name) @definition.constant)
(data_constructor constructor: (record name: (constructor) @name fields: (_) @body) @definition.constant)
(data_constructor constructor: (infix operator: (constructor_operator) @name) @definition.constant)
(gadt_constructor name: (constructor) @name) @definition.constant
(gadt_constructor names: (binding_list (constructor) @name)) @definition.constant
(newtype_constructor name: (constructor) @name) @definition.constant
(field name: (field_name (variable) @name)) @definition.field
(pattern_synonym (signature synonym: (constructor) @name) @definition.function
  (#set! joins "clauses") (#set! prefix "pattern"))
(pattern_synonym (equation synonym: (constructor) @name) @definition.function
  (#set! joins "clauses") (#set! prefix "pattern"))

; Members of classes and instances
((class_declarations (signature name: (variable) @name) @definition.method)
  (#set! joins "clauses"))
((class_declarations (signature name: (prefix_id (operator) @name)) @definition.method)
  (#set! joins "clauses"))
((class_declarations (signature names: (binding_list (variable) @name)) @definition.method)
  (#set! joins "clauses"))
((instance_declarations (function name: (variable) @name match: (match) @body) @definition.method)
  (#set! joins "clauses"))
((instance_declarations (function (infix operator: (operator) @name) match: (match) @body) @definition.method)
  (#set! joins "clauses"))
((instance_declarations (bind name: (variable) @name match: (match) @body) @definition.method)
  (#set! joins "clauses"))
(instance patterns: (type_patterns . (name) @name)) @scope
(instance patterns: (type_patterns . (parens (apply constructor: (name) @name)))) @scope
(instance patterns: (type_patterns . (parens (apply constructor: (apply constructor: (name) @name))))) @scope

; Imports
(import module: (module) @import @reference)
(import_name variable: (variable) @reference)

; Calls, and functions that stand for themselves: in a pipeline, as a statement, as the whole of another
(apply function: (variable) @reference)
((infix left_operand: (variable) @reference operator: (operator) @_pipe)
  (#any-of? @_pipe "." "$" "$!" "<$>" "<$" "<*>" ">>=" ">>" "=<<" "<|>" "<*" "*>" "&" ">=>"))
((infix operator: (operator) @_pipe right_operand: (variable) @reference)
  (#any-of? @_pipe "." "$" "$!" "<$>" "<$" "<*>" ">>=" ">>" "=<<" "<|>" "<*" "*>" "&" ">=>"))
(infix operator: (infix_id (variable) @reference))
(exp (variable) @reference)
(do statement: (bind expression: (variable) @reference))
(match expression: (variable) @reference)
(generator expression: (variable) @reference)
(qualified id: (variable) @reference)
((infix operator: (operator) @reference)
  (#not-any-of? @reference
    "$" "." "+" "-" "*" "/" "==" "/=" "<" ">" "<=" ">=" "&&" "||" "++" "<>" "$!" "!!" "^"
    ">>=" ">>" "=<<" "<$>" "<$" "$>" "<*>" "<*" "*>" "<|>" "&" ">=>"))

; Fields that are set or matched by name
(field_update field: (field_name (variable) @reference))
(field_pattern field: (field_name (variable) @reference))

; Types, classes and constructors, in whatever position
(name) @reference
(constructor) @reference
