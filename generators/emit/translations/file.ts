/** Builds the file of one version pair. Functions are printed when they are first requested. */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import { camelCase, identifier } from '../../ir/naming.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, stringLiteral } from '../../print/literal.ts'
import { PATHS, TOUCHED } from '../../print/runtime.ts'
import type { Direction, PairFunction, Rewrite } from '../../translate/model.ts'
import { bodyOf, type CodeScope, type Noting } from './code.ts'

export interface TransitionFile {
  readonly version: string
  readonly next: string
  /** Returns the name of a pair's function. Prints it, with all functions that it calls, on first use. */
  pair(
    key: string,
    direction: Direction,
    functions: ReadonlyMap<string, PairFunction>,
    report: Report,
  ): string
  /** Returns the name of a function that applies both, one after the other. */
  compose(own: string, further: { readonly name: string; readonly version: string }, up: boolean): string
  /**
   * Prints a function once and returns its name.
   *
   * @param key what it does, if functions with the same name may differ.
   */
  declare(wanted: string, lines: (name: string) => readonly string[], key?: string): string
  /** Declares a constant and returns its name. Reuses a constant with the same value. */
  table(hint: string, code: string): string
  /** Imports a change and returns its local name. */
  change(change: LoadedChange): string
  /** Imports a function for paths and returns its local name. */
  path(name: string): string
  /** Returns the start of a call to one of the recording functions: `touched('2026-05-19/block-categories', `. */
  noting(name: Noting, change: LoadedChange): string
  /** Returns undefined if nothing was printed. */
  text(): string | undefined
}

/** @param pathOf returns the path of a change, relative to the file. */
export function createFileOf(
  version: string,
  next: string,
  pathOf: (change: LoadedChange) => string,
): TransitionFile {
  const file = createFile(['Value'])
  const names = new Set<string>(['Value', 'Old', 'New'])
  const known = new Map<string, string>()
  const printed: string[] = []
  const fresh = (wanted: string): string => {
    let name = identifier(wanted)
    for (let n = 2; names.has(name); n += 1) name = `${identifier(wanted)}_${n}`
    names.add(name)
    return name
  }
  const once = (key: string, wanted: string, print: (name: string) => void): string => {
    const found = known.get(key)
    if (found) return found
    const name = fresh(wanted)
    known.set(key, name)
    print(name)
    return name
  }
  const transition: TransitionFile = {
    version,
    next,
    declare: (wanted, lines, key = '') =>
      once(`function ${wanted} ${key}`, wanted, (name) => printed.push(...lines(name), '')),
    table: (hint, code) => once(`table ${code}`, hint, (name) => printed.push(`const ${name} = ${code}`, '')),
    change: (change) =>
      once(`change ${change.id}`, camelCase(change.id), (name) => {
        file.use('default', pathOf(change), { as: name })
      }),
    path: (name) => file.use(name, PATHS),
    noting: (name, { version: of, id }) => `${file.use(name, TOUCHED)}(${stringLiteral(`${of}/${id}`)}, `,
    pair(key, direction, functions, report) {
      const each = functions.get(key)!
      return once(`${direction} ${key}`, nameOf(each, direction), (name) => {
        const scope = scopeOf(transition, direction, functions, report)
        checkUnions(each.rewrite, report)
        const body = bodyOf(each.rewrite, scope, name)
        printed.push(...printPair(each, name, direction, body, { version, next, file }), '')
      })
    },
    compose(own, further, up) {
      const wanted = `${own.replace(/_(up|down)$/, '')}_${up ? 'toCanonical' : 'fromCanonical'}`
      const key = `compose ${own} ${further.version} ${further.name}`
      return once(key, wanted, (name) => {
        const as = fresh(`${further.name}_${further.version}`)
        const other = file.use(further.name, `./${further.version}.ts`, { as })
        const [inner, outer] = up ? [own, other] : [other, own]
        printed.push(
          `/** ${up ? `${version} → canonical` : `canonical → ${version}`}, by way of ${further.version}. */`,
          `export const ${name} = (value: Parameters<typeof ${inner}>[0]) => ${outer}(${inner}(value))`,
          '',
        )
      })
    },
    text() {
      if (printed.length === 0) return undefined
      file.print(
        '/** A valid value of its version. The exported functions have precise types. */',
        'type Value = any',
        '',
      )
      file.print(...printed)
      return file.text().trimEnd().concat('\n')
    },
  }
  return transition
}

