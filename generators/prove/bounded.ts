/**
 * The proof that is part of the gate. For everything that a change affects, it translates a few fixed values and
 * validates the results against the other version's document. `dateline prove` searches further.
 */
import type { LoadedChange } from '../change/load-changes.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import { formatLocation } from '../diff/difference.ts'
import type { VersionPair } from '../gate/steps.ts'
import type { Domains } from '../values/arbitrary.ts'
import { type Refutation, refute } from './law.ts'
import { told } from './lenses.ts'
import { validityLaws } from './steps.ts'

/** Number of values for each body, response and event. */
const RUNS = 24
const SEED = 20260101

/** Returns a finding for each translation with an invalid result, with the smallest value that shows it. */
export function proveValidity(step: VersionPair, domains: Domains): Diagnostic[] {
  const told = new Set<string>()
  return validityLaws(step, domains).flatMap((law) => {
    const found = refute(law, { runs: RUNS, seed: SEED })
    if (!found || !/^proof-(mismatch|throws)$/.test(found.code)) return []
    const key = `${found.place?.pointer ?? law.name} ${found.message}`
    if (told.has(key)) return []
    told.add(key)
    return [invalid(found, step)]
  })
}

function invalid({ law, code, message, place, counterexample }: Refutation, step: VersionPair): Diagnostic {
  const changes = changesAt(step, law.use ?? '', message)
  const [first] = changes
  return {
    code,
    severity: 'error',
    message: `${law.name}, translated by ${changes.map(({ id }) => id).join(' and ')}: ${message}; example: ${told(counterexample)}`,
    ...(first && { place: { file: first.file, line: 1, column: 1, pointer: '' } }),
    ...(place && { other: place }),
    hint: 'correct the lens so that the result is valid in that version; run `dateline prove` to search further',
  }
}

/**
 * Returns the changes that claim a difference in an operation or event; only those about the invalid field, if
 * there are any.
 */
function changesAt({ claimed }: VersionPair, use: string, message: string): readonly LoadedChange[] {
  const [field = ''] = message.split(' ')
  const name = field.split(/[.[\]]/).findLast((each) => /\D/.test(each)) ?? ''
  const here = claimed.filter(({ difference, by }) => by.length > 0 && difference.uses.includes(use))
  const isNamed = ({ difference }: (typeof here)[number]) =>
    name !== '' &&
    formatLocation(difference.at)
      .split(/[ .[\]{}]/)
      .includes(name)
  const named = here.filter(isNamed)
  return [...new Set((named.length > 0 ? named : here).flatMap(({ by }) => by))]
}
