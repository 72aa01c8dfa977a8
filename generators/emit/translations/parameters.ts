/** Parameters of an older version → the next one's: names, values, defaults, and what is ignored. */
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { Operation } from '../../ir/model.ts'
import { docComment, literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import type { ParameterRewrite, Part } from '../../translate/parameters.ts'
import type { Transition } from '../../translate/transition.ts'
import type { TransitionFile } from './file.ts'

const NAMES: Readonly<Record<Part, { readonly title: string; readonly value: string }>> = {
  path: { title: 'Path', value: 'path' },
  query: { title: 'Query', value: 'query' },
  header: { title: 'Headers', value: 'headers' },
}

/** @returns the name of the function of one part of an operation's requests, or undefined when nothing changes in it. */
export function printParameters(
  part: Part,
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
      from === undefined || from === to ? [] : [`${propertyKey(from)}: undefined`],
    )
    const made = rewrites.flatMap((rewrite) =>
      rewrite.to === undefined
        ? []
        : [`${propertyKey(rewrite.to)}: ${codeOf(rewrite, value, `${id}_${rewrite.to}`, file)}`],
    )
    return [
      docComment(`${title} of ${id}: ${file.version} → ${file.next}.`).trimEnd(),
      `export function ${name}(${value}: Value): Value {`,
      `  return { ...${value}, ${[...gone, ...made].join(', ')} }`,
      '}',
    ]
  })
}

function checkFilters(rewrites: readonly ParameterRewrite[], operation: Operation, report: Report): void {
  for (const { from, set, turned } of rewrites) {
    const parameter = operation.parameters.find((each) => each.in === 'query' && each.name === from)
    if (turned?.kind !== 'filter' || set || !parameter) continue
    report.add({
      code: 'translation-filter',
      severity: 'error',
      place: parameter.place,
      message: `${from} of ${operation.id} is no equality filter, but the change ${turned.by.change.id} gives each value several meanings`,
      hint: 'mark it as one with `x-filter: equality`',
    })
  }
}

function codeOf(rewrite: ParameterRewrite, record: string, hint: string, file: TransitionFile): string {
  const { from, instead, set } = rewrite
  const fallback = instead && literal(set ? [instead.value] : instead.value)
  if (from === undefined) return fallback ?? 'undefined'
  const at = `${record}${member(from)}`
  if (rewrite.turned?.kind === 'turn' && !set)
    return `${at} === undefined ? ${fallback ?? 'undefined'} : ${lensOf(rewrite.turned, file)}.up(${at})`
  const code = turnedCode(rewrite, at, hint, file)
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
      return `${at}?.map((value: Value) => ${lensOf(turned, file)}.up(value))`
    case 'filter':
      return `${at}?.flatMap((value: Value) => ${lensOf(turned, file)}.up(value))`
    case 'names': {
      const names = table(turned.names, 'string', hint, file)
      const one = (value: string) => `${names}.get(${value}) ?? ${value}`
      return set ? `${at}?.map((value: Value) => ${one('value')})` : one(at)
    }
    case 'values': {
      const values = table(turned.values, 'string[]', hint, file)
      return `${at}?.flatMap((value: Value) => ${values}.get(value) ?? [value])`
    }
  }
}

type ByLens = Extract<NonNullable<ParameterRewrite['turned']>, { readonly by: unknown }>

const lensOf = ({ by }: ByLens, file: TransitionFile): string =>
  `${file.change(by.change)}.lenses[${by.index}]`

function table(
  entries: ReadonlyMap<string, unknown>,
  type: string,
  hint: string,
  file: TransitionFile,
): string {
  const printed = [...entries].map(([from, to]) => `[${stringLiteral(from)}, ${literal(to)}]`)
  return file.table(`${hint}_values`, `new Map<unknown, ${type}>([${printed.join(', ')}])`)
}
