/** The gate's proof that translated values are valid. Results are cached by the hash of all inputs. */
import { hashFile, hashOf, openCache, toolkitHash } from '../cache/cache.ts'
import type { VersionPair } from '../gate/steps.ts'
import { hashModules } from './inputs.ts'
import type { CommandRun } from './run.ts'

/**
 * Reports each translation whose result is not valid.
 *
 * @param steps oldest first.
 */
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

/** Returns the cache key, or undefined if a change may read something that its text does not show. */
function keyOf({ old, next, changes }: VersionPair, values: string): string | undefined {
  const modules = hashModules(changes.map(({ file }) => file))
  if (modules === undefined) return undefined
  const documents = [old.file, next.file].map((file) => hashFile(file) ?? 'no file')
  return `valid-${hashOf(toolkitHash(), ...documents, modules, values)}`
}
