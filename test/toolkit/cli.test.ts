/** The commands of `dateline` as people and programs meet them: what they print, write and exit with. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openRun } from '../../generators/cli/run.ts'
import { watch } from '../../generators/cli/watch.ts'
import { main } from '../../generators/cli.ts'
import { formatAnnotation } from '../../generators/diagnostics/github.ts'

let folder: string
beforeEach(() => {
  vi.stubEnv('GITHUB_ACTIONS', '')
  folder = mkdtempSync(join('test/toolkit', '.cli-'))
  cpSync('test/golden/gate-unclaimed/openapi', join(folder, 'openapi'), { recursive: true })
  configure({ documents: './openapi', versions: './versions', out: './out', emit: ['types', 'documents'] })
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const config = () => join(folder, 'dateline.config.json')
const configure = (members: object) => writeFileSync(config(), JSON.stringify(members))
const file = (name: string) => join(folder, name)
const OLD = 'openapi/2030-01-01.yaml'
const NEW = 'openapi/2030-06-01.yaml'

async function run(...argv: string[]) {
  const out: string[] = []
  const error: string[] = []
  const code = await main(['--config', config(), ...argv], {
    out: (line) => void out.push(line),
    error: (line) => void error.push(line),
  })
  return { code, out: out.join('\n'), error: error.join('\n') }
}

const accept = (...codes: string[]) => {
  mkdirSync(file('versions/2030-06-01'), { recursive: true })
  const lenses = codes.map((code) => ({ kind: 'accept', code, at: [] }))
  const change = { id: 'accept-all', why: 'A test.', lenses }
  writeFileSync(file('versions/2030-06-01/accept-all.ts'), `export default ${JSON.stringify(change)}\n`)
}

/** Files that a file imports types from and that are not there. */
function missingImports(path: string): string[] {
  const named = [...readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g)].map((match) => match[1]!)
  return named
    .map((each) => join(dirname(path), each))
    .flatMap((each) => (existsSync(each) ? missingImports(each) : [each]))
}

describe('proof', () => {
  const change = (up: string, down: string) => {
    mkdirSync(file('versions/2030-06-01'), { recursive: true })
    const lenses = [
      `{ kind: 'rename', schemas: ['Parcel'], from: 'weight', to: 'weight_grams', up: ${up}, down: ${down} }`,
      `{ kind: 'values', schemas: ['Parcel'], property: 'state', rename: { lost: 'missing' }, merge: {} }`,
    ]
    const text = `export default { id: 'name-grams', why: 'A test.', lenses: [${lenses}] }\n`
    writeFileSync(file('versions/2030-06-01/name-grams.ts'), text)
  }

  test('prove finds nothing in a family that has nothing to hide', async () => {
    change('(value) => value', '(value) => value')
    const { code, out, error } = await run('prove', '--seconds', '5', '--seed', '7')
    expect(error).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(/^\d+ laws about 2 versions, none refuted \(seed 7\)$/)
  })
  test('prove finds a family that does not come back', async () => {
    change('(value) => value', '(value) => value * 10')
    const { code, error } = await run('prove', '--seconds', '5', '--seed', '7')
    expect(code).toBe(1)
    expect(error).toMatch(
      /name-grams\.ts:1:1 error proof-round-trip: 2030-06-01 rename Parcel\.weight (up|down): /,
    )
  })
  test('prove accepts only numbers for --seconds', async () => {
    change('(value) => value', '(value) => value')
    expect((await run('prove', '--seconds', 'long')).code).toBe(2)
  })
})

