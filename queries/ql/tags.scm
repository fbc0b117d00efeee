; CodeQL. See crates/rhumb-syntax/src/query.rs for the captures.

(module name: (moduleName (simpleId) @name)) @definition.module
(dataclass name: (className) @name) @definition.class
(datatype name: (className) @name (datatypeBranches) @body) @definition.enum
(datatypeBranch name: (className) @name) @definition.constant
(classlessPredicate name: (predicateName) @name (body)? @body) @definition.function
(memberPredicate name: (predicateName) @name (body)? @body) @definition.method
(charpred (className) @name) @definition.method
(field (varDecl (varName (simpleId) @name))) @definition.field

; Imports
(importDirective (importModuleExpr) @import)

; Calls
(qualifiedRhs name: (predicateName) @reference)
(aritylessPredicateExpr name: (literalId) @reference)

; Types and modules
(typeExpr name: (className) @reference)
(moduleExpr (simpleId) @reference)
(moduleExpr name: (simpleId) @reference)
(moduleInstantiation name: (moduleName (simpleId) @reference))
