/**
 * The laws of all lenses of a version together: every body fits the new document, every response and event the old
 * one.
 */
import type fc from 'fast-check'
import { counterpartsOf, eventNamesOf, nextStatus, statusesOf } from '../change/align.ts'
import { responseFor } from '../diff/answers.ts'
import type { DeclaredLocation } from '../diff/difference.ts'
import { propertyStep } from '../diff/position.ts'
import { claims } from '../gate/claims.ts'
import { directionsOf } from '../gate/examples.ts'
import type { VersionPair } from '../gate/steps.ts'
import { formBodies, jsonBody, validatedArray } from '../ir/bodies.ts'
import { essenceOf } from '../ir/media-type.ts'
import type { ApiOperation, Schema } from '../ir/model.ts'
import { successOf } from '../ir/operations.ts'
import { applyRewrite } from '../translate/apply.ts'
import { isSite } from '../translate/inline-place.ts'
import type { Direction } from '../translate/model.ts'
import { requestMoves } from '../translate/requests.ts'
import { createStep } from '../translate/step.ts'
import { answerOf, jsonOf, withFixed } from '../translate/transition.ts'
import { arbitrariesOf, type Domains } from '../values/arbitrary.ts'
import { closedMisfit, misfit, sent, type ValidityReader } from '../values/validity.ts'
import { freeze, type Law } from './law.ts'
import { isValid, lensLaws, type Sides } from './lenses.ts'
import { moveLaws } from './moves.ts'
import { parameterLaws } from './parameters.ts'
import { requestLaws } from './requests.ts'

/**
 * Returns the laws between two adjacent versions.
 *
 * @param domains meaningful values by component.
 */
export function lawsOfStep(step: VersionPair, domains: Domains): Law[] {
  const sides = sidesOf(step, domains, closedMisfit)
  return [
    ...lensLaws(sides),
    ...moveLaws(sides),
    ...parameterLaws(sides),
    ...requestLaws(sides),
    ...translationLaws(step, sides),
  ]
}

/** Returns the laws that translated values are valid, for everything that a change of the version affects. */
export function validityLaws(step: VersionPair, domains: Domains): Law[] {
  const sides = sidesOf(step, domains, misfit)
  const untranslated = untranslatedUses(step)
  const changedAt = (isThere: (at: DeclaredLocation) => boolean) => {
    const found = step.claimed.filter(({ difference, by }) => by.length > 0 && isThere(difference.at))
    return new Set(found.flatMap(({ difference }) => difference.uses))
  }
  const [values, parameters] = [changedAt(isSite), changedAt(({ kind }) => kind === 'parameter')]
  const isAbout = (uses: ReadonlySet<string>) => (law: Law) =>
    law.use !== undefined && uses.has(law.use) && !untranslated.has(law.use)
  return [
    ...[...parameterLaws(sides), ...requestLaws(sides)].filter(isAbout(parameters)),
    ...translationLaws(step, sides).filter(isAbout(values)),
  ]
}

/** Returns what the laws between two versions need. */
export function sidesOf(step: VersionPair, domains: Domains, reading: ValidityReader): Sides {
  return {
    ...step,
    travels: directionsOf(step.old, step.next),
    makers: { up: makerOf(step, 'up', domains), down: makerOf(step, 'down', domains) },
    reading,
  }
}

/**
 * Returns a generator of old values to translate up, or new values to translate down. In extensible enumerations,
 * it uses only listed members.
 */
function makerOf(
  { old, next, changes }: VersionPair,
  direction: Direction,
  domains: Domains,
): (schema: Schema) => fc.Arbitrary<unknown> {
  const lenses = changes.flatMap((change) => change.lenses)
  const none = () => undefined
  if (direction === 'up')
    return arbitrariesOf({
      api: old,
      domains,
      hidden: 'readOnly',
      members: none,
      preferred: () => [],
      freed: none,
    })
  return arbitrariesOf({
    api: next,
    domains,
    hidden: 'writeOnly',
    members(component) {
      const [before, now] = [old.schemas.get(component), next.schemas.get(component)]
      if (before?.kind !== 'enum' || now?.kind !== 'enum' || !before.open) return undefined
      if (lenses.some((lens) => lens.kind === 'values' && lens.schemas.includes(component))) return undefined
      return now.values.filter((value) => before.values.includes(value))
    },
    preferred: () => [],
    freed: (component, property) =>
      lenses.flatMap((lens) =>
        lens.kind === 'leave-out' && lens.schemas.includes(component) && lens.property === property
          ? [lens.unless]
          : [],
      )[0],
  })
}