describe('the gate', () => {
  test('a change that is written ahead of the gate is complete, with a client too', async () => {
    configure({
      documents: './openapi',
      versions: './versions',
      out: './out',
      emit: ['types', 'client'],
      client: { package: { name: 'parcels', version: '1.0.0' } },
    })
    expect((await run('generate')).code).toBe(1)
    for (const version of ['2030-01-01', '2030-06-01'])
      expect(missingImports(file(`out/${version}/types.ts`))).toEqual([])
  })
  test('generate writes types and nothing else, until a change accounts for what breaks', async () => {
    const refused = await run('generate')
    expect(refused.code).toBe(1)
    expect(refused.error).toMatch(/break-unclaimed[\s\S]*types were written, nothing else/)
    expect(readFileSync(file('out/2030-06-01/types.ts'), 'utf8')).toContain('weight_grams')
    expect(existsSync(file('out/2030-06-01/openapi.json'))).toBe(false)
  })

  test.each([['check'], ['generate', '--dry-run']])('a refused %s %s writes nothing', async (...words) => {
    const refused = await run(...words)
    expect(refused.code).toBe(1)
    expect(refused.error).toContain('2 problems; nothing was written')
    expect(existsSync(file('out'))).toBe(false)
  })

  test('a change that was lost is missed at both lines', async () => {
    configure({
      documents: './openapi',
      versions: './versions',
      out: './out',
      emit: ['documents', 'translations'],
    })
    accept('property-removed', 'enum-value-removed', 'enum-value-added')
    const change = {
      id: 'add-weight',
      why: 'A test.',
      lenses: [{ kind: 'accept', code: 'property-added', at: [] }],
    }
    writeFileSync(file('versions/2030-06-01/add-weight.ts'), `export default ${JSON.stringify(change)}\n`)
    expect((await run('generate')).code).toBe(0)
    rmSync(file('versions/2030-06-01/add-weight.ts'))
    const { code, error } = await run('check')
    expect(code).toBe(1)
    expect(error).toMatch(
      /2030-06-01\.yaml:28:9 error change-missing: the change add-weight [\s\S]*see .*2030-01-01\.yaml:23:5/,
    )
    expect((await run('generate')).code).toBe(0)
    expect((await run('check')).code).toBe(0)
  })

  test('a change lets it through', async () => {
    accept('property-removed', 'enum-value-removed', 'enum-value-added')
    expect(await run('generate')).toMatchObject({ code: 0, error: '' })
    expect((await run('check')).code).toBe(0)
  })
})

describe('diff without a configuration', () => {
  /** Runs in a process of its own, whose folder holds no configuration. */
  const diffIn = (cwd: string, ...argv: string[]) => {
    const cli = resolve('generators/cli.ts')
    return spawnSync(process.execPath, [cli, ...argv], { cwd, encoding: 'utf8' })
  }

  test('diff compares two files without a configuration', () => {
    const { status, stdout, stderr } = diffIn(file('openapi'), 'diff', '2030-01-01.yaml', '2030-06-01.yaml')
    expect(stderr).not.toContain('config')
    expect(stdout).toContain('property-removed')
    expect(status).toBe(1)
  })

  test('diff leaves out what it cannot read, and compares the rest', () => {
    const text = (q: string, members: string) =>
      `openapi: 3.0.3\ninfo: { title: T, version: '1' }\npaths:\n  /a: { get: { operationId: a, ${members}, responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } } } } }\n  /b: { get: { operationId: b, ${members}, responses: { '200': { description: ok } } } }\ncomponents: { schemas: { A: { type: object, properties: { p: ${q}, q: { type: ${q === 'null' ? 'string' : 'integer'} } } } } }\n`
    writeFileSync(file('old.yaml'), text('{ type: string }', 'parameters: []'))
    writeFileSync(
      file('new.yaml'),
      text('null', 'security: [3]').replace('security: [3]', 'parameters: null'),
    )
    const changed = diffIn(file('.'), 'diff', 'old.yaml', 'new.yaml')
    expect(changed.status).toBe(1)
    expect(changed.stdout).toContain('breaking type-changed A.q')
    expect(changed.stdout).toContain('1 breaking')
    expect(changed.stdout).toContain(
      'not compared: /paths/~1a/get/parameters, /paths/~1b/get, /components/schemas/A/properties/p',
    )
    expect(changed.stderr).toMatch(/new\.yaml:6:59 error document-shape: `p` is null, not a schema/)
    writeFileSync(
      file('twice.yaml'),
      readFileSync(file('old.yaml'), 'utf8').replace('  /b:', '  /a: {}\n  /b:'),
    )
    const twice = diffIn(file('.'), 'diff', 'old.yaml', 'twice.yaml')
    expect([twice.status, twice.stdout]).toEqual([1, expect.stringContaining('not compared: /paths/~1a\n')])
    expect(twice.stderr).toContain('twice.yaml:5:3 error document-syntax: Map keys must be unique')
    // What is written the same way in both documents cannot have changed.
    const same = diffIn(file('.'), 'diff', 'new.yaml', 'new.yaml')
    expect(same.status).toBe(0)
    expect(same.stderr).toContain('warning document-shape')
  })

  test('diff says what a name that is no file would need', () => {
    const { status, stderr } = diffIn(file('openapi'), 'diff', '2030-01-01', '2030-06-01.yaml')
    expect(stderr).toContain(
      '2030-01-01 is not a file, and without a configuration file versions are unknown',
    )
    expect(status).toBe(2)
  })

  test('wants a configuration that is named', () => {
    const argv = ['--config', 'gone.json', 'diff', '2030-01-01.yaml', '2030-06-01.yaml']
    const { status, stderr } = diffIn(file('openapi'), ...argv)
    expect(stderr).toContain('gone.json')
    expect(status).toBe(3)
  })
})

