/** Translates parameters up: names, converted values, and defaults. */

import { holdsIn, isAbout, newNameOf, renamedPlaceholders, sameName } from '../change/align.ts'
import type {
  ConvertedParameter,
  DefaultParameter,
  Filter,
  IgnoredParameter,
  ParameterLens,
  RenamedParameter,
  Served,
} from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { ApiOperation, ApiParameter, Schema } from '../ir/model.ts'
import { type LensAt, namesTable, type TranslationStep } from './model.ts'

/** Parts of a request that handlers get parameters from. */
export const PARTS = ['path', 'query', 'header'] as const
export type ParameterPart = (typeof PARTS)[number]

/** How the value of the new version is made. */
export type Turned =
  | {
      readonly kind: 'names'
      readonly names: ReadonlyMap<string, string>
      readonly change: LoadedChange
      /** Whether the value is a list of names. */
      readonly list: boolean
    }
  /** Filters: each value becomes several. */
  | {
      readonly kind: 'values'
      readonly values: ReadonlyMap<string, readonly string[]>
      readonly change: LoadedChange
    }
  | { readonly kind: 'filter'; readonly by: LensAt<Filter> }
  | { readonly kind: 'turn'; readonly by: LensAt<ConvertedParameter> }

export interface ParameterRewrite {
  /** Name in the old version; absent if the old version lacks the parameter. */
  readonly from?: string
  /** Name in the new version; absent if the parameter is dropped. */
  readonly to?: string
  readonly turned?: Turned
  /** The value if an old request omits the parameter. */
  readonly instead?: { readonly value: unknown; readonly change: LoadedChange }
  /** The change that renames or ignores the parameter; absent if only its position in the path decides. */
  readonly change?: LoadedChange
  /** The newer version's default of a parameter that the older version ignores. */
  readonly usual?: unknown
  /** Whether handlers receive a list of values. */
  readonly set: boolean
}

/** Returns whether the canonical version receives a list of values although the document has one value. */
export const isSet = ({ extensions, schema }: ApiParameter): boolean =>
  extensions['x-filter'] === 'equality' && schema.kind !== 'array'

/** Handlers receive header names in lowercase. */
export const keyIn = (part: ParameterPart, name: string): string =>
  part === 'header' ? name.toLowerCase() : name

/** Returns the rewrites for one part of an operation's requests; empty if nothing changes. */
export function rewritesOf(
  part: ParameterPart,
  old: ApiOperation,
  next: ApiOperation,
  step: TranslationStep,
): ParameterRewrite[] {
  const of = (operation: ApiOperation) => operation.parameters.filter((each) => each.in === part)
  const defaults = lensesAbout<DefaultParameter>('default-parameter', { step, operation: next.id, part })
  const told = new Set<ApiParameter>()
  const rewrites = of(old).flatMap((parameter): ParameterRewrite[] => {
    const from = keyIn(part, parameter.name)
    const set = part === 'query' && isSet(parameter)
    const about = { step, operation: next.id, part, name: parameter.name }
    const [ignored] = lensesAbout<IgnoredParameter>('ignored-parameter', about)
    if (ignored) {
      const read = of(next).find((each) => sameName(part, each.name, parameter.name))
      return [{ from, set, change: ignored.change, usual: read?.schema.default }]
    }
    const name =
      newNameOf(
        parameter,
        next.id,
        step.lenses.map(({ lens }) => lens),
      ) ?? placeholderOf(parameter, old, next)
    const counterpart = of(next).find((each) => sameName(part, each.name, name))
    if (!counterpart) return []
    told.add(counterpart)
    const turned = turnedOf(parameter, counterpart, next.id, part, step)
    const lens = defaults.find((each) => sameName(part, each.lens.name, counterpart.name))
    const to = keyIn(part, counterpart.name)
    if (from === to && !turned && !lens) return []
    const [renamed] = lensesAbout<RenamedParameter>('renamed-parameter', about)
    return [
      {
        from,
        to,
        set,
        ...(turned && { turned }),
        ...(lens && { instead: { value: lens.lens.value, change: lens.change } }),
        ...(renamed && { change: renamed.change }),
      },
    ]
  })
  const made = defaults.flatMap(({ lens, change }): ParameterRewrite[] => {
    const parameter = of(next).find((each) => sameName(part, each.name, lens.name))
    if (!parameter || told.has(parameter)) return []
    const set = part === 'query' && isSet(parameter)
    return [{ to: keyIn(part, lens.name), set, instead: { value: lens.value, change } }]
  })
  return [...rewrites, ...made, ...fixedIn(part, old, next, step)]
}

/** Returns the lens by which a different operation serves an old one. */
export const servedBy = (step: TranslationStep, old: ApiOperation): LensAt<Served> | undefined =>
  step.lenses.find((each): each is LensAt<Served> => each.lens.kind === 'served' && each.lens.from === old.id)

