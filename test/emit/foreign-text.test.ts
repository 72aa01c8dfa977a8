/** No text of a document becomes code: whatever stands in it, what is emitted parses, loads, and says the same. */
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadChanges } from '../../generators/change/load-changes.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { validatedOf } from '../../generators/emit/validators/names.ts'
import { EMITTERS } from '../../generators/generate/config.ts'
import { emitAll } from '../../generators/generate/generate.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { type ForeignDocument, makeForeignDocument } from './foreign-document.ts'

/** Code that would run, were it ever taken for code: importing what is emitted would set this. */
const RUN = 'globalThis.foreignTextRan=true'
declare global {
  var foreignTextRan: boolean | undefined
}

const OWN = ['__proto__', 'constructor', 'hasOwnProperty', 'headers', 'toString']

const NASTY = [
  `\uE000(${RUN},x)\uE000`,
  `\uE001(v);${RUN};//`,
  `\uE001$1(v)\uE000a\uE000`,
  `'+(${RUN})+'`,
  `"+(${RUN})+"`,
  `\`\${${RUN}}\``,
  `\${${RUN}}`,
  `*/${RUN}/*`,
  `*/\n${RUN}\n/**`,
  `\u2028${RUN}\u2029`,
  `\r\n${RUN}\n`,
  '\\',
  "\\'",
  '\ud800',
  '\udc00x',
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '--><svg/onload=alert(1)>',
  '[x](javascript:alert(1))',
  '[x]: javascript:alert(1)',
  '<javascript:alert(1)>',
  '`<b>``[x](data:text/html,x)',
  '{{this}}{{{this}}}',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'headers',
  '\u0000\u0007\u001b[31m\u007f',
  '\ufeff',
  '\uf8ff\ue123',
  '🜚𐀀\u{10ffff}',
  '²½Ⅷ\u2e2f',
  '%',
  '%zz~1~2',
  '#/components/schemas/x',
  '] = 1; [',
  ');(',
  '?.',
  '@ts-ignore */',
  '/// <reference path="x" />',
  ' ',
  '\u200b\u202e',
  '$&$1$`',
]

/** @returns texts that differ from each other: nasty ones, or made at random. */
function textsOf(seed: number): (position: string) => string {
  const random = fc.sample(fc.string({ unit: 'binary', maxLength: 10 }), { seed, numRuns: 400 })
  let at = seed * 7
  const used = new Set<string>()
  return (position) => {
    for (;;) {
      at++
      const nasty = NASTY[at % NASTY.length]!
      const text = seed % 2 === 0 ? nasty : `${random[at % random.length]}${at % 3 === 0 ? nasty : ''}`
      const unlike = used.has(text) ? `${text}${at}` : text
      // The document has these of its own.
      if (unlike === '' || used.has(unlike) || (OWN.includes(unlike) && /property|component/.test(position)))
        continue
      used.add(unlike)
      return unlike
    }
  }
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join('test/emit', '.foreign-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const VERSIONS = ['2030-01-01', '2030-06-01']

interface Emitted {
  readonly out: string
  readonly given: ForeignDocument
  readonly validator: (component: string) => string
}

async function emit(seed: number): Promise<Emitted> {
  const out = join(folder, `${seed}`)
  const given = makeForeignDocument(VERSIONS[0]!, textsOf(seed))
  const renamed = `${given.property} renamed`
  const later = JSON.parse(JSON.stringify(given.json)) as typeof given.json
  const { schemas } = later.components as {
    schemas: Record<string, { required: string[]; properties: object }>
  }
  const changed = schemas[given.component]!
  const { info } = later as { info: { version: string } }
  info.version = VERSIONS[1]!
  changed.required = [renamed]
  changed.properties = Object.fromEntries(
    Object.entries(changed.properties).map(([name, schema]) => [
      name === given.property ? renamed : name,
      schema,
    ]),
  )
  const lenses = [{ kind: 'rename', schemas: [given.component], from: given.property, to: renamed }]
  const versions = join(out, 'versions')
  mkdirSync(join(versions, VERSIONS[1]!), { recursive: true })
  const change = JSON.stringify({ id: 'rename-it', why: 'A test.', lenses })
  writeFileSync(join(versions, VERSIONS[1]!, 'rename-it.ts'), `export default ${change}\n`)
  const report = createReport()
  const apis = [given.json, later].map((json) =>
    buildApi(parseText('foreign.json', JSON.stringify(json), report)!, report, false),
  )
  const client = { package: { name: 'foreign', version: '1.0.0' } }
  const config = {
    documents: [],
    versions,
    out: join(out, 'out'),
    emit: EMITTERS,
    builtWhenNeeded: [],
    client,
    strict: false,
  }
  const changes = await loadChanges(versions, VERSIONS, report)
  const files = await emitAll(apis, changes, config, report)
  expect(report.diagnostics.filter((each) => each.severity === 'error')).toEqual([])
  for (const { path, text } of files) {
    mkdirSync(join(out, 'out', path, '..'), { recursive: true })
    writeFileSync(join(out, 'out', path), text.toWellFormed())
  }
  return { out: join(out, 'out'), given, validator: validatedOf(apis[0]!).component }
}

const load = (out: string, path: string) =>
  import(/* @vite-ignore */ pathToFileURL(resolve(out, path)).href) as Promise<Record<string, unknown>>

/** @returns the values of all string literals and names in TypeScript, and what does not parse. */
function readTypeScript(file: string): { texts: Set<string>; errors: string[] } {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true)
  const texts = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isIdentifier(node)) texts.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  const parsed = ts.transpileModule(source.text, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
  })
  return {
    texts,
    errors: (parsed.diagnostics ?? []).map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' ')),
  }
}

