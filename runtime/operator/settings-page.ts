/** `npm run docs:settings` writes `docs/settings.md` from the settings catalog. */
import { writeFileSync } from 'node:fs'
import { SETTING_GROUPS, type SettingEntry } from '../platform/setting-catalog.ts'

const HEAD = `# Settings

The service reads its settings from environment variables when it starts. An empty variable counts as not set.
If a value is invalid, the process does not start and prints every problem. After a change, restart the processes.

\`npm run docs:settings\` generates this page from \`runtime/platform/setting-catalog.ts\`.
`

function row(name: string, { type, fallback, example, meaning, isSecret }: SettingEntry): string {
  const value = [type, isSecret && 'secret'].filter(Boolean).join('; ')
  const shown = fallback === undefined ? '' : `\`${fallback}\``
  return `| \`${name}\` | ${value} | ${shown} | \`${example}\` | ${meaning} |`
}

/** Returns the page in Markdown, with a table for each group. */
export function renderSettings(): string {
  const groups = Object.entries(SETTING_GROUPS).map(([title, entries]) =>
    [
      `\n## ${title}\n`,
      '| variable | value | default | example | meaning |',
      '|---|---|---|---|---|',
      ...Object.entries<SettingEntry>(entries).map(([name, entry]) => row(name, entry)),
    ].join('\n'),
  )
  return `${HEAD}${groups.join('\n')}\n`
}

if (import.meta.main) writeFileSync('docs/settings.md', renderSettings())
