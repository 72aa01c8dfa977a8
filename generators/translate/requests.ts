/** Finds values that move from one part of a request to another, and applies the translation without generating code. */
import { holdsIn, sameName } from '../change/align.ts'
import type { MovedParameter, RequestPart } from '../change/change.ts'
import { jsonBody } from '../ir/bodies.ts'
import type { Api, ApiOperation } from '../ir/model.ts'
import type { RequestParts } from '../runtime/contract.ts'
import { type RequestLocation, translateRequest } from '../runtime/requests.ts'
import { applyRewrite } from './apply.ts'
import type { LensAt, TranslationStep } from './model.ts'
import { applyParameters, keyIn } from './parameters.ts'
import { shapeOf } from './shape.ts'
import type { Transition } from './transition.ts'

/** A value that moves, in the names that handlers and validators use. */
export interface RequestMove {
  readonly from: RequestLocation
  readonly to: RequestLocation
  readonly by: LensAt<MovedParameter>
}

/** Returns the moves of an operation's requests. */
export function requestMoves(
  old: ApiOperation,
  next: ApiOperation,
  step: TranslationStep,
): readonly RequestMove[] {
  return step.lenses
    .filter((each): each is LensAt<MovedParameter> => each.lens.kind === 'moved-parameter')
    .filter(
      ({ lens: { operations, from, to } }) =>
        holdsIn(operations, next.id) && takes(old, step.old, from) && takes(next, step.next, to),
    )
    .map((by) => ({ from: locationOf(by.lens.from), to: locationOf(by.lens.to), by }))
}

/** Returns whether an operation has a parameter, or a property of its body. */
function takes(operation: ApiOperation, api: Api, [part, name]: MovedParameter['from']): boolean {
  if (part !== 'body')
    return operation.parameters.some((each) => each.in === part && sameName(part, each.name, name))
  const schema = jsonBody(operation)?.schema
  return (schema && shapeOf(schema, api, new Set()))?.properties.has(name) === true
}

const locationOf = ([part, name]: readonly [RequestPart, string]): RequestLocation =>
  part === 'header' ? ['headers', keyIn(part, name)] : [part, name]

/** Returns the translation of an operation's requests to the next version. */
export function requestTranslator(transition: Transition, id: string): (parts: RequestParts) => RequestParts {
  const parameters = (part: 'path' | 'query' | 'header') => (values: Readonly<Record<string, unknown>>) =>
    applyParameters(transition.parameters[part].get(id) ?? [], values)
  const key = transition.bodies.get(id)
  return translateRequest({
    path: parameters('path'),
    query: parameters('query'),
    headers: parameters('header'),
    ...(key !== undefined && {
      body: (value: unknown) =>
        applyRewrite({ kind: 'call', key }, value, { direction: 'up', functions: transition.up }),
    }),
    moves: (transition.requestMoves.get(id) ?? []).map(({ from, to, by: { change, lens } }) => ({
      from,
      to,
      change: `${change.version}/${change.id}`,
      ...(lens.up && { up: lens.up }),
    })),
  })
}