function translationLaws(step: VersionPair, { makers, reading }: Sides): Law[] {
  const { old, next, changes } = step
  const untranslated = untranslatedUses(step)
  const lenses = changes.flatMap((change) => change.lenses)
  const counterparts = counterpartsOf(old, next, lenses)
  const statusNames = statusesOf(old, counterparts, lenses)
  const steps = { up: createStep('up', old, next, changes), down: createStep('down', old, next, changes) }
  const laws = new Map<string, Law>()
  const add = (
    name: string,
    direction: Direction,
    before: Schema | undefined,
    after: Schema | undefined,
    at: string,
    use: string,
    operation?: ApiOperation,
  ) => {
    if (!before || !after) return
    const [from, to] = direction === 'up' ? [before, after] : [after, before]
    const [given, api] = direction === 'up' ? [old, next] : [next, old]
    const paired = steps[direction].pair(before, after, at)
    const rewrite = operation ? withFixed(paired, operation, steps[direction]) : paired
    const key = rewrite.kind === 'call' ? `${direction} ${rewrite.key}` : name
    if (laws.has(key)) return
    laws.set(key, {
      name: `${next.version} ${name} ${direction}`,
      use,
      values: makers[direction](from),
      fits: (value) => isValid(given, from, value, direction),
      check(value) {
        const by = { direction, functions: steps[direction].functions }
        const found = reading(
          api,
          to,
          sent(applyRewrite(rewrite, freeze(structuredClone(value)), by)),
          direction,
        )
        if (!found) return undefined
        const message = `${found.field || 'the value'} ${found.issue}`
        return { code: 'proof-mismatch', message, place: found.place }
      },
    })
  }
  for (const operation of old.operations) {
    const now = counterparts.get(operation.id)
    if (!now || untranslated.has(now.id)) continue
    const nowOf = (status: string) => nextStatus(statusNames.get(operation.id), status)
    const [body, nextBody] = [jsonBody(operation)?.schema, jsonBody(now)?.schema]
    const [item, nextItem] = [body && validatedArray(old, body), nextBody && validatedArray(next, nextBody)]
    // Values that move are proven with the whole request.
    if (requestMoves(operation, now, steps.up).length === 0)
      add(`${operation.id} body`, 'up', body, nextBody, `${now.id} body`, now.id, operation)
    if (item && nextItem) {
      const at = `${now.id} body${propertyStep(nextItem.property)}[]`
      add(`${operation.id} item`, 'up', item.items, nextItem.items, at, now.id)
    }
    for (const { schema, mediaType } of formBodies(operation)) {
      const form = formBodies(now).find((each) => essenceOf(each.mediaType) === essenceOf(mediaType))
      add(`${operation.id} ${essenceOf(mediaType)}`, 'up', schema, form?.schema, `${now.id} body`, now.id)
    }
    const success = successOf(operation)?.status
    const answer = `${now.id} ${success && nowOf(success)}`
    add(`${operation.id} answer`, 'down', answerOf(operation), answerOf(now), answer, now.id)
    for (const { status } of operation.responses) {
      const [one, other] = [responseFor(operation, status), responseFor(now, nowOf(status))]
      if (status !== success)
        add(
          `${operation.id} ${status}`,
          'down',
          one && jsonOf(one),
          other && jsonOf(other),
          `${now.id} ${nowOf(status)}`,
          now.id,
        )
    }
  }
  const eventNames = eventNamesOf(next, lenses)
  for (const { name, payload } of next.events) {
    const before = old.events.find((event) => event.name === (eventNames.get(name) ?? name))
    if (!untranslated.has(name))
      add(name, 'down', before?.payload?.schema, payload?.schema, `event ${name}`, name)
  }
  return [...laws.values()]
}

/** Returns operations and events with a breaking difference that is accepted or unclaimed. */
function untranslatedUses({ claimed }: VersionPair): Set<string> {
  const open = claimed.filter(
    ({ difference, by }) =>
      difference.class !== 'additive' &&
      by.every(({ lenses }) => lenses.every((lens) => lens.kind === 'accept' || !claims(lens, difference))),
  )
  return new Set(open.flatMap(({ difference }) => difference.uses))
}
