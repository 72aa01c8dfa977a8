/** The direction of dependencies, and what may not be in the tree, as the architecture page states them. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(ts|js)$/.test(file))
  .filter((file) => !file.startsWith('test/golden/'))

interface Import {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
  readonly specifier: string
}

const IMPORT = /^(?:import|export)\s(type\s)?(?:[^'"]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm

const toolkit = JSON.parse(readFileSync('generators/package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}

/** The file that a module imports, where it is one of the project: by path, or as an export of the toolkit. */
function targetOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier))
  if (!specifier.startsWith('dateline/')) return undefined
  return normalize(join('generators', toolkit.exports[specifier.replace('dateline', '.')] ?? specifier))
}

/** Imports of files of the project, by path from its root. */
const imports: Import[] = tracked.flatMap((from) =>
  [...readFileSync(from, 'utf8').matchAll(IMPORT)].flatMap(([, type, named, dynamic]) => {
    const specifier = named ?? dynamic ?? ''
    const to = targetOf(from, specifier)
    return to === undefined ? [] : [{ from, to, typeOnly: type !== undefined, specifier }]
  }),
)

const room = (file: string) => file.split('/')[0] ?? ''

/** Rooms that a room may import from, beside itself. */
const ALLOWED: Record<string, readonly string[]> = {
  generators: [],
  versions: ['generated', 'generators'],
  generated: ['versions', 'generators'],
  runtime: ['generated', 'generators'],
  deploy: [],
  test: ['generators', 'versions', 'generated', 'runtime', 'docs', 'deploy'],
}

/** Shares its tables, data without code, with the changes that translate by them. */
const CATALOGUE = 'runtime/cards/merchant-categories/catalogue.ts'

test('rooms import only from the rooms below them', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      ALLOWED[room(from)] &&
      room(to) !== room(from) &&
      !ALLOWED[room(from)]!.includes(room(to)) &&
      !(from === CATALOGUE && to.endsWith('.json')),
  )
  expect(wrong).toEqual([])
})

/**
 * Layers of the runtime, top to bottom: a file imports, types included, only from its own layer and from those below.
 * A folder within a room has a layer of its own where it is listed: it knows nothing of requests.
 */
const LAYERS = [
  ['process'],
  ['dashboard'],
  ['operator'],
  ['cli'],
  ['account'],
  ['money'],
  ['cards'],
  ['passes'],
  ['events'],
  ['api'],
  [
    'account/oauth',
    'money/chain',
    'money/ledger',
    'money/settlement-lines',
    'cards/card-keys',
    'cards/provisioning/encryption',
    'cards/sanctions',
    'passes/wallets/render',
    'events/emit',
    'events/outbound',
  ],
  ['work'],
  ['tenants'],
  ['database'],
  ['platform'],
]

/** How far below the top a file of the runtime is; -1 where no layer has it. */
function depth(file: string): number {
  const path = file.replace(/^runtime\//, '')
  const rooms = LAYERS.flat().filter((each) => path.startsWith(`${each}/`))
  const closest = rooms.toSorted((a, b) => b.length - a.length)[0]
  return LAYERS.findIndex((layer) => closest !== undefined && layer.includes(closest))
}

const inRuntime = tracked.filter((file) => room(file) === 'runtime')
const withinRuntime = imports.filter(({ from, to }) => room(from) === 'runtime' && room(to) === 'runtime')

test('every file of the runtime is in a layer, and every folder of a layer has files', () => {
  expect(inRuntime.filter((file) => depth(file) === -1)).toEqual([])
  expect(
    LAYERS.flat().filter((folder) => !inRuntime.some((file) => file.startsWith(`runtime/${folder}/`))),
  ).toEqual([])
})

test('layers of the runtime import only from the layers below them, types included', () => {
  expect(
    withinRuntime.filter(({ from, to }) => depth(to) < depth(from)).map(({ from, to }) => `${from} → ${to}`),
  ).toEqual([])
})

test('folders of the runtime form no cycle, types included', () => {
  const below = new Map<string, Set<string>>()
  for (const { from, to } of withinRuntime)
    if (dirname(from) !== dirname(to))
      below.set(dirname(from), (below.get(dirname(from)) ?? new Set()).add(dirname(to)))
  expect(findCycles(below)).toEqual([])
})

test('an exported type name is defined once', () => {
  const TYPE = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm
  const places = new Map<string, string[]>()
  for (const file of tracked.filter((each) => ['runtime', 'generators'].includes(room(each))))
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(TYPE))
      places.set(name, [...(places.get(name) ?? []), file])
  expect(places.size).toBeGreaterThan(500)
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})

test('changes take types from generated code, never values', () => {
  expect(
    imports.filter(
      ({ from, to, typeOnly }) => room(from) === 'versions' && room(to) === 'generated' && !typeOnly,
    ),
  ).toEqual([])
})

