/** Prints the translation of parameters up: names, values, defaults, and ignored parameters. */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { ApiOperation } from '../../ir/model.ts'
import { docComment, literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import type { ParameterPart, ParameterRewrite } from '../../translate/parameters.ts'
import type { Transition } from '../../translate/transition.ts'
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
    const gone = rewrites.flatMap(({ from, to }) =>
      from === undefined || from === to || to === undefined ? [] : [`${propertyKey(from)}: undefined`],
    )
    const unread = rewrites.flatMap((rewrite) =>
      rewrite.to === undefined && rewrite.from !== undefined
        ? [`${propertyKey(rewrite.from)}: ${ignoredCode(rewrite, `${value}${member(rewrite.from)}`, file)}`]
        : [],
    )
    const made = rewrites.flatMap((rewrite) =>
      rewrite.to === undefined
        ? []
        : [`${propertyKey(rewrite.to)}: ${codeOf(rewrite, value, `${id}_${rewrite.to}`, file)}`],
    )
    return [
      docComment(`${title} of ${id}: ${file.version} → ${file.next}.`).trimEnd(),
      `export function ${name}(${value}: Value): Value {`,
      `  return { ...${value}, ${[...gone, ...unread, ...made].join(', ')} }`,
      '}',
    ]
  })
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

function ignoredCode({ change, usual }: ParameterRewrite, at: string, file: TransitionFile): string {
  if (!change) return 'undefined'
  const meant = usual === undefined ? '' : `, ${literal(usual)}`
  return `${file.noting('ignored', change)}${at}${meant})`
}

function codeOf(rewrite: ParameterRewrite, record: string, hint: string, file: TransitionFile): string {
  const { from, instead, set } = rewrite
  const fallback =
    instead && `${file.noting('touched', instead.change)}${literal(set ? [instead.value] : instead.value)})`
  if (from === undefined) return fallback ?? 'undefined'
  const at = `${record}${member(from)}`
  if (rewrite.turned?.kind === 'turn' && !set)
    return `${at} === undefined ? ${fallback ?? 'undefined'} : ${turnedBy(rewrite.turned, at, at, file)}`
  const turned = turnedCode(rewrite, at, hint, file)
  const code = rewrite.change ? `${file.noting('touched', rewrite.change)}${turned})` : turned
  return fallback === undefined ? code : `${code} ?? ${fallback}`
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
      return `${at}?.map((value: Value) => ${turnedBy(turned, 'value', 'value', file)})`
    case 'filter':
      return `${at}?.flatMap((value: Value) => ${turnedBy(turned, 'value', '[value]', file)})`
    case 'names': {
      const names = table('renames', turned.change, turned.names, hint, file)
      return set ? `${at}?.map((value: Value) => ${names}(value))` : `${names}(${at})`
    }
    case 'values': {
      const values = table('meanings', turned.change, turned.values, hint, file)
      return `${at}?.flatMap((value: Value) => ${values}(value))`
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
  return file.table(`${hint}_values`, `${file.noting(noting, change)}[${printed.join(', ')}])`)
}
