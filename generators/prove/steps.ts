/** What the lenses of a step make together: every body fits the new document, every answer and event the old one. */
import type fc from 'fast-check'
import { counterpartsOf, nextStatus, statusesOf } from '../change/align.ts'
import { responseFor } from '../diff/answers.ts'
import { directionsOf } from '../gate/examples.ts'
import type { Step } from '../gate/steps.ts'
import { jsonBody } from '../ir/bodies.ts'
import type { Api, Schema } from '../ir/model.ts'
import { successOf } from '../ir/operations.ts'
import { applyRewrite } from '../translate/apply.ts'
import type { Direction } from '../translate/model.ts'
import { createStep } from '../translate/step.ts'
import { answerOf, jsonOf } from '../translate/transition.ts'
import { arbitrariesOf, type Domains } from './arbitrary.ts'
import { mismatch } from './closed-reading.ts'
import { freeze, type Law } from './law.ts'
import { lensLaws, type Sides } from './lenses.ts'
import { moveLaws } from './moves.ts'
import { parameterLaws } from './parameters.ts'

/** @param domains values that mean something, by component. @returns everything that must hold between two adjacent versions. */
export function lawsOfStep(step: Step, domains: Domains): Law[] {
  const sides: Sides = {
    ...step,
    travels: directionsOf(step.old, step.next),
    makers: { up: makerOf(step, 'up', domains), down: makerOf(step, 'down', domains) },
  }
  return [...lensLaws(sides), ...moveLaws(sides), ...parameterLaws(sides), ...translationLaws(step, sides)]
}

/** Old values to go up, new ones to come down: of an enumeration that may grow, the members that are told to readers. */
function makerOf(
  { old, next, changes }: Step,
  direction: Direction,
  domains: Domains,
): (schema: Schema) => fc.Arbitrary<unknown> {
  const lenses = changes.flatMap((change) => change.lenses)
  const none = () => undefined
  if (direction === 'up')
    return arbitrariesOf({ api: old, domains, members: none, preferred: () => [], freed: none })
  return arbitrariesOf({
    api: next,
    domains,
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

function translationLaws(step: Step, { makers }: Sides): Law[] {
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
  ) => {
    if (!before || !after) return
    const [from, to, api] = direction === 'up' ? [before, after, next] : [after, before, old]
    const rewrite = steps[direction].pair(before, after, at)
    const key = rewrite.kind === 'call' ? `${direction} ${rewrite.key}` : name
    if (laws.has(key)) return
    laws.set(key, {
      name: `${next.version} ${name} ${direction}`,
      values: makers[direction](from),
      check: (value) =>
        checkTranslation(value, api, to, (given) =>
          applyRewrite(rewrite, given, { direction, functions: steps[direction].functions }),
        ),
    })
  }
  for (const operation of old.operations) {
    const now = counterparts.get(operation.id)
    if (!now || untranslated.has(now.id)) continue
    const nowOf = (status: string) => nextStatus(statusNames.get(operation.id), status)
    const [body, nextBody] = [jsonBody(operation)?.schema, jsonBody(now)?.schema]
    add(`${operation.id} body`, 'up', body, nextBody, `${now.id} body`)
    const success = successOf(operation)?.status
    const answer = `${now.id} ${success && nowOf(success)}`
    add(`${operation.id} answer`, 'down', answerOf(operation), answerOf(now), answer)
    for (const { status } of operation.responses) {
      const [one, other] = [responseFor(operation, status), responseFor(now, nowOf(status))]
      if (status !== success)
        add(
          `${operation.id} ${status}`,
          'down',
          one && jsonOf(one),
          other && jsonOf(other),
          `${now.id} ${nowOf(status)}`,
        )
    }
  }
  for (const event of old.events) {
    const now = next.events.find(({ name }) => name === event.name)
    if (!untranslated.has(event.name))
      add(event.name, 'down', event.payload?.schema, now?.payload?.schema, `event ${event.name}`)
  }
  return [...laws.values()]
}

/** Operations and events with a difference that is accepted as it is, or that nobody accounts for. */
function untranslatedUses({ claimed }: Step): Set<string> {
  const open = claimed.filter(
    ({ difference, by }) =>
      difference.class === 'breaking' &&
      by.every(({ lenses }) =>
        lenses.every((lens) => lens.kind === 'accept' && lens.code === difference.code),
      ),
  )
  return new Set(open.flatMap(({ difference }) => difference.uses))
}

function checkTranslation(
  value: unknown,
  api: Api,
  schema: Schema,
  translate: (value: unknown) => unknown,
): ReturnType<Law['check']> {
  const translated: unknown = translate(freeze(structuredClone(value)))
  const found = mismatch(api, schema, JSON.parse(JSON.stringify(translated)))
  if (!found) return undefined
  return {
    code: 'proof-mismatch',
    message: `${found.field || 'the value'} ${found.issue}`,
    place: found.place,
  }
}
