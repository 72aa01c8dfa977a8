/**
 * Builds the operation tables of a family in memory. Validators are `explain`, and translations are applied as the
 * proof applies them, so that a mock needs no generated code.
 */
import { nextStatus } from '../change/align.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { formContents, formFields } from '../emit/wire/forms.ts'
import { parameterEncoding, scalarTypes } from '../emit/wire/parameters.ts'
import { jsonBody, rawBodies, streamOf, validatedArray } from '../ir/bodies.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import { essenceOf } from '../ir/media-type.ts'
import type { Api, ApiOperation, ApiParameter } from '../ir/model.ts'
import { successOf, successStatus } from '../ir/operations.ts'
import type { Operation, Parameter, Translate, Validate, Version } from '../runtime/contract.ts'
import { explain } from '../runtime/explain.ts'
import { applyRewrite } from '../translate/apply.ts'
import { requestTranslator } from '../translate/apply-request.ts'
import type { Direction, PairFunction } from '../translate/model.ts'
import { applyParameters, isSet, type ParameterPart } from '../translate/parameters.ts'
import { createTransition, type Transition } from '../translate/transition.ts'

/** Returns a validator of the schema at a pointer of the document. */
export const validatorAt =
  ({ document }: Api, pointer: string): Validate =>
  (value) =>
    explain(document, pointer, value, FORMAT_CHECKS, 1).length === 0

/**
 * Returns the tables of all versions.
 *
 * @param apis oldest first.
 */
export function createTables(apis: readonly Api[], changes: readonly LoadedChange[]): readonly Version[] {
  const transitions = apis.slice(1).map((next, index) => {
    const statuses = (id: string) =>
      apis.flatMap(({ operations }) =>
        operations.flatMap((each) => (each.id === id ? each.responses.map(({ status }) => status) : [])),
      )
    const own = changes.filter(({ version }) => version === next.version)
    return createTransition(apis[index]!, next, own, statuses)
  })
  return apis.map((api, index) => ({
    name: api.version,
    operations: api.operations.map((operation) => createRow(api, operation, transitions.slice(index))),
  }))
}

/** A transition that an operation passes on the way to the newest version, and its id before it. */
interface Link {
  readonly transition: Transition
  readonly id: string
}

function createRow(api: Api, operation: ApiOperation, transitions: readonly Transition[]): Operation {
  const links: Link[] = []
  let id: string | undefined = operation.id
  let canonical = operation.id
  for (const transition of transitions) {
    id = transition.counterparts.get(canonical)?.id
    // An operation that the next version removed keeps its own form.
    if (id === undefined) break
    links.push({ transition, id: canonical })
    canonical = id
  }
  const rowsOf = (where: ApiParameter['in']) =>
    operation.parameters.filter((each) => each.in === where).map((each) => parameterRow(api, each))
  const body = jsonBody(operation)
  const pointer = body && `${body.place.pointer}/schema`
  const forms = formContents(operation).map(({ media, content }) => ({
    media,
    required: operation.body!.required,
    validate: validatorAt(api, `${content.place.pointer}/schema`),
    pointer: `${content.place.pointer}/schema`,
    fields: formFields(api, content),
    up: upAll(links, ({ transition, id: own }) => transition.forms.get(`${own} ${media}`)),
  }))
  const raw = rawBodies(api, operation).map((content) => ({
    media: essenceOf(content.mediaType),
    required: operation.body!.required,
    validate: validatorAt(api, `${content.place.pointer}/schema`),
    pointer: `${content.place.pointer}/schema`,
  }))
  return {
    id: canonical,
    method: operation.method,
    path: operation.path,
    status: successStatus(operation),
    ...streamRow(api, operation),
    oauth: [],
    extensions: {},
    pathParameters: rowsOf('path'),
    query: rowsOf('query'),
    headers: rowsOf('header'),
    ...(pointer !== undefined && {
      body: { required: operation.body!.required, validate: validatorAt(api, pointer), pointer },
    }),
    ...(forms.length > 0 && { forms }),
    ...(raw.length > 0 && { raw }),
    ...(links.some(({ transition, id }) => transition.requestMoves.has(id))
      ? { upRequest: upRequest(links) }
      : {
          upPath: upParameters('path', links),
          upQuery: upParameters('query', links),
          upHeaders: upParameters('header', links),
          upBody: upBody(api, operation, links),
        }),
    down: downAll(links, ({ transition: { answers, down }, id: own }) => [down, answers.get(own)]),
    downs: downsOf(operation, links),
    downStatus: statusNames(operation, links),
  }
}