describe('diff', () => {
  test('diff compares versions, with what accounts for each difference', async () => {
    accept('property-removed')
    const { code, out } = await run('diff', '2030-01-01', '2030-06-01')
    expect(code).toBe(1)
    expect(out).toContain('3 breaking (2 not accounted for by any change)')
    expect(out).toMatch(
      /breaking property-removed Parcel\.weight: weight was removed\n.*:28:9 → .*:28:9\n.*\n {4}witness: GET .* answers 200 .*\n.*does not send weight\n.*rename to weight_grams.*\n.*accept-all\.ts/,
    )
    expect(out).toContain('not accounted for by any change')
  })

  test('diff compares files, in the other direction too', async () => {
    const { code, out } = await run('diff', file(NEW), file(OLD))
    expect(code).toBe(1)
    expect(out).toContain('breaking property-removed Parcel.weight_grams')
  })

  test('documents with one `info.version` are named after their files', async () => {
    for (const name of [OLD, NEW])
      writeFileSync(file(name), readFileSync(file(name), 'utf8').replace(/version: [\d-]+/, "version: '1'"))
    accept('property-removed')
    const told = JSON.parse((await run('diff', '2030-01-01', '2030-06-01', '--json')).out)
    expect(told).toMatchObject({ old: { version: '2030-01-01' }, new: { version: '2030-06-01' } })
    expect(told.differences.map(({ claimedBy }: { claimedBy: object[] }) => claimedBy.length)).toContain(1)
  })

  test('nothing to say is fine', async () => {
    expect(await run('diff', file(OLD), file(OLD))).toMatchObject({ code: 0, error: '' })
  })

  test('diff --json prints findings as JSON', async () => {
    const { code, out } = await run('diff', '2030-01-01', '2030-06-01', '--json')
    const told = JSON.parse(out)
    expect(code).toBe(1)
    expect(told).toMatchObject({ command: 'diff', exit: 1, old: { version: '2030-01-01' } })
    expect(told.differences[0]).toMatchObject({
      code: 'property-removed',
      class: 'breaking',
      location: 'Parcel.weight',
      old: { line: 28 },
      new: { line: 28 },
      proposal: { kind: 'rename', to: ['weight_grams'] },
      claimedBy: [],
      verdict: 'proven',
      witness: {
        kind: 'answer',
        message: 'GET /parcels/{parcel_id} answers 200',
        body: { id: 'a', weight: 1 },
        acceptedBy: '2030-01-01',
        against: '2030-06-01',
        reason: 'does not send weight',
      },
    })
  })

  test('diff --markdown prints findings as Markdown', async () => {
    const { out } = await run('diff', '2030-01-01', '2030-06-01', '--markdown')
    expect(out).toContain('# 2030-01-01 → 2030-06-01')
    expect(out).toMatch(
      /\| `property-removed` weight was removed .* \| Parcel\.weight \| .* \| \*\*none\*\* \|/,
    )
  })

  test('diff of a word that is neither a version nor a file is a wrong call', async () => {
    const { code, error } = await run('diff', '2030-01-01', '2031-01-01')
    expect(code).toBe(2)
    expect(error).toContain(
      '2031-01-01 is neither a version of this family (2030-01-01, 2030-06-01) nor a file',
    )
  })
})

