/** The pages that a new user follows, typed in as they are printed. A command that no list here knows fails. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, until } from '../support/programs.ts'
import { applyEdit, namedCommands, printedCommands, shownEdits } from './page.ts'
import { type Desk, openDesk, type Terminal } from './terminal.ts'

const PAGES = [
  'README.md',
  'docs/operations.md',
  'CONTRIBUTING.md',
  'generated/client/README.md',
  'generated/client/GUIDE.md',
  'generators/README.md',
]

/** What is said here is said of machines of any speed: generating alone takes a busy one a minute. */
const PATIENCE_MS = 300_000

/** Where a command of a block is typed, and how it ends. */
interface Typed {
  readonly begins: string
  readonly terminals: readonly ('service' | 'second' | 'listener')[]
  /** Goes on until it is interrupted; shows this when it is there. */
  readonly stays?: RegExp
  /** The file that gets it too, a moment after it is shown. */
  readonly leaves?: string
  /** Shown by one that ends, with exit code 0. */
  readonly shows?: RegExp
}

/** All of them, in the page's order. */
const TYPED: readonly Typed[] = [
  {
    begins: 'npm ci && npm start --silent -- --json | (umask 077; tee -a ready.json)',
    terminals: ['service'],
    stays: /"ready":true.*\n/,
    leaves: 'ready.json',
  },
  { begins: 'key=$(grep ', terminals: ['second'], shows: /^$/ },
  { begins: 'curl -s http://127.0.0.1:4010/v1/me ', terminals: ['second'], shows: /^\{"object":"me",/ },
  {
    begins: 'SVC_API_KEY=$key npx svc trigger card.transaction.authorized',
    terminals: ['second'],
    shows: /^triggered +card\.transaction\.authorized$/m,
  },
  {
    begins: 'for version in ',
    terminals: ['second'],
    shows: /^"category_code":"restaurants"\n"category_code":"5812"$/,
  },
  { begins: 'export SVC_API_KEY=$(grep ', terminals: ['listener', 'second'], shows: /^$/ },
  { begins: 'npx svc listen ', terminals: ['listener'], stays: /^Connected/m },
  { begins: 'npx svc trigger pass.updated ', terminals: ['second'], shows: /^triggered +pass\.updated$/m },
  { begins: 'npx svc events ', terminals: ['second'], shows: /\bpass\.updated +evt_\w+ +pass_\w+$/m },
  { begins: 'npx svc cards simulate --help', terminals: ['second'], shows: /simulate authorization card_/ },
  { begins: 'npx svc logs list ', terminals: ['second'], shows: /^CREATED +STATUS +METHOD +PATH /m },
  {
    begins: 'npm pack ./generated/client ',
    terminals: ['second'],
    shows: /^dateline-passes-\d+\.\d+\.\d+\.tgz$/m,
  },
]

/** Named in a sentence or a table, and what they show. */
const NAMED: Readonly<Record<string, RegExp>> = {
  'npm run docs': /site\/index\.html/,
  'npm run stub': /stubs? added/,
  'npm run --silent admin -- --help': /^Usage: admin/,
  'npm run --silent doctor': /^ok +database/m,
}

/** Typed in after the edit that the README shows. */
const AFTER_EDIT = 'npm run generate'

/** Not typed in here: what runs for minutes, or needs what a sentence stands for. Each script has to be there. */
const ONLY_THERE: readonly (string | RegExp)[] = [
  AFTER_EDIT,
  'npm ci && npm test',
  'npm ci',
  'npm ci --omit=dev',
  // test/toolkit/package.test.ts packs.
  'npm pack',
  /^npm publish dateline-\S+\.tgz --provenance$/,
  'npm audit signatures',
  /^npm start( -- --role \w+)?$/,
  /^npm run --silent admin -- (set-aside \w+$|version blockers )/,
  'npm test',
  'npm run check',
  'npm run fuzz',
  'npm run simulate -- --seed 1 --days 10',
  'npm run simulate:night -- --hours 10',
  'npm run simulate:mutants -- --count 20',
  /^npm run prove(:[\w-]+)?( -- --(old REF|tenants 50 --days 365))?$/,
  /^npm run bench(:\w+)?( -- FOLDER…)?$/,
  // test/docs/toolkit/pages.test.ts builds the same files.
  'npm run docs:toolkit',
  'npm run deploy:watch',
  'npm run docs:commands',
  'npm run release -- --out DIR',
  'npm run svc:pack -- --out DIR',
  // test/client/upgrade-applications.test.ts runs the command of an installed client.
  'npm install --save-dev ts-morph',
  'npm install @dateline/passes',
  'npm install --save-dev ajv-formats fastest-levenshtein',
  /^npx (CLIENT|@dateline\/passes) (upgrade|resources) /,
  'npx svc promote templates tpl_…',
  'npm run format',
  /^npx vitest run test\/\w+$/,
  'npx vitest',
  'npx biome',
  'npx tsc',
  'npx dateline build',
  'npx dateline --config FILE generate',
  'npx dateline new-version DATE',
  'npx dateline new-resource coupons --like pass_templates --prefix cpn',
  'npx dateline diff OLD NEW',
  'npx dateline prove',
]

const isOnlyThere = (command: string) =>
  ONLY_THERE.some((each) => (typeof each === 'string' ? command === each : each.test(command)))
const bare = (command: string) => command.replace(/\s+#.*$/, '')
const { scripts, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
  'scripts' | 'bin',
  Record<string, string>
>
const all = PAGES.flatMap((page) => printedCommands(join(ROOT, page)))
const printed = all.filter((command) => !isOnlyThere(bare(command)))
const named = PAGES.flatMap((page) => namedCommands(join(ROOT, page)))

describe('the lists', () => {
  test('know every command of the blocks, in their order', () => {
    expect(printed.map((command) => TYPED.find(({ begins }) => command.startsWith(begins))?.begins)).toEqual(
      TYPED.map(({ begins }) => begins),
    )
  })

  test('know every command that is named', () => {
    expect(named.filter((command) => !(command in NAMED) && !isOnlyThere(command))).toEqual([])
    expect(Object.keys(NAMED).filter((command) => !named.includes(command))).toEqual([])
  })

  test('name scripts, programs and folders that are there', () => {
    for (const command of [...all.map(bare), ...named].flatMap((line) => line.split(' && '))) {
      const [, script] =
        /^npm (?:run )?(?:--silent )?(?!(?:ci|install|pack|publish|audit)\b)([\w:-]+)/.exec(command) ?? []
      if (script !== undefined) expect(Object.keys(scripts), command).toContain(script)
      const [, program] = /^npx ([a-z]\w*)/.exec(command) ?? []
      if (program !== undefined) {
        expect(program in bin || existsSync(join(ROOT, 'node_modules/.bin', program)), command).toBe(true)
      }
      for (const [folder] of command.matchAll(/\btest\/\w+/g))
        expect(existsSync(join(ROOT, folder))).toBe(true)
    }
  })
})

describe('typed in on the machine’s own Node', { timeout: PATIENCE_MS }, () => {
  let desk: Desk
  let terminals: Record<Typed['terminals'][number] | 'endpoint', Terminal>

  beforeAll(async () => {
    desk = await openDesk()
    terminals = { service: desk.open(), second: desk.open(), listener: desk.open(), endpoint: desk.open() }
    // What the reader has on port 3000.
    const endpoint = `require('http').createServer((q, s) => q.resume().on('end', () => s.writeHead(204).end()))`
    terminals.endpoint.start(`node -e "${endpoint}.listen(3000, () => console.log('open'))"`)
    await until('the endpoint', () => terminals.endpoint.shown() === 'open\n', PATIENCE_MS)
  }, PATIENCE_MS)
  afterAll(() => desk.close(), PATIENCE_MS)

  // One after the other: each stands on those before.
  test.each(TYPED)(
    'a printed command works as typed: $begins',
    async ({ begins, terminals: names, stays, leaves, shows }) => {
      const command = printed.find((each) => each.startsWith(begins))!
      for (const name of names) {
        const terminal = terminals[name]
        if (stays) {
          terminal.start(command)
          const file = () => (leaves ? [readFileSync(join(desk.directory, leaves), 'utf8')] : [])
          const isThere = () => stays.test(terminal.shown()) && file().every((text) => stays.test(text))
          await until(command, isThere, PATIENCE_MS)
        } else {
          const { code, output } = await terminal.run(command)
          expect([code, output]).toEqual([0, expect.stringMatching(shows!)])
        }
      }
    },
  )

  test('ready.json is one line, nothing else was printed, and others cannot read it', () => {
    const file = join(desk.directory, 'ready.json')
    const text = readFileSync(file, 'utf8')
    expect(JSON.parse(text)).toMatchObject({ ready: true, keys: { live_secret: expect.any(String) } })
    expect(text.trimEnd()).not.toContain('\n')
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  test('the event that a printed command triggered reached the endpoint', async () => {
    const { listener } = terminals
    await until('the delivery', () => /pass\.updated +evt_\w+ +→ 204/.test(listener.shown()), PATIENCE_MS)
  })

  test('the docs, the metrics and the probes are where the page says', async () => {
    for (const path of ['4000/docs', '4000/metrics', '4000/livez', '4010/livez', '4020/readyz']) {
      const { output } = await terminals.second.run(
        `curl -sLo /dev/null -w '%{http_code}' http://127.0.0.1:${path}`,
      )
      expect([path, output]).toEqual([path, '200'])
    }
  })

  test('the edit that is shown changes what is said, and nothing of other versions', async () => {
    const [edit, effect] = shownEdits(join(ROOT, 'README.md'))
    const document = join(desk.directory, edit!.file)
    writeFileSync(document, applyEdit(edit!, readFileSync(document, 'utf8')))
    const { code, output } = await terminals.second.run(AFTER_EDIT)
    expect([code, output]).toEqual([0, expect.stringMatching(/generated/)])
    const wrote = [...output.matchAll(/^wrote (.+)$/gm)].map(([, path]) => path ?? '')
    expect(wrote.filter((path) => !path.startsWith('site/'))).toEqual([
      '2026-05-19/openapi.json',
      'client/src/2026-05-19/types.ts',
      'client/src/testing/services.ts',
      'validators.js',
      'manifest.json',
    ])
    const types = readFileSync(join(desk.directory, 'generated/client/src/2026-05-19/types.ts'), 'utf8')
    expect(types).toContain(effect!.added.join('\n'))
  })

  // What the edit has generated, these need not generate again.
  test.each(Object.entries(NAMED))('a printed command works on an own Node: %s', async (command, shows) => {
    const { code, output } = await terminals.second.run(command)
    expect([code, output]).toEqual([0, expect.stringMatching(shows)])
  })

  test('`npx dateline` takes a configuration', async () => {
    const { code, output } = await terminals.second.run('npx dateline --config dateline.config.json check')
    expect([code, output]).toEqual([0, expect.any(String)])
  })

  test('Ctrl-C ends what goes on', async () => {
    await terminals.listener.interrupt()
    await terminals.service.interrupt()
    const { output } = await terminals.second.run('curl -s http://127.0.0.1:4010/livez; echo $?')
    expect(output).toBe('7')
  })

  test('a second start, with npm’s banner this time, costs nobody the keys', async () => {
    const again = desk.open()
    again.start('npm start -- --json | (umask 077; tee -a ready.json)')
    await until('the second start', () => /"ready":true.*\n/.test(again.shown()), PATIENCE_MS)
    expect(again.shown()).toMatch(/^> /m)
    expect(again.shown()).not.toContain('sandbox_secret')
    const me = printed.find((command) => command.includes('/v1/me '))!
    expect((await terminals.second.run(me)).output).toMatch(/^\{"object":"me",/)
    await again.interrupt()
  })
})
