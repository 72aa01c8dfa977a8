/** The laws of requests in which a value moves from one part to another: every valid old request becomes a valid new one. */
import fc from 'fast-check'
import { jsonBody } from '../ir/bodies.ts'
import type { ApiOperation } from '../ir/model.ts'
import type { RequestParts } from '../runtime/contract.ts'
import { requestTranslator } from '../translate/apply-request.ts'
import { keyIn, PARTS } from '../translate/parameters.ts'
import { createTransition, type Transition } from '../translate/transition.ts'
import { freeze, type Law } from './law.ts'
import { call, describe, isValid, type Sides } from './lenses.ts'
import { isListIn, requestValues } from './parameters.ts'
import { sent } from './validity.ts'

/** Returns a law for each operation with a value that moves. */
export function requestLaws(sides: Sides): Law[] {
  const transition = createTransition(sides.old, sides.next, sides.changes)
  return sides.old.operations.flatMap((operation) => {
    const next = transition.counterparts.get(operation.id)
    return next && transition.requestMoves.has(operation.id)
      ? [lawOf(sides, transition, operation, next)]
      : []
  })
}

const PLACES = { path: 'path', query: 'query', header: 'headers' } as const

function lawOf(sides: Sides, transition: Transition, old: ApiOperation, next: ApiOperation): Law {
  const parts = PARTS.map((part) => [PLACES[part], requestValues(sides, part, old)] as const)
  const body = jsonBody(old)?.schema
  const translate = requestTranslator(transition, old.id)
  const values = fc.record({
    ...Object.fromEntries(parts.map(([part, own]) => [part, own.values])),
    body: body ? sides.makers.up(body) : fc.constant(undefined),
  })
  return {
    name: `${sides.next.version} ${next.id} request`,
    use: next.id,
    values,
    fits: (value) => {
      const given = value as RequestParts
      return (
        parts.every(([part, own]) => own.fits(given[part])) &&
        (body === undefined || isValid(sides.old, body, given.body, 'up'))
      )
    },
    check(value) {
      const turn = (given: unknown) => translate(given as RequestParts)
      const called = call(
        { turn, fits: (made) => misfit(sides, next, made as RequestParts) },
        freeze(value),
        'up',
      )
      return 'code' in called ? called : undefined
    },
  }
}

/** Returns what is wrong with a translated request. */
function misfit({ next: api, reading }: Sides, next: ApiOperation, made: RequestParts): string | undefined {
  for (const part of PARTS)
    for (const parameter of next.parameters.filter((each) => each.in === part)) {
      const value = made[PLACES[part]][keyIn(part, parameter.name)]
      if (value === undefined && parameter.required) return `${parameter.name} is missing`
      for (const each of isListIn(part, parameter) ? ((value ?? []) as unknown[]) : [value]) {
        const found = each === undefined ? undefined : reading(api, parameter.schema, each, 'up')
        if (found)
          return describe({ ...found, field: `${parameter.name}${found.field && ` ${found.field}`}` })
      }
    }
  const body = jsonBody(next)
  if (made.body === undefined) return next.body?.required ? 'the body is missing' : undefined
  return body && describe(reading(api, body.schema, sent(made.body), 'up'))
}