describe('findings', () => {
  test('check --json prints findings as JSON', async () => {
    const { code, out, error } = await run('check', '--json')
    const told = JSON.parse(out)
    expect([code, error]).toEqual([1, ''])
    expect(told).toMatchObject({ command: 'check', exit: 1 })
    expect(told.findings[0]).toMatchObject({
      code: 'break-unclaimed',
      severity: 'error',
      place: { line: 28 },
      draft: { file: file('versions/2030-06-01/rename-weight.ts') },
    })
  })

  test('check --format github prints findings as annotations', async () => {
    const { out } = await run('check', '--format', 'github')
    expect(out.split('\n')[0]).toMatch(
      /^::error file=test\/toolkit\/\.cli-.*2030-06-01\.yaml,line=28,col=9,title=break-unclaimed::property-removed Parcel\.weight: .*%0Asee /,
    )
  })

  test('check prints annotations beside the text, where GitHub runs it', async () => {
    vi.stubEnv('GITHUB_ACTIONS', 'true')
    const { out, error } = await run('check')
    expect(out).toContain('::error file=')
    expect(error).toContain('error break-unclaimed')
  })

  test('an annotation cannot be broken by what it says', () => {
    const place = { file: 'a,b:c.yaml', line: 1, column: 2, pointer: '' }
    expect(formatAnnotation({ code: 'x', severity: 'warning', message: '50%\n::error::', place })).toBe(
      '::warning file=a%2Cb%3Ac.yaml,line=1,col=2,title=x::50%25%0A::error::',
    )
  })

  test('check --format sarif prints findings as SARIF', async () => {
    const { out } = await run('check', '--format', 'sarif')
    const log = JSON.parse(out)
    expect(log).toMatchObject({ version: '2.1.0', runs: [{ tool: { driver: { name: 'dateline' } } }] })
    const [result] = log.runs[0].results
    expect(log.runs[0].tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId)
    expect(result).toMatchObject({
      level: 'error',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: file(NEW) },
            region: { startLine: 28, startColumn: 9 },
          },
        },
      ],
      relatedLocations: [{ physicalLocation: { artifactLocation: { uri: file(OLD) } } }],
      properties: { verdict: 'proven', witness: { reason: 'does not send weight' } },
    })
    expect(result.message.text).toContain('witness: GET /parcels/{parcel_id} answers 200')
  })

  test('colours only where they are wanted', async () => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    await main(['--config', config(), 'check'], { out: print, error: print, colours: true })
    expect(lines.join('\n')).toContain('\u001b[31merror')
    expect((await run('check')).error).not.toContain('\u001b')
  })
})

describe('exit codes', () => {
  test.each([
    [2, ['nothing-like-it']],
    [2, ['check', '--unknown']],
    [2, ['diff', '2030-01-01']],
    [2, ['stub']],
    [2, ['check', '--format', 'xml']],
    [0, ['--help']],
  ])('dateline exits with %i for the words %j', async (code, argv) => {
    expect((await run(...argv)).code).toBe(code)
  })

  test('3: a document or a configuration that cannot be read', async () => {
    writeFileSync(file(NEW), 'openapi: [')
    expect((await run('check')).code).toBe(3)
    writeFileSync(config(), '{')
    expect((await run('check')).code).toBe(3)
  })

  test.each(['pages', 'extensions', 'license'])(
    '3: `%s` that does not exist, with its line',
    async (name) => {
      configure({ documents: './openapi', out: './out', emit: ['types'], [name]: './missing' })
      const { code, error } = await run('generate')
      expect(code).toBe(3)
      expect(error).toMatch(
        /dateline\.config\.json:1:\d+ error config-invalid: `\w+` names .*missing, which does not exist/,
      )
    },
  )

  test('1: a change that cannot be loaded', async () => {
    mkdirSync(file('versions/2030-06-01'), { recursive: true })
    writeFileSync(file('versions/2030-06-01/throw-up.ts'), "throw new Error('not a change')\n")
    const { code, error } = await run('check')
    expect(code).toBe(1)
    expect(error).toMatch(/error change-invalid: .*throw-up\.ts cannot be loaded: not a change/)
  })

  test.each([
    ["{ id: 'other' }", /exports no change whose id is its file name/],
    ["{ id: 'guess' }", /exports a change whose `lenses` is not a list/],
    ["{ id: 'guess', lenses: [{ kind: 'renam' }] }", /exports a change with a lens of an unknown kind/],
    ["{ id: 'guess', lenses: [null] }", /exports a change with a lens of an unknown kind/],
  ])('1: what is no change: %s', async (change, message) => {
    mkdirSync(file('versions/2030-06-01'), { recursive: true })
    writeFileSync(file('versions/2030-06-01/guess.ts'), `export default ${change}\n`)
    const { code, error } = await run('check')
    expect(code).toBe(1)
    expect(error).toMatch(message)
  })

  test('dateline exits with 70 after a bug', async () => {
    const error: string[] = []
    const broken = () => {
      throw new TypeError('no terminal')
    }
    const code = await main(['--config', config(), 'diff', file(OLD), file(OLD)], {
      out: broken,
      error: (line) => void error.push(line),
    })
    expect(code).toBe(70)
    expect(error.join('\n')).toMatch(/internal error in dateline: TypeError: no terminal\n +at /)
  })
})

