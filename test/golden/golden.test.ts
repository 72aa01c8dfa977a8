/**
 * Golden cases: each folder is a family of documents. A case that generates has what it generates in `want/`;
 * what is printed beside that, because it fails or warns, is in `stderr.txt`. `UPDATE_GOLDEN=1 npx vitest run test/golden` writes both.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'

const cases = readdirSync('test/golden', { withFileTypes: true }).filter((entry) =>
  existsSync(`test/golden/${entry.name}/dateline.config.json`),
)
const updating = process.env.UPDATE_GOLDEN === '1'

async function run(command: string, name: string) {
  const printed: string[] = []
  const errors: string[] = []
  const argv = ['--config', `test/golden/${name}/dateline.config.json`, command]
  const code = await main(argv, { out: (line) => printed.push(line), error: (line) => errors.push(line) })
  return { code, errors: errors.join('\n') }
}

test.each(cases.map((entry) => entry.name))('%s', async (name) => {
  const stderr = `test/golden/${name}/stderr.txt`
  if (updating) {
    await run('generate', name)
    const { code, errors } = await run('check', name)
    if (code !== 0 || errors !== '') writeFileSync(stderr, `exit ${code}\n${errors}\n`)
  }
  const { code, errors } = await run('check', name)
  const want = existsSync(stderr) ? readFileSync(stderr, 'utf8') : 'exit 0\n\n'
  expect(`exit ${code}\n${errors}\n`).toBe(want)
})
