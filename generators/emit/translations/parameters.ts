/** Prints the translation of parameters up: names, values, defaults, and ignored parameters. */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { docComment, literal, propertyKey, stringLiteral } from '../../print/literal.ts'
import { isSet, type ParameterPart, type ParameterRewrite } from '../../translate/parameters.ts'
import type { Transition } from '../../translate/transition.ts'
import { queryType } from '../types/type-names.ts'
import { type Certainty, certaintyOfSame, least } from './certainty.ts'
import type { TransitionFile } from './file.ts'

const NAMES: Readonly<Record<ParameterPart, { readonly title: string; readonly value: string }>> = {
  path: { title: 'Path', value: 'path' },
  query: { title: 'Query', value: 'query' },
  header: { title: 'Headers', value: 'headers' },
}

/**
 * Returns the name of the function for one part of an operation's requests, or undefined if nothing changes in it.
 */
export function printParameters(
  part: ParameterPart,
  id: string,
  transition: Transition,
  file: TransitionFile,
  report: Report,
): string | undefined {
  const rewrites = transition.parameters[part].get(id)
  const operation = transition.old.operations.find((each) => each.id === id)
  if (!rewrites || !operation) return undefined
  checkFilters(rewrites, operation, report)
  const { title, value } = NAMES[part]
  return file.declare(`${id}_${value}_up`, (name) => {
    const [given, made] = typesOf(part, operation, transition, file)
    const cast = castOf(part, operation, rewrites, transition, made)
    const read = rewrites.flatMap(({ from }) => (from === undefined ? [] : [from]))
    const locals = new Map(read.map((from, index) => [from, localOf(from, index, value)]))
    const taken = [...locals].map(([from, local]) =>
      propertyKey(from) === local ? from : `${propertyKey(from)}: ${local}`,
    )
    const unread = rewrites.flatMap((rewrite) =>
      rewrite.to === undefined && rewrite.from !== undefined && rewrite.change
        ? [`  ${ignoredCode(rewrite, rewrite.change, locals.get(rewrite.from)!, file)}`]
        : [],
    )
    const members = rewrites.flatMap((rewrite) =>
      rewrite.to === undefined ? [] : memberOf(rewrite, rewrite.to, locals, `${id}_${rewrite.to}`, file),
    )
    const rest = taken.length > 0 ? 'rest' : value
    return [
      docComment(`${title} of ${id}: ${file.version} → ${file.next}.`).trimEnd(),
      `export function ${name}(${value}: ${given}): ${made} {`,
      ...(taken.length > 0 ? [`  const { ${[...taken, '...rest'].join(', ')} } = ${value}`] : []),
      ...unread,
      `  return ${members.length > 0 ? `{ ${[`...${rest}`, ...members].join(', ')} }` : rest}${cast}`,
      '}',
    ]
  })
}

/** Names that functions call or declare themselves. */
const OWN_LOCALS = /^(?:value|rest|touched|turned|ignored)$/

const localOf = (name: string, index: number, record: string): string =>
  OWN_LOCALS.test(name) || name === record || identifier(name) !== name ? `old_${index}` : name

type Types = readonly [given: string, made: string]

/** Headers are texts by their names in small letters; path and query have the types of both versions. */
function typesOf(
  part: ParameterPart,
  operation: ApiOperation,
  transition: Transition,
  file: TransitionFile,
): Types {
  const next = transition.counterparts.get(operation.id)
  if (part === 'header' || !next) return [NAMED_VALUES, NAMED_VALUES]
  return [typeOf(part, transition.old, operation, file), typeOf(part, transition.next, next, file)]
}

const NAMED_VALUES = 'Readonly<Record<string, unknown>>'

function typeOf(part: 'path' | 'query', api: Api, operation: ApiOperation, file: TransitionFile): string {
  const types = file.types(api)
  if (part === 'path') return `${types}.operations[${stringLiteral(operation.id)}]['parameters']['path']`
  const name = queryType(api, operation)
  const query = name ?? `operations[${stringLiteral(operation.id)}]['parameters']['query']`
  const whole = name === undefined ? `NonNullable<${types}.${query}>` : `${types}.${query}`
  const filters = operation.parameters
    .filter((each) => each.in === 'query' && isSet(each))
    .map((each) => stringLiteral(each.name))
  return filters.length > 0 ? `${file.lists()}<${whole}, ${filters.join(' | ')}>` : whole
}

