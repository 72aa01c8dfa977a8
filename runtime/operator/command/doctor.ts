import { parseArgs } from 'node:util'
import { messageOf } from '../../database/errors.ts'
import { readSettings, SettingsError } from '../../platform/settings.ts'
import { examine } from '../doctor/examine.ts'
import { type Finding, fail, renderFindings } from '../doctor/finding.ts'
import { checkSecretFiles } from '../doctor/secret-files.ts'

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

async function diagnose(roles: readonly string[]): Promise<{ findings: readonly Finding[]; code: number }> {
  try {
    const settings = readSettings(process.env, { roles })
    const findings = [...(await examine(settings)), ...checkSecretFiles(process.env)]
    return { findings, code: findings.some(({ verdict }) => verdict === 'fail') ? FAILED : 0 }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const findings = error.problems.map(({ variable, problem }) =>
      fail('settings', `${variable}: ${problem}`),
    )
    return { findings, code: MISUSED }
  }
}

async function main(words: readonly string[]): Promise<number> {
  let given: ReturnType<typeof readWords>
  try {
    given = readWords(words)
  } catch (error) {
    process.stderr.write(`error: ${messageOf(error)}\n\n${USAGE}`)
    return MISUSED
  }
  if (given.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const { findings, code } = await diagnose(given.role)
  process.stdout.write(given.json ? `${JSON.stringify({ findings })}\n` : renderFindings(findings))
  return code
}

process.exitCode = await main(process.argv.slice(2))
