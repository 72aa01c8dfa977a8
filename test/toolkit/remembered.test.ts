/** A run that failed is known when it is repeated, and never when anything that it read or left behind has changed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { main } from '../../generators/cli.ts'

const ROOT = process.cwd()
const CLI = resolve('generators/cli.ts')
const OLD = 'openapi/2030-01-01.yaml'
const NEW = 'openapi/2030-06-01.yaml'
const CHANGE = 'versions/2030-06-01/other-thing.ts'
let folder: string
const at = (path: string) => join(folder, path)

/** Two versions with a break, and a change that does not account for it and imports what stands elsewhere. */
beforeEach(() => {
  for (const name of ['DATELINE_CACHE', 'GITHUB_ACTIONS']) vi.stubEnv(name, '')
  folder = resolve(mkdtempSync('test/toolkit/.remembered-'))
  cpSync('test/golden/gate-unclaimed/openapi', at('openapi'), { recursive: true })
  for (const path of ['versions/2030-06-01', 'shared', 'linked']) mkdirSync(at(path), { recursive: true })
  configure({})
  writeFileSync(at('shared/words.json'), '{ "why": "words" }')
  writeFileSync(
    at('shared/words.ts'),
    "import words from './words.json' with { type: 'json' }\nexport const { why } = words\n",
  )
  writeFileSync(
    at(CHANGE),
    "import { why } from '../../shared/words.ts'\nexport default { id: 'other-thing', why, lenses: [] }\n",
  )
  writeFileSync(at('linked/linked.ts'), "export default { id: 'linked', why: 'linked', lenses: [] }\n")
  symlinkSync(at('linked/linked.ts'), at('versions/2030-06-01/linked.ts'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const configure = (more: object) =>
  writeFileSync(
    at('dateline.config.json'),
    JSON.stringify({
      documents: './openapi',
      versions: './versions',
      out: './out',
      emit: ['types'],
      ...more,
    }),
  )

const start = (command: readonly string[]) =>
  spawn(process.execPath, [CLI, ...command], {
    cwd: folder,
  })

/** Runs a command in this process, because most of the time of a process is its start. */
async function run(...command: string[]) {
  const said: string[] = []
  const say = (line: string) => void said.push(`${line}\n`)
  const words = command.length > 0 ? command : ['generate']
  process.chdir(folder)
  try {
    const code = await main(words, { out: say, error: say })
    return { code, said: said.join('') }
  } finally {
    process.chdir(ROOT)
  }
}

/** Runs a command as its users do. */
async function runAlone(...command: string[]) {
  const child = start(command)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = (await once(child, 'close')) as [number]
  return { code, said }
}

const CACHE = '.cache/dateline'
const records = () => readdirSync(at(CACHE)).filter((name) => name.includes('failed'))

/** Makes every record say so when it is used. */
function mark(): void {
  for (const name of records()) {
    const text = gunzipSync(readFileSync(at(`${CACHE}/${name}`))).toString()
    const marked = text.replaceAll('weight_grams', 'MARKED')
    expect(marked).not.toBe(text)
    writeFileSync(at(`${CACHE}/${name}`), gzipSync(marked))
  }
}

test('a failing run says the same again, without doing anything again', async () => {
  const first = await runAlone('generate')
  expect(first).toMatchObject({ code: 1, said: expect.stringMatching(/break-unclaimed.*weight_grams/) })
  expect(await runAlone('generate')).toEqual(first)
  const dry = await runAlone('generate', '--dry-run')
  expect(await runAlone('generate', '--dry-run')).toEqual(dry)
  const checked = await runAlone('check')
  expect(await runAlone('check')).toEqual(checked)
  mark()
  for (const command of [['generate'], ['generate', '--dry-run'], ['check']]) {
    const again = await runAlone(...command)
    expect(again.code).toBe(1)
    expect(again.said).toContain('MARKED')
  }
})

const touches: Record<string, () => void> = {
  'an older document': () => appendFileSync(at(OLD), '# touched\n'),
  'a newer document': () => appendFileSync(at(NEW), '# touched\n'),
  'a change': () => appendFileSync(at(CHANGE), '// touched\n'),
  'a change that is a link': () => appendFileSync(at('linked/linked.ts'), '// touched\n'),
  'a new file beside the changes': () => writeFileSync(at('versions/2030-06-01/table.json'), '[]'),
  'a module that a change imports': () => appendFileSync(at('shared/words.ts'), '// touched\n'),
  'what that imports': () => writeFileSync(at('shared/words.json'), '{ "why": "other words" }'),
  configuration: () => configure({ strict: true }),
  'a written file': () => appendFileSync(at('out/2030-01-01/types.ts'), '// touched\n'),
  'a written file that is gone': () => rmSync(at('out/2030-06-01/types.ts')),
  'a file in the output that is nobody’s': () => writeFileSync(at('out/foreign.txt'), ''),
}

test('a run is done again when anything is touched', async () => {
  await run()
  mark()
  const untouched = `${folder}-untouched`
  cpSync(folder, untouched, { recursive: true, verbatimSymlinks: true })
  try {
    for (const [what, touch] of Object.entries(touches)) {
      touch()
      const { code, said } = await run()
      expect([what, code, said.includes('MARKED')]).toEqual([what, 1, false])
      rmSync(folder, { recursive: true })
      cpSync(untouched, folder, { recursive: true, verbatimSymlinks: true })
    }
    expect((await run()).said).toContain('MARKED')
  } finally {
    rmSync(untouched, { recursive: true })
  }
})

test('a change whose reading cannot be told from its text is run each time', async () => {
  writeFileSync(at(CHANGE), `import 'node:fs'\n${readFileSync(at(CHANGE), 'utf8')}`)
  await run()
  expect(records()).toEqual([])
  writeFileSync(at(CHANGE), readFileSync(at(CHANGE), 'utf8').replace('node:fs', 'node:util'))
  await run()
  expect(records()).toHaveLength(1)
})

test('a repaired family is fine at once, and a family that is broken again fails', async () => {
  const broken = readFileSync(at(NEW), 'utf8')
  rmSync(at('versions'), { recursive: true })
  expect((await run()).code).toBe(1)
  expect((await run()).code).toBe(1)
  const repaired = readFileSync(at(OLD), 'utf8').replace('version: 2030-01-01', 'version: 2030-06-01')
  writeFileSync(at(NEW), repaired)
  expect((await run()).code).toBe(0)
  expect((await run()).code).toBe(0)
  writeFileSync(at(NEW), broken)
  expect((await run()).code).toBe(1)
})

test('records of runs may be lost, cut off, or be of another kind', async () => {
  const first = await run()
  const write = (change: (file: string) => void) => {
    for (const name of records()) change(at(`${CACHE}/${name}`))
  }
  const others = [
    '',
    'null',
    '{}',
    '[1]',
    '{"diagnostics":[]',
    '{"lines":{},"diagnostics":[],"output":"other"}',
  ]
  const damages = [
    () => rmSync(at(CACHE), { recursive: true }),
    () => write((file) => truncateSync(file, 20)),
    () => write((file) => truncateSync(file, 0)),
    ...others.map((text) => () => write((file) => writeFileSync(file, gzipSync(text)))),
  ]
  for (const damage of damages) {
    damage()
    expect(await run()).toEqual(first)
  }
})

test('a run that is killed while it keeps something does no harm', async () => {
  const first = await run()
  for (const moment of [1, 2, 3]) {
    rmSync(at(CACHE), { recursive: true })
    mkdirSync(at(CACHE), { recursive: true })
    const child = start(['generate'])
    let events = 0
    const watcher = watch(at(CACHE), () => ++events === moment && child.kill('SIGKILL'))
    await once(child, 'close')
    watcher.close()
    expect(child.signalCode).toBe('SIGKILL')
    expect(await run()).toEqual(first)
    expect(await run()).toEqual(first)
  }
})
