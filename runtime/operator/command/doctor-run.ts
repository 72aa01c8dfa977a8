import { parseArgs } from 'node:util'
import { messageOf } from '../../database/errors.ts'
import { readSettings, SettingsError } from '../../platform/settings.ts'
import { examine } from '../doctor/examine.ts'
import { type Finding, fail, renderFindings } from '../doctor/finding.ts'
import { checkSecretFiles } from '../doctor/secret-files.ts'
import type { CommandSurroundings } from './surroundings.ts'

/** Exit codes: 1 if a check fails, 2 if the settings or options are invalid. */
const FAILED = 1
const MISUSED = 2

const USAGE = `Usage: npm run --silent doctor -- [--role api|worker|console|network|reveal]… [--json]

Checks everything that the service depends on, with the same settings. Changes nothing.
`

function readWords(words: readonly string[]) {
  return parseArgs({
    args: [...words],
    options: {
      role: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values
}

async function diagnose(
  env: NodeJS.ProcessEnv,
  roles: readonly string[],
): Promise<{ findings: readonly Finding[]; code: number }> {
  try {
    const settings = readSettings(env, { roles })
    const findings = [...(await examine(settings)), ...checkSecretFiles(env)]
    return { findings, code: findings.some(({ verdict }) => verdict === 'fail') ? FAILED : 0 }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const findings = error.problems.map(({ variable, problem }) =>
      fail('settings', `${variable}: ${problem}`),
    )
    return { findings, code: MISUSED }
  }
}

/** Runs a command line and returns its exit code. */
export async function runDoctor(
  words: readonly string[],
  { env, print, say }: CommandSurroundings,
): Promise<number> {
  let given: ReturnType<typeof readWords>
  try {
    given = readWords(words)
  } catch (error) {
    say(`error: ${messageOf(error)}\n\n${USAGE.trimEnd()}`)
    return MISUSED
  }
  if (given.help) {
    print(USAGE)
    return 0
  }
  const { findings, code } = await diagnose(env, given.role)
  print(given.json ? `${JSON.stringify({ findings })}\n` : renderFindings(findings))
  return code
}
