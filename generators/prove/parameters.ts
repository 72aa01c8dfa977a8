/** The laws of parameters: every valid old request becomes a valid new one. */
import fc from 'fast-check'
import { counterpartsOf, sameName } from '../change/align.ts'
import type { ApiOperation, ApiParameter } from '../ir/model.ts'
import {
  applyParameters,
  isSet,
  keyIn,
  PARTS,
  type ParameterPart,
  type ParameterRewrite,
  rewritesOf,
} from '../translate/parameters.ts'
import { requestMoves } from '../translate/requests.ts'
import { createStep } from '../translate/step.ts'
import type { Law } from './law.ts'
import { call, describe, isValid, type Sides } from './lenses.ts'

/** Returns a law for each part of an operation's requests that lenses change. */
export function parameterLaws(sides: Sides): Law[] {
  const { old, next, changes } = sides
  const step = createStep('up', old, next, changes)
  const lenses = changes.flatMap((change) => change.lenses)
  const counterparts = counterpartsOf(old, next, lenses)
  return old.operations.flatMap((operation) => {
    const counterpart = counterparts.get(operation.id)
    if (!counterpart || requestMoves(operation, counterpart, step).length > 0) return []
    return PARTS.flatMap((part) => {
      const rewrites = rewritesOf(part, operation, counterpart, step)
      return rewrites.length > 0 ? [lawOf(sides, part, operation, counterpart, rewrites)] : []
    })
  })
}

export const isListIn = (part: ParameterPart, parameter: ApiParameter): boolean =>
  part === 'query' && isSet(parameter)

/** Returns the values of one part of an operation's requests in the old version. */
export function requestValues(
  { old, makers }: Pick<Sides, 'old' | 'makers'>,
  part: ParameterPart,
  { parameters }: ApiOperation,
): Pick<Law, 'values' | 'fits'> {
  const own = parameters.filter((each) => each.in === part)
  const values = own.map((each) => {
    const one = makers.up(each.schema)
    return [keyIn(part, each.name), isListIn(part, each) ? one.map((value) => [value]) : one] as const
  })
  return {
    values: fc.record(Object.fromEntries(values), {
      requiredKeys: own.filter((each) => each.required).map((each) => keyIn(part, each.name)),
      noNullPrototype: true,
    }),
    fits: (value) =>
      own.every((each) => {
        const given = (value as Readonly<Record<string, unknown>>)[keyIn(part, each.name)]
        const one = isListIn(part, each) ? (given as unknown[] | undefined)?.[0] : given
        return one === undefined ? !each.required : isValid(old, each.schema, one, 'up')
      }),
  }
}

function lawOf(
  { old, next, makers, reading }: Sides,
  part: ParameterPart,
  operation: ApiOperation,
  counterpart: ApiOperation,
  rewrites: readonly ParameterRewrite[],
): Law {
  const of = ({ parameters }: ApiOperation) => parameters.filter((each) => each.in === part)
  const isList = (parameter: ApiParameter) => isListIn(part, parameter)
  const fits = (result: unknown): string | undefined => {
    const made = result as Readonly<Record<string, unknown>>
    for (const { from, to } of rewrites) {
      if (
        from !== undefined &&
        from !== to &&
        made[from] !== undefined &&
        !rewrites.some((each) => each.to === from)
      )
        return `${from} was not removed`
      const parameter = of(counterpart).find((each) => to !== undefined && sameName(part, each.name, to))
      const value = to === undefined ? undefined : made[to]
      if (!parameter) continue
      if (value === undefined) {
        if (parameter.required) return `${parameter.name} is missing`
        continue
      }
      if (isList(parameter) && !Array.isArray(value)) return `${parameter.name} is no list`
      for (const each of isList(parameter) ? (value as unknown[]) : [value]) {
        const found = reading(next, parameter.schema, each, 'up')
        if (found)
          return describe({ ...found, field: `${parameter.name}${found.field && ` ${found.field}`}` })
      }
    }
    return undefined
  }
  return {
    name: `${next.version} ${operation.id} ${part}`,
    use: counterpart.id,
    ...requestValues({ old, makers }, part, operation),
    check(value) {
      const turn = (given: unknown) => applyParameters(rewrites, given as Readonly<Record<string, unknown>>)
      const called = call({ turn, fits }, value, 'up')
      return 'code' in called ? called : undefined
    },
  }
}
