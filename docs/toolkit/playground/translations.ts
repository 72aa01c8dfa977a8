/** Translates example values of two adjacent versions: requests up, responses and events down. */
import { nextStatus } from '../../../generators/change/align.ts'
import { responseFor } from '../../../generators/diff/answers.ts'
import { sampleContent, sampleParameter } from '../../../generators/emit/reference/sample.ts'
import { jsonBody } from '../../../generators/ir/bodies.ts'
import { isJson } from '../../../generators/ir/media-type.ts'
import type { ApiOperation, Response } from '../../../generators/ir/model.ts'
import { successOf } from '../../../generators/ir/operations.ts'
import type { RequestParts } from '../../../generators/runtime/contract.ts'
import { applyRewrite } from '../../../generators/translate/apply.ts'
import { requestTranslator } from '../../../generators/translate/apply-request.ts'
import type { Direction } from '../../../generators/translate/model.ts'
import {
  applyParameters,
  keyIn,
  PARTS,
  type ParameterPart,
} from '../../../generators/translate/parameters.ts'
import type { Transition } from '../../../generators/translate/transition.ts'

/** A value of one version, and what the toolkit makes of it for the other. Values are JSON texts. */
export interface Translation {
  /** Unique: `createBook body`. */
  readonly id: string
  readonly direction: Direction
  readonly title: string
  readonly given: string
  /** Absent if `problem` is set. */
  readonly translated?: string
  readonly problem?: string
}

/** A place whose values are translated. */
export interface TranslatedPlace {
  readonly id: string
  readonly direction: Direction
  readonly title: string
  readonly sample: unknown
  translate(value: unknown): unknown
}

/** Returns every place whose values the changes translate. */
export function translatedPlaces(transition: Transition): TranslatedPlace[] {
  const { old, next, payloads } = transition
  return [
    ...old.operations.flatMap((operation) => {
      const counterpart = transition.counterparts.get(operation.id)
      if (!counterpart) return []
      return [
        ...PARTS.flatMap((part) => parameterPlaces(transition, operation, part)),
        ...bodyPlaces(transition, operation),
        ...requestPlaces(transition, operation),
        ...responsePlaces(transition, operation, counterpart),
      ]
    }),
    ...[...payloads].flatMap(([name, key]): TranslatedPlace[] => {
      const payload = next.events.find((each) => each.name === name)?.payload
      if (!payload) return []
      const sample = sampleContent(next, payload, 'writeOnly')
      return [downPlace(transition, `event ${name}`, `Event ${name}`, key, sample)]
    }),
  ]
}

function parameterPlaces(
  transition: Transition,
  operation: ApiOperation,
  part: ParameterPart,
): TranslatedPlace[] {
  const rewrites = transition.parameters[part].get(operation.id)
  if (!rewrites) return []
  const own = operation.parameters.filter((each) => each.in === part)
  const sample = Object.fromEntries(own.map((each) => [each.name, sampleParameter(transition.old, each)]))
  return [
    {
      id: `${operation.id} ${part}`,
      direction: 'up',
      title: `${nameOf(operation)}, ${part} parameters`,
      sample,
      translate: (value) => applyParameters(rewrites, value as Readonly<Record<string, unknown>>),
    },
  ]
}

function bodyPlaces({ old, up, bodies }: Transition, operation: ApiOperation): TranslatedPlace[] {
  const key = bodies.get(operation.id)
  const content = jsonBody(operation)
  if (key === undefined || !content) return []
  return [
    {
      id: `${operation.id} body`,
      direction: 'up',
      title: `${nameOf(operation)}, request body`,
      sample: sampleContent(old, content, 'readOnly'),
      translate: (value) => applyRewrite({ kind: 'call', key }, value, { direction: 'up', functions: up }),
    },
  ]
}

/** Requests in which a value moves from one part to another. */
function requestPlaces(transition: Transition, operation: ApiOperation): TranslatedPlace[] {
  if (!transition.requestMoves.has(operation.id)) return []
  const { old } = transition
  const sampleOf = (part: ParameterPart) =>
    Object.fromEntries(
      operation.parameters
        .filter((each) => each.in === part)
        .map((each) => [keyIn(part, each.name), sampleParameter(old, each)]),
    )
  const content = jsonBody(operation)
  const sample = {
    path: sampleOf('path'),
    query: sampleOf('query'),
    headers: sampleOf('header'),
    ...(content && { body: sampleContent(old, content, 'readOnly') }),
  }
  const translate = requestTranslator(transition, operation.id)
  return [
    {
      id: `${operation.id} request`,
      direction: 'up',
      title: `${nameOf(operation)}, request`,
      sample,
      translate: (value) => translate(value as RequestParts),
    },
  ]
}

function responsePlaces(
  transition: Transition,
  operation: ApiOperation,
  counterpart: ApiOperation,
): TranslatedPlace[] {
  const success = successOf(operation)?.status
  return operation.responses.flatMap(({ status }) => {
    const key =
      status === success
        ? transition.answers.get(operation.id)
        : transition.statuses.get(`${operation.id} ${status}`)
    const now = nextStatus(transition.statusNames.get(operation.id), status)
    const content = jsonContent(responseFor(counterpart, now))
    if (key === undefined || !content) return []
    const sample = sampleContent(transition.next, content, 'writeOnly')
    const title = `${nameOf(operation)}, response ${now === status ? status : `${now} → ${status}`}`
    return [downPlace(transition, `${operation.id} ${status}`, title, key, sample)]
  })
}

const jsonContent = (response: Response | undefined) =>
  response?.contents.find(({ mediaType }) => isJson(mediaType))

function downPlace(
  { down }: Transition,
  id: string,
  title: string,
  key: string,
  sample: unknown,
): TranslatedPlace {
  const translate = (value: unknown) =>
    applyRewrite({ kind: 'call', key }, value, { direction: 'down', functions: down })
  return { id, direction: 'down', title, sample, translate }
}

const nameOf = ({ method, path }: ApiOperation): string => `${method} ${path}`

/**
 * Translates an example of each place.
 *
 * @param values JSON texts that replace the examples, by id of the place.
 */
export function translationsOf(
  transition: Transition,
  values: Readonly<Record<string, string>>,
): Translation[] {
  return translatedPlaces(transition).map(({ id, direction, title, sample, translate }) => {
    const given = values[id] ?? JSON.stringify(sample ?? null, null, 2)
    const about = { id, direction, title, given }
    try {
      return { ...about, translated: JSON.stringify(translate(JSON.parse(given)), null, 2) ?? 'null' }
    } catch (error) {
      return { ...about, problem: error instanceof Error ? error.message : String(error) }
    }
  })
}
