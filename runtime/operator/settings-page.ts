/** `npm run docs:settings` writes `docs/settings.md` from the settings catalog. */
import { writeFileSync } from 'node:fs'
import { SETTING_GROUPS, type SettingEntry } from '../platform/setting-catalog.ts'

const HEAD = `# Settings

The service reads its settings from environment variables when it starts. An empty variable counts as not set.
If a value is invalid, the process does not start and prints every problem. It also refuses a variable that starts with \`SVC_\` and is not a
setting. After a change, restart the processes.

Each secret can also be in a file. For example, \`SVC_PEPPER_FILE=/run/secrets/pepper\` reads \`SVC_PEPPER\` from that file, without the newline at
its end. systemd credentials, Docker secrets and Kubernetes secrets are such files. Set either the variable or the file. [operations/install.md](operations/install.md)
describes which files the service reads again while it runs.

\`npm run docs:settings\` generates this page from \`runtime/platform/setting-catalog.ts\`.
`

function row(name: string, { type, fallback, example, meaning, isSecret }: SettingEntry): string {
  const value = [type, isSecret && 'secret, also as `_FILE`'].filter(Boolean).join('; ')
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