function scopeOf(
  transition: TransitionFile,
  direction: Direction,
  functions: ReadonlyMap<string, PairFunction>,
  report: Report,
): CodeScope {
  return {
    direction,
    call: (key) => transition.pair(key, direction, functions, report),
    change: ({ change }) => transition.change(change),
    table: transition.table,
    path: transition.path,
    noting: transition.noting,
    hoist: (hint, body) =>
      transition.declare(
        hint,
        (name) => [`function ${name}(value: Value): Value {`, ...indent(body), '}'],
        body.join(' '),
      ),
  }
}

function nameOf({ old, next }: PairFunction, direction: Direction): string {
  return old === next
    ? `${old}_${direction}`
    : `${direction === 'up' ? `${old}_as_${next}` : `${next}_as_${old}`}_${direction}`
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)

interface FileVersions {
  readonly version: string
  readonly next: string
  readonly file: TypeScriptFile
}

/**
 * Prints a function whose signature has both versions' types. The body is untyped, because the value changes
 * versions within it.
 */
function printPair(
  { old, next, key, nullable }: PairFunction,
  name: string,
  direction: Direction,
  body: readonly string[],
  { version, next: newer, file }: FileVersions,
): string[] {
  const [from, to] = direction === 'up' ? [version, newer] : [newer, version]
  const inside = [...(nullable ? ['if (value === null) return value'] : []), ...body]
  const opening = [docComment(`${direction === 'up' ? old : next}: ${from} → ${to}.`).trimEnd()]
  const isComponent = key.includes(' ')
  if (isComponent) {
    const types = (of: string) =>
      file.use('components', `../${of}/types.ts`, { type: true, as: of === version ? 'Old' : 'New' })
    const one = `${types(version)}['schemas'][${stringLiteral(old)}]`
    const other = `${types(newer)}['schemas'][${stringLiteral(next)}]`
    opening.push(
      `export function ${name}(value: ${direction === 'up' ? one : other}): ${direction === 'up' ? other : one}`,
    )
  }
  return [...opening, `export function ${name}(value: Value): Value {`, ...indent(inside), '}']
}

/** Reports unions that cannot be translated because nothing identifies a changed member. */
function checkUnions(rewrite: Rewrite, report: Report): void {
  switch (rewrite.kind) {
    case 'choice':
      if (rewrite.cases.some((each) => !each.test && each.rewrite.kind !== 'same')) {
        report.add({
          code: 'translation-union',
          severity: 'error',
          place: rewrite.union.place,
          message: 'a member of this union differs between versions, but nothing identifies its values',
          hint: 'add a discriminator to the union, or a unique required property to its members',
        })
      }
      for (const each of rewrite.cases) checkUnions(each.rewrite, report)
      break
    case 'list':
      checkUnions(rewrite.item, report)
      break
    case 'map':
      checkUnions(rewrite.value, report)
      break
    case 'instead':
      checkUnions(rewrite.rewrite, report)
      break
    case 'relocate':
      checkUnions(rewrite.inner, report)
      for (const each of rewrite.moves) checkUnions(each.rewrite, report)
      break
    case 'all':
      for (const each of rewrite.parts) checkUnions(each, report)
      break
    case 'object':
      for (const each of rewrite.members)
        if ('rewrite' in each && each.rewrite) checkUnions(each.rewrite, report)
  }
}
