/**
 * Breaking changes of real APIs, each as a family of two versions: the gate accepts the lenses, the translations as they are
 * generated carry the values both ways, and the proof finds nothing. `lenses.test.ts` compiles the lenses.
 */
import { expect, test } from 'vitest'
import { REAL_CHANGES } from '../../../docs/toolkit/build/real-changes/all.ts'
import {
  type CarriedChange,
  directionsOf,
  isCarried,
} from '../../../docs/toolkit/build/real-changes/real-change.ts'
import { documentsOf } from '../../../docs/toolkit/build/run-example.ts'
import { evaluateLenses, readDocument } from '../../../docs/toolkit/playground/compare.ts'
import type { LoadedChange } from '../../../generators/change/load-changes.ts'
import { createReport } from '../../../generators/diagnostics/diagnostic.ts'
import { type BoundFunction, emitTranslations } from '../../../generators/emit/translations/translations.ts'
import { checkSteps } from '../../../generators/gate/gate.ts'
import { claimSteps } from '../../../generators/gate/steps.ts'
import type { Api } from '../../../generators/ir/model.ts'
import { proveSteps } from '../../../generators/prove/family.ts'
import { refute } from '../../../generators/prove/law.ts'
import { runEmitted, type Translate } from '../../versions/emitted.ts'

const carried = REAL_CHANGES.filter(isCarried)
const named = carried.map((change) => [`${change.vendor} ${change.date}: ${change.what}`, change] as const)

/** Runs of each law: the laws of a lens are simple, and the search starts with the extremes. */
const RUNS = 40

function apisOf(change: CarriedChange): readonly [Api, Api] {
  const read = (text: string): Api => {
    const { api, findings } = readDocument({ file: 'api.yaml', text })
    if (!api || findings.length > 0)
      throw new Error(`${findings.map(({ message }) => message).join('\n')}\n${text}`)
    return api
  }
  const [old, next] = documentsOf(change)
  return [read(old), read(next)]
}

type Family = ReturnType<typeof familyOf>

function familyOf(change: CarriedChange) {
  const apis = apisOf(change)
  const { version } = apis[1]
  const changes: LoadedChange[] = [
    {
      id: 'change',
      why: change.what,
      version,
      file: `versions/${version}/change.ts`,
      lenses: evaluateLenses(change.lens),
    },
  ]
  const report = createReport()
  const translations = emitTranslations(apis, changes, report, 'generated')
  return { apis, changes, report, translations, steps: claimSteps(apis, changes) }
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown

/** Returns what a server of the family does with a value. */
function translatorOf(family: Family, at: string | undefined): Readonly<Record<'up' | 'down', Translate>> {
  const [old, next] = family.apis
  const emitted = runEmitted(family.translations, family.changes)
  const bindings = family.translations.bindings.get(old.version)!
  const same: Translate = (value) => value
  const find = (bound: BoundFunction | undefined): Translate => emitted.find(bound) ?? same
  const operation = old.operations[0]
  if (at === 'event') return { up: same, down: (name) => bindings.eventNames.get(name) }
  if (!operation || next.events.some(({ name }) => name === at))
    return { up: same, down: find(bindings.downEvent(at ?? next.events[0]!.name)) }
  switch (at) {
    case undefined:
      return { up: find(bindings.upBody(operation)), down: find(bindings.down(operation)) }
    case 'operation':
      return { up: (id) => (id === operation.id ? bindings.canonicalId(operation) : id), down: same }
    case 'request':
      return { up: find(bindings.upRequest(operation)), down: same }
    case 'query':
      return { up: find(bindings.upQuery(operation)), down: same }
    case 'path':
      return { up: find(bindings.upPath(operation)), down: same }
    case 'headers':
      return { up: find(bindings.upHeaders(operation)), down: same }
    case 'status':
      return {
        up: same,
        down: (status) => Number(bindings.statusNames(operation).get(String(status)) ?? status),
      }
    default:
      return { up: same, down: find(bindings.downs(operation).get(at)) }
  }
}

test.each(named)('%s', (_, change) => {
  const family = familyOf(change)
  const gate = checkSteps(family.steps, { versions: 'versions', out: 'generated' })
  expect([...gate, ...family.report.diagnostics].map(({ code, message }) => `${code} ${message}`)).toEqual([])
  for (const value of change.values)
    for (const direction of directionsOf(change, value)) {
      const [given, wanted] = direction === 'up' ? [value.old, value.new] : [value.new, value.old]
      const translated = translatorOf(family, value.at)[direction](structuredClone(given))
      expect({ direction, value: json(translated) }).toEqual({ direction, value: wanted })
    }
  const refuted = proveSteps(family.steps).flatMap((law) => refute(law, { runs: RUNS, seed: 1 }) ?? [])
  expect(refuted.map(({ law, code, message }) => `${law.name}: ${code} ${message}`)).toEqual([])
})