describe('new-version', () => {
  test('new-version makes the document and the folder, and takes the old one out of office', async () => {
    const { code, out } = await run('new-version', '2030-09-01')
    expect(code).toBe(0)
    const next = readFileSync(file('openapi/2030-09-01.yaml'), 'utf8')
    expect(next).toBe(
      readFileSync('test/golden/gate-unclaimed/openapi/2030-06-01.yaml', 'utf8').replace(
        '2030-06-01',
        '2030-09-01',
      ),
    )
    expect(readFileSync(file(NEW), 'utf8')).toContain('x-status: supported')
    expect(existsSync(file('versions/2030-09-01'))).toBe(true)
    expect(out).toMatch(/1\. edit .*2030-09-01\.yaml[\s\S]*2\. run `dateline generate`/)
    expect((await run('diff', '2030-06-01', '2030-09-01')).out).toContain('0 breaking, 0 additive')
  })

  test('the version in examples moves on, prose and lists of versions stay', async () => {
    const more = `    Pin:
      type: object
      description: Pinned to 2030-06-01 for example.
      properties:
        version: { type: string, examples: ["2030-06-01"] }
        page: { type: string, example: "https://parcels.test/docs/2030-06-01#top" }
        known: { enum: ["2030-01-01", "2030-06-01"] }
`
    writeFileSync(file(NEW), readFileSync(file(NEW), 'utf8') + more)
    const { out } = await run('new-version', '2030-09-01')
    const next = readFileSync(file('openapi/2030-09-01.yaml'), 'utf8')
    expect(next).toContain('Pinned to 2030-06-01 for example.')
    expect(next).toContain('examples: ["2030-09-01"]')
    expect(next).toContain('docs/2030-09-01#top')
    expect(next).toContain('enum: ["2030-01-01", "2030-06-01"]')
    expect(out).toMatch(/2030-09-01\.yaml:36: add the new version to this enumeration/)
  })

  test('new-version refuses a second time, and a date before the newest', async () => {
    expect((await run('new-version', '2030-06-01')).code).toBe(2)
    expect((await run('new-version', '2030-03-01')).code).toBe(2)
  })
})

test('watch sees edits of documents and of changes in one process', { timeout: 60_000 }, async () => {
  accept('property-removed')
  const said: string[] = []
  let heard: () => void = () => undefined
  const hear = (line: string) => {
    said.push(line)
    heard()
  }
  /** Waits for the end of a run, and returns what it printed. */
  const nextRun = async () => {
    while (!said.some((line) => line.startsWith('watching ')))
      await new Promise<void>((resolve) => {
        heard = resolve
      })
    return said.splice(0).join('\n')
  }
  const stop = new AbortController()
  const done = watch(await openRun(config(), { out: hear, error: hear }), stop.signal)
  expect(await nextRun()).toContain('break-unclaimed')
  accept('property-removed', 'property-added-required', 'enum-value-removed', 'enum-value-added')
  const accepted = await nextRun()
  expect(accepted).not.toContain('break-unclaimed')
  writeFileSync(file(NEW), readFileSync(file(NEW), 'utf8').replace('title: ', 'title: Edited '))
  expect(await nextRun()).toContain('wrote 2030-06-01/openapi.json')
  accept('property-removed')
  expect(await nextRun()).toContain('break-unclaimed')
  stop.abort()
  expect(await done).toMatchObject({ exit: 0, data: { runs: 4 } })
})

test('watch generates again for each edit, once for many events, and ends when told', async () => {
  const quiet = { out: () => undefined, error: () => undefined }
  const stop = new AbortController()
  const seen: string[] = []
  let ran = Promise.withResolvers<void>()
  const generate = async () => {
    seen.push(readFileSync(file(OLD), 'utf8').slice(-5).trim())
    ran.resolve()
    return 0
  }
  const edit = async (mark: string) => {
    ran = Promise.withResolvers<void>()
    writeFileSync(file(OLD), `${readFileSync(file(OLD), 'utf8')}# ${mark}\n`)
    await ran.promise
  }
  const done = watch(await openRun(config(), quiet), stop.signal, generate)
  await ran.promise
  await edit('one')
  await edit('two')
  stop.abort()
  expect(await done).toMatchObject({ exit: 0 })
  expect(seen.slice(1).map((text) => text.replace('# ', ''))).toEqual(['one', 'two'])
}, 20_000)
