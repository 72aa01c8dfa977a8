/** Emits the changelog as a module, from which the service describes to callers what changed between versions. */

import type { LoadedChange } from '../../change/load-changes.ts'
import { claimSteps } from '../../gate/steps.ts'
import type { Api, OutputFile } from '../../ir/model.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'
import { CONTRACT } from '../../print/runtime.ts'
import type { ChangeExample } from '../../runtime/contract.ts'
import { type ChangelogEntry, readChangelog } from './changelog.ts'
import type { SampleContext } from './sample.ts'
import { shorten } from './views.ts'

/**
 * Emits `changelog.ts`, or nothing if there are no changes.
 *
 * @param apis all versions, oldest first.
 */
export function emitChangelog(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  context: SampleContext,
): OutputFile[] {
  if (changes.length === 0) return []
  const { releases } = readChangelog(apis, claimSteps(apis, changes), context)
  const file = createFile([])
  const type = file.use('ChangeEntry', CONTRACT, { type: true })
  file.print(
    '/** Changes of each version, oldest first. */',
    `export const changes: readonly ${type}[] = [`,
    releases
      .flatMap((release) => release.changes)
      .map((entry) => printEntry(entry, changes))
      .join(',\n'),
    ']',
  )
  return [{ path: 'changelog.ts', text: file.text().trimEnd().concat('\n') }]
}

function printEntry(entry: ChangelogEntry, changes: readonly LoadedChange[]): string {
  const { version, id, title, why, operations, events, everyEvent } = entry
  const lenses = changes.find((each) => each.version === version && each.id === id)?.lenses ?? []
  const behaviour = lenses.flatMap((lens) => (lens.kind === 'behaviour' ? [lens.name] : []))
  const required = lenses.find((lens) => lens.kind === 'required-header')
  const renamed = lenses.find((lens) => lens.kind === 'renamed-header')
  const members = {
    name: `${version}/${id}`,
    version,
    title,
    why,
    operations,
    events,
    everyEvent,
    ...(behaviour.length > 0 && { behaviour }),
    ...(required && { requiredHeader: required.header }),
    ...(renamed && { renamedHeader: renamed.from }),
    examples: examplesOf(entry),
  }
  const lines = Object.entries(members).map(([name, value]) => `    ${propertyKey(name)}: ${literal(value)}`)
  return `  {\n${lines.join(',\n')}\n  }`
}

/** A change without examples shows the first sample of its use. */
function examplesOf({ examples, samples: [sample] }: ChangelogEntry): ChangeExample[] {
  if (examples.length > 0)
    return examples.map(({ schema, before, after }) => ({
      of: schema,
      before: shorten(before),
      after: shorten(after),
    }))
  const shown = sample?.answer ?? sample?.curl ?? sample?.typescript
  return sample && shown ? [{ of: sample.title, ...shown }] : []
}
