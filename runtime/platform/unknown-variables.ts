/** Finds misspelled settings among the environment variables. */
import { findNearest } from 'dateline/runtime/nearest'
import { fileVariable } from './secret-files.ts'
import { isSecret, SETTING_NAMES } from './setting-catalog.ts'
import type { SettingProblem } from './setting-readers.ts'

/** Variables of the `svc` command, which a developer may have set in the same shell. */
const OF_THE_CLIENT = [
  ...['SVC_API_KEY', 'SVC_PROFILE', 'SVC_BASE_URL', 'SVC_AUTH_URL', 'SVC_WEBHOOK_SECRET'],
  ...['SVC_LIVE_API_KEY', 'SVC_LIVE_BASE_URL'],
]

const KNOWN: ReadonlySet<string> = new Set([
  ...SETTING_NAMES,
  ...SETTING_NAMES.filter(isSecret).map(fileVariable),
  ...OF_THE_CLIENT,
])

/** Returns a problem for each set variable that starts with `SVC_` and is not a setting. */
export function findUnknown(env: Readonly<Record<string, unknown>>): readonly SettingProblem[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !KNOWN.has(name) && env[name])
    .map((variable) => ({ variable, problem: `is not a setting: ${adviceFor(variable)}` }))
}

function adviceFor(variable: string): string {
  const setting = variable.replace(/_FILE$/, '')
  if (KNOWN.has(setting)) return `only a secret can be in a file, so set ${setting}`
  const nearest = findNearest(variable, KNOWN)
  return nearest === undefined ? 'unset it, or see docs/settings.md' : `do you mean ${nearest}?`
}
