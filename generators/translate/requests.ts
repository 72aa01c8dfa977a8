/** Finds values that move from one part of a request to another. */
import { holdsIn, sameName } from '../change/align.ts'
import type { MovedParameter, RequestPart } from '../change/change.ts'
import { jsonBody } from '../ir/bodies.ts'
import type { Api, ApiOperation } from '../ir/model.ts'
import type { RequestLocation } from '../runtime/requests.ts'
import type { LensAt, TranslationStep } from './model.ts'
import { keyIn } from './parameters.ts'
import { shapeOf } from './shape.ts'

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
