/** Builds the file of one version pair. Functions are printed when they are first requested. */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { Api } from '../../ir/model.ts'
import { camelCase, identifier } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import { docComment, stringLiteral } from '../../print/literal.ts'
import { CONTRACT, PATHS, REQUESTS, TOUCHED } from '../../print/runtime.ts'
import type { Direction, PairFunction, Rewrite } from '../../translate/model.ts'
import { schemaTypes } from '../types/type-names.ts'
import { certaintyOf, isPlainObject, isTyped } from './certainty.ts'
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
  /** Imports the function that translates parts of a request together, and returns its name. */
  request(): string
  /** Imports a function of a later version, and returns its name. */
  later(further: { readonly name: string; readonly version: string }): string
  /**
   * Prints a function once and returns its name.
   *
   * @param key identifies the behavior, if functions with the same name may differ.
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
  /** Imports the types of a version as a namespace, and returns its name: `v2026_05_19`. */
  types(api: Api): string
  /** Imports a function of `dateline/runtime/touched` and returns its local name. */
  use(name: string): string
  /** Imports the type of queries whose equality filters are lists, and returns its name. */
  lists(): string
  /** The type annotation of a parameter whose type has no name. */
  loose(): string
  /** Returns undefined if nothing was printed. */
  text(): string | undefined
}

/** @param pathOf returns the path of a change, relative to the file. */
export function createFileOf(old: Api, newer: Api, pathOf: (change: LoadedChange) => string): TransitionFile {
  const [version, next] = [old.version, newer.version]
  const file = createFile(['Value'])
  const names = new Set<string>(['Value', ...[version, next].map(namespaceOf)])
  let hasLoose = false
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
    types: ({ version: of }) => file.use('*', `../${of}/types.ts`, { type: true, as: namespaceOf(of) }),
    use: (name) => file.use(name, TOUCHED),
    request: () => file.use('translateRequest', REQUESTS),
    later: ({ name, version: of }) => file.use(name, `./${of}.ts`, { as: fresh(`${name}_${of}`) }),
    lists: () => file.use('Lists', CONTRACT, { type: true }),
    loose() {
      hasLoose = true
      return 'Value'
    },
    noting: (name, { version: of, id }) => `${file.use(name, TOUCHED)}(${stringLiteral(`${of}/${id}`)}, `,
    pair(key, direction, functions, report) {
      const each = functions.get(key)!
      return once(`${direction} ${key}`, nameOf(each, direction), (name) => {
        checkUnions(each.rewrite, report)
        const lines = printPair(each, name, {
          old,
          next: newer,
          direction,
          functions,
          report,
          file: transition,
        })
        printed.push(...lines, '')
      })
    },
    compose(own, further, up) {
      const wanted = `${own.replace(/_(up|down)$/, '')}_${up ? 'toCanonical' : 'fromCanonical'}`
      const key = `compose ${own} ${further.version} ${further.name}`
      return once(key, wanted, (name) => {
        const other = transition.later(further)
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
      if (hasLoose)
        file.print('/** A part of a document to which the document gives no name. */', 'type Value = any', '')
      file.print(...printed)
      return file.text().trimEnd().concat('\n')
    },
  }
  return transition
}

const namespaceOf = (version: string): string => identifier(`v${version}`)

function scopeOf(
  { file: transition, direction, functions, report }: PairContext,
  isTyped: boolean,
): CodeScope {
  return {
    direction,
    call: (key) => transition.pair(key, direction, functions, report),
    change: ({ change }) => transition.change(change),
    table: transition.table,
    path: transition.path,
    noting: transition.noting,
    use: transition.use,
    annotation: () => (isTyped ? '' : `: ${transition.loose()}`),
    hoist: (hint, body) => {
      const type = transition.loose()
      return transition.declare(
        hint,
        (name) => [`function ${name}(value: ${type}): ${type} {`, ...indent(body), '}'],
        body.join(' '),
      )
    },
  }
}

function nameOf({ old, next }: PairFunction, direction: Direction): string {
  return old === next
    ? `${old}_${direction}`
    : `${direction === 'up' ? `${old}_as_${next}` : `${next}_as_${old}`}_${direction}`
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)

interface PairContext {
  readonly old: Api
  readonly next: Api
  readonly direction: Direction
  readonly functions: ReadonlyMap<string, PairFunction>
  readonly report: Report
  readonly file: TransitionFile
}

/** The parameter and return types of a component's function, one from each version. */
function typesOf({ old, next }: PairFunction, context: PairContext): [string, string] {
  const [before, after] = [typeOf(context.old, old, context.file), typeOf(context.next, next, context.file)]
  return context.direction === 'up' ? [before, after] : [after, before]
}

function typeOf(api: Api, component: string, file: TransitionFile): string {
  return `${file.types(api)}.${schemaTypes(api.schemas.keys()).get(component)}`
}

/**
 * Prints a function whose signature has both versions' types. The body is untyped, because the value changes
 * versions within it.
 */
function printPair(each: PairFunction, name: string, context: PairContext): string[] {
  const { old, next, key, nullable, rewrite } = each
  const { direction } = context
  const up = direction === 'up'
  const [from, to] = up ? [context.old, context.next] : [context.next, context.old]
  const isComponent = key.includes(' ')
  const source = isComponent ? from.schemas.get(up ? old : next) : undefined
  const isTypedBody =
    source !== undefined && isTyped(rewrite) && (rewrite.kind !== 'object' || isPlainObject(source))
  const certainty = isTypedBody ? certaintyOf(each, { from, to }, up) : 'fits'
  const [given, made] = isComponent ? typesOf(each, context) : ['', '']
  const cast = { fits: '', overlaps: ` as ${made}`, unknown: ` as unknown as ${made}` }[certainty]
  const lines = castLast(bodyOf(rewrite, scopeOf(context, isTypedBody), name), cast)
  const body = [...(nullable ? ['if (value === null) return value'] : []), ...lines]
  const opening = docComment(`${up ? old : next}: ${from.version} → ${to.version}.`).trimEnd()
  const signature = `export function ${name}(value: ${given}): ${made}`
  if (isTypedBody) return [opening, `${signature} {`, ...indent(body), '}']
  const type = context.file.loose()
  return [
    opening,
    ...(isComponent ? [signature] : []),
    `export function ${name}(value: ${type}): ${type} {`,
    ...indent(body),
    '}',
  ]
}

/** Adds a type to the value that the statements return last. */
function castLast(lines: readonly string[], cast: string): readonly string[] {
  const [, made] = /^return (.*)$/s.exec(lines.at(-1) ?? '') ?? []
  if (cast === '' || made === undefined) return lines
  return [
    ...lines.slice(0, -1),
    `return ${/^(?:\w+|\{.*\}|\w+\(.*\))$/s.test(made) ? made : `(${made})`}${cast}`,
  ]
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
    case 'wrap':
    case 'first':
      checkUnions(rewrite.inner, report)
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
