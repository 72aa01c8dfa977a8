/** Messages as witnesses: a request, an answer or an event, with the least that its version requires. */
import { sameName } from '../change/align.ts'
import { essenceOf } from '../ir/media-type.ts'
import type { Api, ApiContent, ApiOperation, ApiParameter, EventType, Response } from '../ir/model.ts'
import { type Maker, NOTHING, simplest } from './simplest.ts'

/** A request, an answer to one, or an event that a version of the API accepts. */
export interface WitnessMessage {
  readonly kind: 'request' | 'answer' | 'event'
  /** The operation that is called or answers; the event's name if it is no callback. */
  readonly operation?: ApiOperation
  readonly event?: string
  /** Values by the parameters of a request, or the headers of an answer or event. */
  readonly values: ReadonlyMap<ApiParameter, unknown>
  readonly status?: string
  /** The media type of the body; absent if there is no body. */
  readonly mediaType?: string
  readonly body?: unknown
}

/** A place in a message whose value has a schema: a parameter, a header, or the body. */
export type Slot =
  | { readonly kind: 'parameter'; readonly parameter: ApiParameter }
  | { readonly kind: 'body'; readonly content: ApiContent }

/** A message that can be filled: its slots, and what it must contain. */
export interface Form {
  readonly message: Pick<WitnessMessage, 'kind' | 'operation' | 'event' | 'status'>
  readonly parameters: readonly ApiParameter[]
  readonly contents: readonly ApiContent[]
  readonly needsBody: boolean
}

export const slotsOf = ({ parameters, contents }: Form): Slot[] => [
  ...contents.map((content): Slot => ({ kind: 'body', content })),
  ...parameters.map((parameter): Slot => ({ kind: 'parameter', parameter })),
]

export const schemaIn = (slot: Slot) => (slot.kind === 'body' ? slot.content.schema : slot.parameter.schema)

const requestForm = (operation: ApiOperation): Form => ({
  message: { kind: 'request', operation },
  parameters: operation.parameters,
  contents: operation.body?.contents ?? [],
  needsBody: operation.body?.required ?? false,
})

const answerForm = (operation: ApiOperation, response: Response): Form => ({
  message: { kind: 'answer', operation, status: response.status },
  parameters: response.headers,
  contents: response.contents,
  needsBody: response.contents.length > 0,
})

const eventForm = (event: EventType, operation?: ApiOperation): Form => ({
  message: { kind: 'event', event: event.name, ...(operation && { operation }) },
  parameters: event.headers,
  contents: event.body?.contents ?? [],
  needsBody: event.body !== undefined,
})

/** Returns a message with what its form requires, or undefined if a required value cannot be made. */
export function fill(maker: Maker, form: Form): WitnessMessage | undefined {
  const required = form.parameters.filter((each) => each.required)
  const values = new Map(required.map((each) => [each, simplest(maker, each.schema)]))
  const message = { ...form.message, values }
  const [content] = form.needsBody ? form.contents : []
  const body = content && simplest(maker, content.schema)
  if (body === NOTHING || [...values.values()].includes(NOTHING)) return undefined
  return content ? { ...message, mediaType: content.mediaType, body } : message
}

/** Returns the message with a value in a slot. */
export function put(message: WitnessMessage, slot: Slot, value: unknown): WitnessMessage {
  if (slot.kind === 'body') return { ...message, mediaType: slot.content.mediaType, body: value }
  return { ...message, values: new Map([...message.values, [slot.parameter, value]]) }
}

export function leaveOut(message: WitnessMessage, slot: Slot): WitnessMessage {
  if (slot.kind === 'body') {
    const { body: _, mediaType: __, ...rest } = message
    return rest
  }
  return { ...message, values: new Map([...message.values].filter(([each]) => each !== slot.parameter)) }
}

/** Returns the forms of the messages that an operation or event has in a direction. */
export function formsOf(api: Api, use: string, direction: 'request' | 'response'): Form[] {
  const operation = api.operations.find((each) => each.id === use)
  if (operation && direction === 'request') return [requestForm(operation)]
  if (operation)
    return [
      ...operation.responses.map((response) => answerForm(operation, response)),
      ...operation.callbacks.map((callback) => eventForm(callback, operation)),
    ]
  return api.events.filter((each) => each.name === use).map((event) => eventForm(event))
}

/** Returns whether two forms describe the same message. Operations are paired by the differ. */
export function isSameMessage(a: Form, b: Form): boolean {
  if (a.message.kind !== b.message.kind || a.message.event !== b.message.event) return false
  const [one, other] = [a.message.status ?? '', b.message.status ?? ''].map((each) => each.toUpperCase())
  const isWithin = (status: string, range: string) =>
    range === status || range === 'DEFAULT' || (range.endsWith('XX') && range[0] === status[0])
  return isWithin(one!, other!) || isWithin(other!, one!)
}

/** Returns a status that both forms describe: the exact one, or one in the range. */
export function commonStatus(a: Form, b: Form): string | undefined {
  const all = [a.message.status, b.message.status].filter((each) => each !== undefined)
  const exact = all.find((each) => /^\d{3}$/.test(each))
  const range = all.find((each) => /^\dXX$/i.test(each))
  return exact ?? (range === undefined ? all[0] : `${range[0]}00`)
}

const isInRange = (type: string, range: string): boolean =>
  range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))

/** Returns the slot of another form that holds the same part of the message. */
export function counterpartOf(slot: Slot, form: Form): Slot | undefined {
  const slots = slotsOf(form)
  if (slot.kind === 'body') {
    const bodies = slots.filter((each) => each.kind === 'body')
    const typeOf = (each: { readonly content: ApiContent }) => essenceOf(each.content.mediaType)
    return (
      bodies.find((each) => typeOf(each) === typeOf(slot)) ??
      bodies.find((each) => isInRange(typeOf(slot), typeOf(each)) || isInRange(typeOf(each), typeOf(slot)))
    )
  }
  const { parameter } = slot
  return slots.find(
    (each) =>
      each.kind === 'parameter' &&
      each.parameter.in === parameter.in &&
      sameName(parameter.in, each.parameter.name, parameter.name),
  )
}