const files = (out: string, end: RegExp) =>
  readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((path) => end.test(path))
    .map((path) => join(out, path))

const SEEDS =
  process.env.FUZZ_CASES === undefined ? [0, 1, 2, 3, 4, 5] : Array.from({ length: 40 }, (_, n) => n)

describe.each(SEEDS)('texts %i', (seed) => {
  let emitted: Emitted
  beforeAll(async () => {
    emitted = await emit(seed)
  })

  test('validators check by hostile texts of a document', async () => {
    const { out, given, validator } = emitted
    const validators = (await load(out, `${VERSIONS[0]}/validators.js`)) as Record<
      string,
      (value: unknown) => boolean
    >
    const fits = validators[validator(given.component)]!
    const fit = Object.fromEntries([[given.property, given.members[0]]])
    for (const member of given.members)
      expect(fits(Object.fromEntries([[given.property, member]]))).toBe(true)
    expect(fits(Object.fromEntries([[given.property, `${given.members[0]} not`]]))).toBe(false)
    expect(fits({ few: given.members[0] })).toBe(false)
    expect(fits({ ...fit, few: given.members[1], one: given.constant, text: given.pattern, twin: fit })).toBe(
      true,
    )
    expect(fits({ ...fit, few: given.members[3] })).toBe(false)
    expect(fits({ ...fit, one: 'not' })).toBe(false)
    expect(fits({ ...fit, text: `${given.pattern} not` })).toBe(false)
    expect(fits({ ...fit, map: Object.fromEntries([[given.pattern, 1]]) })).toBe(true)
    expect(fits({ ...fit, map: Object.fromEntries([[given.pattern, 'x']]) })).toBe(false)
    for (const name of OWN) {
      expect(fits(Object.fromEntries([...Object.entries(fit), [name, 1]]))).toBe(true)
      expect(fits(Object.fromEntries([...Object.entries(fit), [name, 'x']]))).toBe(false)
    }
    const closed = validators[validator('Closed')]!
    expect(closed(Object.fromEntries(given.closed.map((name) => [name, 1])))).toBe(true)
    expect(closed({ other: 1 })).toBe(false)
    for (const name of [
      'Set',
      'Object',
      'Number',
      'RegExp',
      'isObject',
      'unique',
      'formats',
      'canonical',
      'guarded',
      'default',
      'eval',
    ]) {
      expect(validators[validator(name)]!(['2030-01-01']), name).toBe(true)
      expect(validators[validator(name)]!(['2030-01-01', '2030-01-01']), name).toBe(false)
    }
    expect(validators[validator('Set$')]!({ again: { again: 1 } })).toBe(false)
    expect(globalThis.foreignTextRan).toBeUndefined()
  })

  test('routes, events and translations carry hostile texts of a document', async () => {
    const { out, given } = emitted
    const { version } = (await load(out, `${VERSIONS[0]}/routes.ts`)) as {
      version: { operations: Record<string, { name: string; validate: (value: unknown) => boolean }[]>[] }
    }
    const [get] = version.operations
    const { operation: id, path, extensions } = given
    expect(get).toMatchObject({ id, path, method: 'GET', extensions })
    const parameters = [get!.pathParameters, get!.query, get!.headers].map((each) => each![0]!.name)
    expect(parameters).toEqual(given.parameters)
    expect(get!.query!.slice(1).map((each) => each.validate(1))).toEqual([false, true])
    const { events } = (await load(out, `${VERSIONS[0]}/events.ts`)) as {
      events: Record<string, { headers: object }>
    }
    expect(Object.entries(events).map(([name, { headers }]) => [name, Object.entries(headers)])).toEqual([
      [given.event, [[given.header, given.header]]],
    ])
    const translations = Object.values(await load(out, `translations/${VERSIONS[0]}.ts`)) as ((
      value: unknown,
    ) => unknown)[]
    const old = Object.fromEntries([[given.property, given.members[0]]])
    expect(
      translations.map((translate) =>
        typeof translate('a') === 'string' ? undefined : translate({ ...old }),
      ),
    ).toContainEqual(Object.fromEntries([[`${given.property} renamed`, given.members[0]]]))
    expect(globalThis.foreignTextRan).toBeUndefined()
  })

  test('the TypeScript of hostile texts parses, and types name them', () => {
    const { out, given } = emitted
    for (const file of files(out, /\.ts$/)) expect(readTypeScript(file).errors, file).toEqual([])
    const { texts } = readTypeScript(join(out, `client/src/${VERSIONS[0]}/types.ts`))
    for (const each of [
      given.component,
      given.property,
      given.constant,
      given.operation,
      given.event,
      'headers',
      ...given.members,
      ...given.parameters,
      ...given.closed,
    ])
      expect(
        [...texts].map((text) => text.toWellFormed()),
        each,
      ).toContain(each.toWellFormed())
    const { texts: client } = readTypeScript(join(out, `client/src/${VERSIONS[0]}/functions.ts`))
    for (const each of [given.operation, given.path]) expect(client, each).toContain(each)
    const errors = readTypeScript(join(out, 'client/src/errors.ts')).texts
    for (const each of given.errors) expect(errors, each).toContain(each)
  })

  test('documents in JSON are what was given', () => {
    const { out, given } = emitted
    const path = join(out, `${VERSIONS[0]}/openapi.json`)
    expect(existsSync(path) && JSON.parse(readFileSync(path, 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(given.json)),
    )
  })

  test('Markdown has no element, and no link to a script, for readers that take both', () => {
    const reader = new MarkdownIt('commonmark', { html: true }).enable(['table'])
    reader.validateLink = () => true
    const pages = [...files(emitted.out, /\.md$/), ...files(emitted.out, /llms\.txt$/)]
    expect(pages.length).toBeGreaterThan(5)
    for (const page of pages) {
      const tokens = reader
        .parse(readFileSync(page, 'utf8'), {})
        .flatMap((each) => [each, ...(each.children ?? [])])
      expect(
        tokens.filter(({ type }) => type.startsWith('html_')).map(({ content }) => content),
        page,
      ).toEqual([])
      const links = tokens.flatMap((token) => String(token.attrGet('href') ?? token.attrGet('src') ?? '#'))
      expect(
        links.filter((link) => !/^(https?:\/\/|mailto:|#|\/(?!\/)|\.{0,2}\/?[\w.-]+(\/|$))/.test(link)),
        page,
      ).toEqual([])
    }
  })

  test('the reference has no element and no attribute that is not its own', () => {
    const pages = globSync(join(emitted.out, 'site/**/*.html')).map((file) => readFileSync(file, 'utf8'))
    const body = pages.join('')
    const asset = (name: string) => `/docs/assets/${name}\\.js\\?v&#x3D;[0-9a-f]{16}`
    const own = new RegExp(
      `^(?:<script src="(?:${asset('site')}|${asset('try')}|${asset('filter')})" defer>|<form class="search" role="search" hidden data-library="${asset('minisearch')}" data-index="${asset('search-index')}" data-texts="${asset('search-texts')}">)$`,
    )
    const tags = (body.match(/<[^>]*>/g) ?? []).filter((tag) => !own.test(tag))
    expect(tags.length).toBeGreaterThan(50)
    for (const tag of tags) {
      expect(tag).toMatch(
        /^<(?:!doctype html|\/[a-z][a-z0-9]*|[a-z][a-z0-9]*(?: [a-z-]+(?:="[^"<>]*")?)*)>$/i,
      )
      expect(tag).not.toMatch(/^<(?:script|img|svg|iframe|object|embed|form|base)\b/i)
      expect(tag).not.toMatch(/ on[a-z]+=|="\s*(?:javascript|data|vbscript):/i)
    }
  })
})