/** Returns rewrites for the values that the new operation gets in place of the old operation's id. */
function fixedIn(
  part: ParameterPart,
  old: ApiOperation,
  next: ApiOperation,
  step: TranslationStep,
): ParameterRewrite[] {
  const served = servedBy(step, old)
  if (!served) return []
  return Object.entries(served.lens.fixed?.[part] ?? {}).map(([name, value]) => {
    const parameter = next.parameters.find((each) => each.in === part && sameName(part, each.name, name))
    return {
      to: keyIn(part, name),
      set: part === 'query' && parameter !== undefined && isSet(parameter),
      instead: { value, change: served.change },
    }
  })
}

const placeholderOf = (parameter: ApiParameter, old: ApiOperation, next: ApiOperation): string =>
  (parameter.in === 'path' ? renamedPlaceholders(old.path, next.path).get(parameter.name) : undefined) ??
  parameter.name

/** A parameter, or all parameters of a part. */
interface About {
  readonly step: TranslationStep
  /** Operation id in the new version. */
  readonly operation: string
  readonly part: ParameterPart
  readonly name?: string
}

function lensesAbout<L extends ParameterLens>(
  kind: L['kind'],
  { step: { lenses }, operation, part, name }: About,
): LensAt<L>[] {
  return lenses.filter((each): each is LensAt<L> => {
    const { lens } = each
    if (lens.kind !== kind) return false
    const own = lens as L
    if (name !== undefined) return isAbout(own, operation, part, name)
    return own.in === part && holdsIn(own.operations, operation)
  })
}

function turnedOf(
  parameter: ApiParameter,
  next: ApiParameter,
  operation: string,
  part: ParameterPart,
  step: TranslationStep,
): Turned | undefined {
  if (part === 'query') {
    const by = step.lenses.find(
      (each): each is LensAt<Filter> =>
        each.lens.kind === 'filter' && each.lens.operation === operation && each.lens.parameter === next.name,
    )
    if (by) return { kind: 'filter', by }
  }
  const [by] = lensesAbout<ConvertedParameter>('converted-parameter', {
    step,
    operation,
    part,
    name: next.name,
  })
  return by ? { kind: 'turn', by } : namesOf(parameter, next, step)
}

/** Returns the renamed members of an enumeration that a parameter, or each item of it, refers to. */
function namesOf(parameter: ApiParameter, next: ApiParameter, step: TranslationStep): Turned | undefined {
  const { serialization } = parameter
  const list = parameter.schema.kind === 'array'
  const [schema, made] = [itemOf(parameter.schema), itemOf(next.schema)]
  // Values with a media type, such as JSON, are not plain strings.
  if (serialization.mediaType !== undefined) return undefined
  if (schema.kind !== 'ref' || made.kind !== 'ref' || list !== (next.schema.kind === 'array'))
    return undefined
  const component = schema.name
  for (const { lens, change } of step.lenses) {
    if (lens.kind !== 'values' || lens.property !== undefined || !lens.schemas.includes(component)) continue
    const names = namesTable(lens, 'up')
    if (parameter.in !== 'query' || !isSet(parameter))
      return names.size > 0 ? { kind: 'names', names, change, list } : undefined
    const values = new Map([...names].map(([old, now]): [string, readonly string[]] => [old, [now]]))
    for (const [now, old] of Object.entries(lens.merge)) {
      values.set(old, [...(values.get(old) ?? [old]), now])
    }
    return { kind: 'values', values, change }
  }
  return undefined
}

/** Returns the schema of all items of a parameter, or the schema itself if it is no list. */
const itemOf = (schema: Schema): Schema =>
  schema.kind === 'array' && schema.prefix.length === 0 ? schema.items : schema

type ParameterMembers = Readonly<Record<string, unknown>>

/** Applies rewrites directly, without generating code, for the proof. Does not modify its argument. */
export function applyParameters(
  rewrites: readonly ParameterRewrite[],
  values: ParameterMembers,
): ParameterMembers {
  const gone = rewrites.flatMap(({ from }) => (from === undefined ? [] : [[from, undefined] as const]))
  const made = rewrites.flatMap((rewrite) =>
    rewrite.to === undefined ? [] : [[rewrite.to, turn(rewrite, values)] as const],
  )
  return { ...values, ...Object.fromEntries([...gone, ...made]) }
}

function turn({ from, turned, instead, set }: ParameterRewrite, values: ParameterMembers): unknown {
  const value = from === undefined ? undefined : values[from]
  if (value === undefined) return instead && (set ? [instead.value] : instead.value)
  switch (turned?.kind) {
    case undefined:
      return value
    case 'turn':
      return set
        ? (value as never[]).map((each) => turned.by.lens.up(each))
        : turned.by.lens.up(value as never)
    case 'filter':
      return (value as never[]).flatMap((each) => turned.by.lens.up(each))
    case 'names': {
      const nameOf = (each: unknown) => turned.names.get(each as string) ?? each
      return set || turned.list ? (value as unknown[]).map(nameOf) : nameOf(value)
    }
    case 'values':
      return (value as string[]).flatMap((each) => turned.values.get(each) ?? [each])
  }
}