/** What a room may know of the toolkit: a process of the service also has it build what is served and not committed. */
const EXPORTS: Record<string, RegExp> = {
  versions: /^dateline\/change$/,
  generated: /^dateline\/runtime(\/|$)/,
  runtime: /^dateline\/(runtime(\/|$)|build$)/,
}

test('the toolkit is known by what it exports', () => {
  const used = imports.filter(({ from, to }) => EXPORTS[room(from)] && room(to) === 'generators')
  expect(used.filter(({ from, specifier }) => !EXPORTS[room(from)]!.test(specifier))).toEqual([])
  expect(new Set(used.map(({ from }) => room(from))).size).toBe(3)
  expect(used.filter(({ to }) => !tracked.includes(to))).toEqual([])
  const building = used.filter(({ specifier }) => specifier === 'dateline/build')
  expect(building.map(({ from }) => from)).toEqual(['runtime/platform/build.ts'])
})

test('no file imports itself through others, types included', () => {
  const graph = new Map<string, string[]>()
  for (const { from, to } of imports) graph.set(from, [...(graph.get(from) ?? []), to])
  expect(findCycles(graph)).toEqual([])
})

/** @returns each cycle as the path that closes it. */
function findCycles(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (node: string, path: readonly string[]) => {
    if (path.includes(node)) cycles.push([...path.slice(path.indexOf(node)), node].join(' → '))
    else if (!done.has(node)) for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return cycles
}

/** A phase of the toolkit; each output of `emit/` is one. */
const phase = (file: string) =>
  file
    .split('/')
    .slice(1, file.startsWith('generators/emit/') ? 3 : 2)
    .join('/')

test('data passes the phases of the toolkit one way, types included', () => {
  const below = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    if (room(from) !== 'generators' || room(to) !== 'generators' || phase(from) === phase(to)) continue
    // What emitters print is no import of theirs.
    if (tracked.includes(to)) below.set(phase(from), (below.get(phase(from)) ?? new Set()).add(phase(to)))
  }
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set<string>()
    const visit = (at: string) => {
      for (const next of below.get(at) ?? []) if (!reached.has(next)) visit(reached.add(next) && next)
    }
    visit(start)
    return reached
  }
  expect(below.size).toBeGreaterThan(10)
  expect([...below.keys()].filter((each) => reachedFrom(each).has(each))).toEqual([])
})

test('phases of the toolkit are folders; beside them is its entry alone', () => {
  expect(tracked.filter((file) => /^generators\/[^/]+$/.test(file))).toEqual(['generators/cli.ts'])
})

test('the toolkit knows no database, no service, and only in its adapters web frameworks', () => {
  const sources = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'generators'],
    {
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((file) => /\.(ts|hbs|json)$/.test(file))
  const foreign = sources.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    // An adapter serves one framework; templates show how to use generated code with one.
    const packages =
      file.endsWith('.hbs') || file.startsWith('generators/server/')
        ? []
        : [...text.matchAll(/from '(express|pg|redis|fastify|pino)['/]/g)].map(([found]) => found)
    const words = [...text.matchAll(/\b(wallet|cardholder|pass_template|svc|postgres\w*|Service-\w+)\b/gi)]
    return [...packages, ...words.map(([found]) => found)].map((found) => `${file}: ${found}`)
  })
  expect(foreign).toEqual([])
  expect(sources.length).toBeGreaterThan(100)
})

test('emitters touch no disk and no clock', () => {
  const sources = tracked.filter((file) =>
    /^generators\/(runtime|ir|diff|translate|propose|print|emit)\//.test(file),
  )
  const impure = sources.filter((file) =>
    /\bnode:(fs|child_process|http|net)\b|Date\.now|new Date\(\)|Math\.random/.test(
      readFileSync(file, 'utf8'),
    ),
  )
  expect(impure).toEqual([])
  expect(sources.length).toBeGreaterThan(5)
})

test('one file knows openapi-typescript', () => {
  const knowing = tracked.filter(
    (file) => room(file) !== 'test' && / from 'openapi-typescript'/.test(readFileSync(file, 'utf8')),
  )
  expect(knowing).toEqual(['generators/emit/types/openapi-typescript.ts'])
})

test('the names of files and folders say what is in them', () => {
  expect(tracked.filter((file) => /(^|\/)(utils?|helpers?|common|shared|misc)(\/|\.)/.test(file))).toEqual([])
})

test('no code of the service compares dates of versions: changes name behavior, and handlers read it', () => {
  const names = readdirSync('openapi').flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? [])
  const literal = new RegExp(`'(${names.join('|')})'`)
  expect(names.length).toBeGreaterThan(1)
  expect(
    tracked.filter((file) => /^runtime\/(?!cli\/)/.test(file) && literal.test(readFileSync(file, 'utf8'))),
  ).toEqual([])
})

test('no file re-exports others wholesale', () => {
  expect(
    tracked.filter(
      (file) => room(file) !== 'generated' && /^export \* from/m.test(readFileSync(file, 'utf8')),
    ),
  ).toEqual([])
})