/** Says the type of what is made, where the compiler may not find it. */
function castOf(
  part: ParameterPart,
  operation: ApiOperation,
  rewrites: readonly ParameterRewrite[],
  { old, next, counterparts }: Transition,
  made: string,
): string {
  const later = counterparts.get(operation.id)
  if (part === 'header' || !later) return ''
  const certainty = least(
    later.parameters
      .filter((each) => each.in === part)
      .map((parameter): Certainty => {
        const rewrite = rewrites.find(({ to }) => to === parameter.name)
        if (rewrite?.turned) return 'fits'
        const before = operation.parameters.find(
          (each) => each.in === part && each.name === (rewrite?.from ?? parameter.name),
        )
        if (!before) return parameter.required && !rewrite ? 'overlaps' : 'fits'
        const same = certaintyOfSame(before.schema, parameter.schema, { from: old, to: next })
        return parameter.required && !before.required && !rewrite?.instead ? least([same, 'overlaps']) : same
      }),
  )
  return { fits: '', overlaps: ` as ${made}`, unknown: ` as unknown as ${made}` }[certainty]
}

function checkFilters(rewrites: readonly ParameterRewrite[], operation: ApiOperation, report: Report): void {
  for (const { from, set, turned } of rewrites) {
    const parameter = operation.parameters.find((each) => each.in === 'query' && each.name === from)
    if (turned?.kind !== 'filter' || set || !parameter) continue
    report.add({
      code: 'translation-filter',
      severity: 'error',
      place: parameter.place,
      message: `${from} of ${operation.id} is not an equality filter, but the change ${turned.by.change.id} maps each value to several`,
      hint: 'mark it with `x-filter: equality`',
    })
  }
}

function ignoredCode(
  { usual }: ParameterRewrite,
  change: LoadedChange,
  at: string,
  file: TransitionFile,
): string {
  const meant = usual === undefined ? '' : `, ${literal(usual)}`
  return `${file.noting('ignored', change)}${at}${meant})`
}

/** The member of the literal for a parameter that the next version has under this name. */
function memberOf(
  rewrite: ParameterRewrite,
  to: string,
  locals: ReadonlyMap<string, string>,
  hint: string,
  file: TransitionFile,
): string[] {
  const { from, instead, set } = rewrite
  const key = propertyKey(to)
  const fallback =
    instead && `${file.noting('touched', instead.change)}${literal(set ? [instead.value] : instead.value)})`
  if (from === undefined) return fallback === undefined ? [] : [`${key}: ${fallback}`]
  const at = locals.get(from)!
  const turned = turnedCode(rewrite, at, hint, file)
  const code = rewrite.change ? `${file.noting('touched', rewrite.change)}${turned})` : turned
  return fallback === undefined
    ? [`...(${at} !== undefined && { ${key}: ${code} })`]
    : [`${key}: ${at} === undefined ? ${fallback} : ${code}`]
}

function turnedCode(
  { turned, set }: ParameterRewrite,
  at: string,
  hint: string,
  file: TransitionFile,
): string {
  switch (turned?.kind) {
    case undefined:
      return at
    case 'turn':
      return set
        ? `${at}.map((value) => ${turnedBy(turned, 'value', 'value', file)})`
        : turnedBy(turned, at, at, file)
    case 'filter':
      return `${at}.flatMap((value) => ${turnedBy(turned, 'value', '[value]', file)})`
    case 'names': {
      const names = table('renames', turned.change, turned.names, hint, file)
      return set || turned.list ? `${at}.map((value) => ${names}(value))` : `${names}(${at})`
    }
    case 'values': {
      const values = table('meanings', turned.change, turned.values, hint, file)
      return `${at}.flatMap((value) => ${values}(value))`
    }
  }
}

type ByLens = Extract<NonNullable<ParameterRewrite['turned']>, { readonly by: unknown }>

/** @param before the value that counts as unchanged. */
const turnedBy = ({ by }: ByLens, at: string, before: string, file: TransitionFile): string =>
  `${file.noting('turned', by.change)}${before}, ${file.change(by.change)}.lenses[${by.index}].up(${at}))`

function table(
  noting: 'renames' | 'meanings',
  change: LoadedChange,
  entries: ReadonlyMap<string, unknown>,
  hint: string,
  file: TransitionFile,
): string {
  const printed = [...entries].map(([from, to]) => `[${stringLiteral(from)}, ${literal(to)}]`)
  return file.table(
    noting === 'renames' ? `rename_${hint}` : `${hint}_meanings`,
    `${file.noting(noting, change)}[${printed.join(', ')}])`,
  )
}
