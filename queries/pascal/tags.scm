; Pascal and Delphi. See crates/rhumb-syntax/src/query.rs for the captures.

(unit . (kUnit) . (moduleName) @name . (_) @body) @definition.module
(program . (kProgram) . (moduleName) @name . (_) @body) @definition.module

(declType name: (identifier) @name) @definition.type
(declType name: (identifier) @name type: (declClass (kClass))) @definition.class
(declType name: (identifier) @name type: (declClass (kObject))) @definition.class
(declType name: (identifier) @name type: (declClass (kRecord))) @definition.struct
(declType name: (identifier) @name type: (declIntf)) @definition.interface
(declType name: (identifier) @name type: (type (declEnum))) @definition.enum
; What is between the parentheses of a class is its header, and what comes then is its body.
(declType name: (identifier) @name type: (declClass (kClass) . (declSection) @body)) @definition.class
(declType name: (identifier) @name type: (declClass parent: (typeref) . (declSection) @body)) @definition.class
(declType name: (identifier) @name type: (declClass (kRecord) . (declField) @body)) @definition.struct
(declType name: (identifier) @name type: (declIntf (kInterface) . (_) @body)) @definition.interface

(declProc name: (identifier) @name) @definition.function
(defProc . header: (declProc name: (identifier) @name) . (_) @body) @definition.function
(defProc
  . header: (declProc name: (genericDot lhs: (identifier) @container rhs: (identifier) @name))
  . (_) @body) @definition.method
(declProp name: (identifier) @name) @definition.field

; Constants and variables of a unit
(interface (declConsts (declConst name: (identifier) @name) @definition.constant))
(implementation (declConsts (declConst name: (identifier) @name) @definition.constant))
(program (declConsts (declConst name: (identifier) @name) @definition.constant))
(interface (declVars (declVar name: (identifier) @name) @definition.variable))
(implementation (declVars (declVar name: (identifier) @name) @definition.variable))
(program (declVars (declVar name: (identifier) @name) @definition.variable))

; Imports
(declUses (moduleName) @import)

; Calls
(exprCall entity: (identifier) @reference)
(exprCall entity: (exprDot rhs: (identifier) @reference))
(exprDot lhs: (identifier) @reference)
(statement (identifier) @reference)
(statement (exprDot rhs: (identifier) @reference))
(genericDot lhs: (identifier) @reference)

; Types, in whatever position
(typeref (identifier) @reference)
(typeref (typerefDot rhs: (identifier) @reference))
