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
import { emitTranslations } from '../../../generators/emit/translations/translations.ts'
import { checkSteps } from '../../../generators/gate/gate.ts'
import { claimSteps } from '../../../generators/gate/steps.ts'
import type { Api } from '../../../generators/ir/model.ts'
import { proveSteps } from '../../../generators/prove/family.ts'
import { refute } from '../../../generators/prove/law.ts'
import { runEmitted } from '../../versions/emitted.ts'

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

/** Returns the generated function that a server calls for a value. */
function boundTo({ apis, translations }: Family, at: string | undefined, direction: 'up' | 'down') {
  const [old] = apis
  const bindings = translations.bindings.get(old.version)!
  const operation = old.operations[0]
  if (!operation || old.events.some(({ name }) => name === at))
    return bindings.downEvent(at ?? old.events[0]!.name)
  if (at === undefined) return direction === 'up' ? bindings.upBody(operation) : bindings.down(operation)
  if (at === 'query') return bindings.upQuery(operation)
  if (at === 'path') return bindings.upPath(operation)
  if (at === 'headers') return bindings.upHeaders(operation)
  return bindings.downs(operation).get(at)
}

test.each(named)('%s', (_, change) => {
  const family = familyOf(change)
  const gate = checkSteps(family.steps, { versions: 'versions', out: 'generated' })
  expect([...gate, ...family.report.diagnostics].map(({ code, message }) => `${code} ${message}`)).toEqual([])
  const emitted = runEmitted(family.translations, family.changes)
  for (const value of change.values)
    for (const direction of directionsOf(change, value)) {
      const [given, wanted] = direction === 'up' ? [value.old, value.new] : [value.new, value.old]
      const translate = emitted.find(boundTo(family, value.at, direction)) ?? String
      expect({ direction, value: json(translate(structuredClone(given))) }).toEqual({
        direction,
        value: wanted,
      })
    }
  const refuted = proveSteps(family.steps).flatMap((law) => refute(law, { runs: RUNS, seed: 1 }) ?? [])
  expect(refuted.map(({ law, code, message }) => `${law.name}: ${code} ${message}`)).toEqual([])
})
