; Pascal and Delphi: colours. Where two patterns match a node the later one wins.

(identifier) @variable

[
  (kAbsolute) (kAbstract) (kAlias) (kAnd) (kArray) (kAs) (kAsm) (kAssembler) (kBegin) (kCase) (kCdecl)
  (kClass) (kConst) (kConstref) (kConstructor) (kCppdecl) (kCvar) (kDefault) (kDelayed) (kDeprecated)
  (kDestructor) (kDispId) (kDispInterface) (kDiv) (kDo) (kDownto) (kDynamic) (kElse) (kEnd) (kExcept)
  (kExperimental) (kExport) (kExports) (kExternal) (kFar) (kFile) (kFinalization) (kFinally) (kFor) (kForward)
  (kFunction) (kGeneric) (kGoto) (kHardfloat) (kHelper) (kIf) (kImplementation) (kImplements) (kIn) (kIndex)
  (kInherited) (kInitialization) (kInline) (kInterface) (kInterrupt) (kIocheck) (kIs) (kLabel) (kLibrary)
  (kLocal) (kMessage) (kMod) (kMs_abi_cdecl) (kMs_abi_default) (kMwpascal) (kName) (kNear) (kNodefault)
  (kNoreturn) (kNostackframe) (kNot) (kObjccategory) (kObjcclass) (kObjcprotocol) (kObject) (kOf) (kOn)
  (kOperator) (kOptional) (kOr) (kOut) (kOverload) (kOverride) (kPacked) (kPascal) (kPlatform) (kPrivate)
  (kProcedure) (kProgram) (kProperty) (kProtected) (kPublic) (kPublished) (kRaise) (kRead) (kRecord)
  (kReference) (kRegister) (kReintroduce) (kRepeat) (kRequired) (kResourcestring) (kSafecall) (kSaveregisters)
  (kSealed) (kSet) (kShl) (kShr) (kSoftfloat) (kSpecialize) (kStatic) (kStdcall) (kStored) (kStrict) (kString)
  (kSysv_abi_cdecl) (kSysv_abi_default) (kThen) (kThreadvar) (kTo) (kTry) (kType) (kUnimplemented) (kUnit)
  (kUntil) (kUses) (kVar) (kVarargs) (kVectorcall) (kVirtual) (kWhile) (kWinapi) (kWith) (kWrite) (kXor)
] @keyword

[
  (kAdd) (kAssign) (kAssignAdd) (kAssignDiv) (kAssignMul) (kAssignSub) (kAt) (kDot) (kEndDot) (kEq) (kFdiv) (kGt) (kGte)
  (kHat) (kLt) (kLte) (kMul) (kNeq) (kSub)
] @operator

[(kFalse) (kNil) (kTrue)] @constant

[(literalString) (literalChar)] @string
(literalNumber) @number
(comment) @comment
(pp) @function.macro

["(" ")" "[" "]" ";" "," ":"] @punctuation

(declType name: (identifier) @type)
(typeref (identifier) @type)
(declProc name: (identifier) @function)
(declProc name: (genericDot rhs: (identifier) @function))
(exprCall entity: (identifier) @function)
(exprCall entity: (exprDot rhs: (identifier) @function))
(declConst name: (identifier) @constant)
(declField name: (identifier) @property)
(declProp name: (identifier) @property)
(moduleName (identifier) @module)
