/**
 * Witnesses of differences that a document states outside its schemas: operations, parameters, media types, statuses,
 * access and limits.
 */
import type { Difference, DifferenceCode } from '../diff/difference.ts'
import type { ApiOperation } from '../ir/model.ts'
import {
  type Form,
  fill,
  formsOf,
  leaveOut,
  put,
  type Slot,
  schemaIn,
  slotsOf,
  type WitnessMessage,
} from './message.ts'
import type { JudgedPair, Witness } from './proof.ts'
import { type Maker, NOTHING, simplest } from './simplest.ts'

/** Who sends the message that shows the difference, and what the other version does with it. */
interface Statement {
  readonly by: 'old' | 'new'
  /** Returns the message, or undefined if it cannot be made. */
  make(stage: Stage): WitnessMessage | undefined
  reason(difference: Difference): string
}

/** One version, and where the difference is in it. */
interface Stage {
  readonly maker: Maker
  readonly form: Form
  readonly difference: Difference
}

type FindSlot = (stage: Stage) => Slot | undefined

const base = ({ maker, form }: Stage): WitnessMessage | undefined => fill(maker, form)

/** Makes the message with a value in a slot. */
const including =
  (find: FindSlot): Statement['make'] =>
  (stage) => {
    const [message, slot] = [base(stage), find(stage)]
    const value = slot && simplest(stage.maker, schemaIn(slot))
    return message && slot && value !== NOTHING ? put(message, slot, value) : undefined
  }

/** Makes the message without what is in a slot. */
const omitting =
  (find: FindSlot): Statement['make'] =>
  (stage) => {
    const [message, slot] = [base(stage), find(stage)]
    return message && slot ? leaveOut(message, slot) : message
  }

/** Finds the parameter or header of the difference. */
const named: FindSlot = ({ form, difference: { at } }) => {
  if (!('name' in at)) return undefined
  const name = at.name.toLowerCase()
  return slotsOf(form).find(
    (slot) =>
      slot.kind === 'parameter' &&
      slot.parameter.name.toLowerCase() === name &&
      (at.kind !== 'parameter' || slot.parameter.in === at.in),
  )
}

const body: FindSlot = ({ form }) => slotsOf(form).find((slot) => slot.kind === 'body')

/** Finds the body with the media type that only one version has. */
const mediaType: FindSlot = ({ form, difference }) =>
  slotsOf(form).find(
    (slot) => slot.kind === 'body' && difference.message.startsWith(`${slot.content.mediaType} `),
  )

const said = ({ message }: Difference): string => `differs: ${message}`
const nameIn = ({ at }: Difference): string =>
  at.kind === 'parameter' ? `the ${at.in} parameter ${at.name}` : 'name' in at ? `the header ${at.name}` : ''

const STATEMENTS: Readonly<Partial<Record<DifferenceCode, Statement>>> = {
  'operation-removed': { by: 'old', make: base, reason: () => 'has no such operation' },
  'path-changed': { by: 'old', make: base, reason: () => 'has no such operation' },
  'method-changed': { by: 'old', make: base, reason: () => 'has no such operation' },
  'server-removed': { by: 'old', make: base, reason: said },
  'parameter-added-required': {
    by: 'old',
    make: base,
    reason: (difference) => `refuses it: ${nameIn(difference)} is required`,
  },
  'parameter-required': {
    by: 'old',
    make: omitting(named),
    reason: (difference) => `refuses it: ${nameIn(difference)} is required`,
  },
  'parameter-removed': {
    by: 'old',
    make: including(named),
    reason: (difference) => `does not know ${nameIn(difference)}`,
  },
  'body-added-required': { by: 'old', make: base, reason: () => 'refuses it: a body is required' },
  'body-required': { by: 'old', make: omitting(body), reason: () => 'refuses it: a body is required' },
  'body-removed': { by: 'old', make: including(body), reason: () => 'reads no body' },
  'content-type-removed': {
    by: 'old',
    make: including(mediaType),
    reason: ({ breaks }) =>
      breaks.includes('request') ? 'refuses its media type' : 'never sends its media type',
  },
  'status-added': { by: 'new', make: base, reason: () => 'does not know the status' },
  'status-removed': { by: 'old', make: base, reason: () => 'never sends the status' },
  'header-optional': {
    by: 'new',
    make: omitting(named),
    reason: (difference) => `expects ${nameIn(difference)}`,
  },
  'header-removed': {
    by: 'old',
    make: including(named),
    reason: (difference) => `does not send ${nameIn(difference)}`,
  },
  'event-removed': { by: 'old', make: base, reason: () => 'does not send the event' },
  'payload-removed': { by: 'old', make: including(body), reason: () => 'sends no payload' },
  'payload-optional': { by: 'new', make: omitting(body), reason: () => 'expects a payload' },
  'callback-url-changed': { by: 'old', make: base, reason: said },
  'default-removed': { by: 'old', make: base, reason: said },
  'default-changed': { by: 'old', make: base, reason: said },
  'filter-changed': { by: 'old', make: including(named), reason: said },
  'encoding-changed': { by: 'old', make: including(body), reason: said },
  'items-checked-changed': { by: 'old', make: including(body), reason: said },
  'security-tightened': { by: 'old', make: base, reason: said },
  'security-scheme-changed': { by: 'old', make: base, reason: said },
  'security-scheme-removed': { by: 'old', make: base, reason: said },
  'requirement-tightened': { by: 'old', make: base, reason: said },
  'limit-changed': { by: 'old', make: base, reason: said },
  'pagination-changed': { by: 'old', make: base, reason: said },
  'stability-lowered': { by: 'old', make: base, reason: said },
}

/** Returns whether the difference is stated outside schemas. */
export const isStated = ({ code }: Difference): boolean => code in STATEMENTS

/** Returns the witness, or undefined if no message can be made. */
export function stateDifference(pair: JudgedPair, difference: Difference): Witness | undefined {
  const statement = STATEMENTS[difference.code]!
  const [by, against] = statement.by === 'old' ? [pair.old, pair.next] : [pair.next, pair.old]
  const direction = difference.breaks[0]!
  for (const use of usesOf(pair, difference)) {
    const isFormer = statement.by === 'old' && difference.code !== 'operation-removed'
    const id = isFormer ? (pair.formerId.get(use) ?? use) : use
    for (const form of formsOf(by, id, direction).filter((each) => isAt(each, difference))) {
      const maker = pair.makerOf(by, direction === 'request' ? 'readOnly' : 'writeOnly')
      const message = statement.make({ maker, form, difference })
      if (message) return { message, by, against, focus: [], reason: statement.reason(difference) }
    }
  }
  return undefined
}

/** A change of a server or a security scheme has no use of its own: the operations that use it show it. */
function usesOf({ old }: JudgedPair, { at, uses }: Difference): readonly string[] {
  if (at.kind === 'servers' && uses.length === 0) return old.operations.map(({ id }) => id)
  if (at.kind !== 'security-scheme') return uses
  const needs = ({ security }: ApiOperation) => security.some((each) => Object.hasOwn(each, at.name))
  return old.operations.filter(needs).map(({ id }) => id)
}

/** Returns whether a form is the answer or event that the difference is about. */
function isAt({ message }: Form, { at }: Difference): boolean {
  if ('status' in at) return message.status === undefined || sameStatus(message.status, at.status)
  if ('event' in at) return message.event !== undefined && at.event.endsWith(message.event)
  return true
}

const sameStatus = (a: string, b: string): boolean => a.toUpperCase() === b.toUpperCase()
