/** Converts ajv's standalone code to an ES module: no `require`, no unused constants, and every export guarded. */
import type { SharedFunction } from './functions.ts'

/** ajv's imports of CommonJS modules, and the shared functions that replace them. */
const RUNTIME: Readonly<Record<string, SharedFunction>> = { ucs2length: 'length', equal: 'equal' }

/** @param functions prints functions that are shared with other files. */
export function linkAjv(code: string, functions: (names: ReadonlySet<SharedFunction>) => string): string {
  const used = new Set<SharedFunction>(['guarded'])
  const call = (name: SharedFunction): SharedFunction => {
    used.add(name)
    if (name === 'equal' || name === 'unique') used.add('canonical')
    return name
  }
  const linked = code
    .replace(/^"use strict";\n/, '')
    .replace(
      /^(const func\d+ = )require\("ajv\/dist\/runtime\/(\w+)"\)\.default;$/gm,
      (_all, start: string, name: string) => `${start}${call(RUNTIME[name]!)};`,
    )
    .replace(/^export const (check\$\S+) = /gm, 'const $1 = ')
    .replace(/^export const (\S+)\$ = (validate\d+);$/gm, 'export const $1 = guarded($2);')
  for (const [, name] of linked.matchAll(/^const (?:func|pattern)\d+ = (unique|isMultiple|pattern)\b/gm))
    call(name as SharedFunction)
  const body = dropUnused(linked)
  const imports = /^const formats\d+ = formats\./m.test(body)
    ? "import formats from 'ajv-formats/dist/formats.js'\n"
    : ''
  return `${imports}\n${functions(used)}${body}\n`
}

/** Removes constants that are never used: ajv keeps each schema that it read as a constant. */
function dropUnused(code: string): string {
  const uses = new Map<string, number>()
  for (const [name] of code.matchAll(/\bschema\d+\b/g)) uses.set(name, (uses.get(name) ?? 0) + 1)
  return code
    .split('\n')
    .filter((line) => uses.get(/^const (schema\d+) = .*;$/.exec(line)?.[1] ?? '') !== 1)
    .map((line) => (/^const schema\d+ = /.test(line) ? ownPrototype(line) : line))
    .join('\n')
}

/** Makes `__proto__` a member instead of the object's prototype. */
const ownPrototype = (line: string): string => line.replaceAll(/(?<!\\)"__proto__":/g, '["__proto__"]:')
