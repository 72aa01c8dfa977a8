/** The gate's proof of validity. What was proven once is known by the hash of everything that it was proven of. */
import { hashFile, hashOf, openCache, toolkitHash } from '../cache/cache.ts'
import type { VersionPair } from '../gate/steps.ts'
import { hashModules } from './inputs.ts'
import type { CommandRun } from './run.ts'

/** Adds each translation whose result is not valid to the report. @param steps oldest first. */
export async function proveSteps(
  { report, terminal }: CommandRun,
  steps: readonly VersionPair[],
): Promise<void> {
  const cache = openCache()
  const values = JSON.stringify(steps.flatMap((step) => step.changes.map((change) => change.values ?? {})))
  for (const step of steps.filter(({ changes }) => changes.length > 0)) {
    const key = keyOf(step, values)
    if (key !== undefined && cache.read(key) !== undefined) continue
    terminal.status?.(`translating values between ${step.old.version} and ${step.next.version}`)
    const [{ proveValidity }, { domainsOf }] = await Promise.all([
      import('../prove/bounded.ts'),
      import('../prove/family.ts'),
    ])
    const found = proveValidity(step, domainsOf(steps))
    for (const diagnostic of found) report.add(diagnostic)
    if (found.length === 0 && key !== undefined) cache.write(key, '')
  }
}

/** @returns undefined where a change may read more than its text tells. */
function keyOf({ old, next, changes }: VersionPair, values: string): string | undefined {
  const modules = hashModules(changes.map(({ file }) => file))
  if (modules === undefined) return undefined
  const documents = [old.file, next.file].map((file) => hashFile(file) ?? 'no file')
  return `valid-${hashOf(toolkitHash(), ...documents, modules, values)}`
}
