; GLSL, beyond what it has in common with C

; A block of uniforms or buffers
(declaration (identifier) @name (field_declaration_list) @body) @definition.struct

(preproc_include path: (_) @import)