function streamRow(api: Api, operation: ApiOperation): Pick<Operation, 'stream'> {
  const stream = streamOf(operation)
  if (!stream?.items) return stream ? { stream: true } : {}
  const { content, framing, items } = stream
  const validate = validatorAt(api, items.items.place.pointer)
  return { stream: { media: essenceOf(content.mediaType), framing, validate } }
}

function parameterRow(api: Api, parameter: ApiParameter): Parameter {
  const { name, required, schema } = parameter
  const { pointer } = schema.place
  const encoding = parameterEncoding(api, parameter)
  return {
    name,
    type: scalarTypes(api, schema)[0]!,
    ...(encoding && { encoding }),
    required,
    set: isSet(parameter),
    validate: validatorAt(api, pointer),
    pointer,
  }
}

const upParameters =
  (part: ParameterPart, links: readonly Link[]): Translate =>
  (values: Readonly<Record<string, unknown>>) =>
    links.reduce(
      (given, { transition, id }) => applyParameters(transition.parameters[part].get(id) ?? [], given),
      values,
    )

const upRequest =
  (links: readonly Link[]): NonNullable<Operation['upRequest']> =>
  (parts) =>
    links.reduce((given, { transition, id }) => requestTranslator(transition, id)(given), parts)

type Functions = ReadonlyMap<string, PairFunction>

const apply = (key: string | undefined, functions: Functions, direction: Direction, value: unknown) =>
  key === undefined ? value : applyRewrite({ kind: 'call', key }, value, { direction, functions })

const upAll =
  (links: readonly Link[], keyOf: (link: Link) => string | undefined): Translate =>
  (value: unknown) =>
    links.reduce<unknown>((given, link) => apply(keyOf(link), link.transition.up, 'up', given), value)

function upBody(api: Api, operation: ApiOperation, links: readonly Link[]): Translate {
  const schema = jsonBody(operation)?.schema
  const batch = schema && validatedArray(api, schema)
  const turn = (keyOf: (link: Link) => string | undefined, value: unknown) =>
    links.reduce((given, link) => apply(keyOf(link), link.transition.up, 'up', given), value)
  return (value: Readonly<Record<string, unknown>>) => {
    if (!batch) return turn(({ transition, id }) => transition.bodies.get(id), value)
    const items = value[batch.property]
    if (!Array.isArray(items)) return value
    const turned = items.map((item) => turn(({ transition, id }) => transition.items.get(id), item))
    return { ...value, [batch.property]: turned }
  }
}

/** Applies the newest transition first. */
const downAll =
  (links: readonly Link[], keyOf: (link: Link) => readonly [Functions, string | undefined]): Translate =>
  (value: unknown) =>
    links.toReversed().reduce<unknown>((given, link) => {
      const [functions, key] = keyOf(link)
      return apply(key, functions, 'down', given)
    }, value)

/** Returns the translations of the responses other than the success response, by their status in this version. */
function downsOf(operation: ApiOperation, links: readonly Link[]): Readonly<Record<string, Translate>> {
  const success = successOf(operation)?.status
  const others = operation.responses.filter(({ status }) => status !== success)
  return Object.fromEntries(
    others.map(({ status }) => {
      const own = new Map<Link, string>()
      let current = status
      for (const link of links) {
        own.set(link, current)
        current = nextStatus(link.transition.statusNames.get(link.id), current)
      }
      const translate = downAll(links, (link) => [
        link.transition.down,
        link.transition.statuses.get(`${link.id} ${own.get(link)}`),
      ])
      return [status, translate]
    }),
  )
}

/** Returns this version's statuses by those of the newest version, if they differ. */
function statusNames(operation: ApiOperation, links: readonly Link[]): Readonly<Record<number, number>> {
  const named = operation.responses.flatMap(({ status }) => {
    const newest = links.reduce(
      (current, { transition, id }) => nextStatus(transition.statusNames.get(id), current),
      status,
    )
    return newest === status ? [] : [[newest, Number(status)] as const]
  })
  return Object.fromEntries(named)
}
