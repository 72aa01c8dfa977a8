/** The reference of small documents: where things are written out, in what words, and that nothing gets through unescaped. */
import { expect, test } from 'vitest'
import { emitSite } from '../../generators/emit/site/site.ts'
import { read } from '../ir/document.ts'

function pageOf(body: string, head?: string): string {
  const { api } = read(body, head)
  return emitSite([api], { wire: { versionHeader: 'Api-Version' } })
    .filter(({ path }) => path.endsWith('.html') && path !== 'site/index.html')
    .map(({ text }) => text.slice(text.indexOf('<main')))
    .join('')
}

/** The element that carries an id, as plain text on one line. */
function textOf(page: string, id: string): string {
  const from = page.indexOf(`id="${id}"`)
  if (from < 0) return ''
  const start = page.lastIndexOf('<', from)
  const name = /^<(\w+)/.exec(page.slice(start))?.[1] ?? ''
  const tags = new RegExp(`<(/?)${name}\\b`, 'g')
  tags.lastIndex = start
  let depth = 0
  for (let tag = tags.exec(page); tag; tag = tags.exec(page)) {
    depth += tag[1] === '/' ? -1 : 1
    if (depth === 0) return plain(page.slice(start, tag.index))
  }
  return ''
}

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

const withSchemas = (schemas: string, body = 'X') => `
paths:
  /x:
    post:
      operationId: createX
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/${body}' } } } }
      responses: { '204': { description: Done } }
components:
  schemas: { ${schemas} }
`

// Each property as a reader meets it.
test.each([
  { given: '{ type: string }', want: 'p string' },
  { given: '{ type: string, format: uuid, description: An id. }', want: 'p string <uuid> An id.' },
  { given: '{ type: string, minLength: 1, maxLength: 40 }', want: 'p string Length 1 to 40 characters' },
  { given: '{ type: string, minLength: 0, maxLength: 1 }', want: 'p string Length at most 1 character' },
  {
    given: '{ type: string, minLength: 6, maxLength: 6, pattern: "^[<&]+$" }',
    want: 'p string Length 6 characters Pattern ^[<&]+$',
  },
  {
    given: '{ type: integer, minimum: 0, maximum: 1000000, default: 25 }',
    want: 'p integer Default 25 Range 0 to 1,000,000',
  },
  {
    given: '{ type: number, exclusiveMinimum: 0, multipleOf: 0.5 }',
    want: 'p number Above 0 Multiple of 0.5',
  },
  { given: '{ type: [string, "null"] }', want: 'p string or null' },
  { given: '{ enum: [a, b], default: a }', want: 'p string Default a a b' },
  {
    given: '{ enum: [a, b], x-extensible: true, x-enumDescriptions: { a: First. } }',
    want: 'p string a First. b',
  },
  { given: '{ const: 3 }', want: 'p always 3' },
  {
    given: '{ type: array, items: { type: string }, maxItems: 20, uniqueItems: true }',
    want: 'p array of string Holds at most 20 items Unique items',
  },
  {
    given: '{ type: object, additionalProperties: { type: integer }, maxProperties: 50 }',
    want: 'p map of integer Holds at most 50 members',
  },
  { given: '{ type: object, properties: { q: { type: boolean } } }', want: 'p object 1 property q boolean' },
  { given: '{ oneOf: [{ type: string }, { type: integer }] }', want: 'p string or integer' },
  { given: '{ $ref: "#/components/schemas/Id" }', want: 'p string Id An identifier.' },
  { given: '{ $ref: "#/components/schemas/Id", description: Whose. }', want: 'p string Id Whose.' },
  {
    given: '{ oneOf: [{ $ref: "#/components/schemas/Id" }, { type: "null" }], description: Whose. }',
    want: 'p string Id or null Whose.',
  },
  { given: '{ type: string, deprecated: true, readOnly: true }', want: 'p string deprecated read-only' },
  { given: '{ type: integer, x-unit: milliseconds }', want: 'p integer Unit milliseconds' },
  { given: '{}', want: 'p any value' },
])('the reference shows a property of $given', ({ given, want }) => {
  const page = pageOf(
    withSchemas(
      `X: { type: object, properties: { p: ${given} } }, Id: { type: string, maxLength: 9, description: An identifier. }`,
    ),
  )
  expect(textOf(page, 'schema-X.p')).toBe(want)
})

test('the reference says of reads what may be absent and grow, and of writes what is required', () => {
  const schema = `{ type: object, required: [a], properties: { a: { enum: [x, y], x-extensible: true }, b: { type: string } } }`
  const page = pageOf(`
paths:
  /x:
    post:
      operationId: createX
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/In' } } } }
      responses: { '200': { description: OK, content: { application/json: { schema: { $ref: '#/components/schemas/Out' } } } } }
components: { schemas: { In: ${schema}, Out: ${schema} } }
`)
  expect(['In.a', 'In.b', 'Out.a', 'Out.b'].map((name) => textOf(page, `schema-${name}`))).toEqual([
    'a string required x y',
    'b string',
    'a string more may come x y',
    'b string may be absent',
  ])
})

test('a schema is written out once, where it is used most closely, and linked to from elsewhere', () => {
  const page = pageOf(
    withSchemas(
      `X: { type: object, properties: { only: { $ref: '#/components/schemas/Only' }, both: { $ref: '#/components/schemas/Both' }, other: { $ref: '#/components/schemas/Both' } } },
       Only: { type: object, properties: { q: { type: string } } },
       Both: { type: object, properties: { r: { type: string } } },
       Unused: { type: object }`,
    ),
  )
  const written = ['X', 'Only', 'Both', 'Unused'].map((name) => page.split(`id="schema-${name}"`).length - 1)
  expect(written).toEqual([1, 1, 1, 1])
  const operation = page.slice(page.indexOf('id="createX"'), page.indexOf('id="schema-Both"'))
  expect(operation).toContain('<details class="inside" id="schema-X" open>')
  expect(operation).toContain('<details class="inside" id="schema-Only">')
  expect(operation.match(/href="[^"]*#schema-Both"/g)).toHaveLength(2)
})

test.each([
  ['itself', "X: { type: object, properties: { next: { $ref: '#/components/schemas/X' } } }"],
  [
    'each other',
    "X: { type: object, properties: { y: { $ref: '#/components/schemas/Y' } } }, Y: { type: object, properties: { x: { $ref: '#/components/schemas/X' } } }",
  ],
  [
    'each other, out of reach',
    "X: { type: object }, Y: { type: object, properties: { z: { $ref: '#/components/schemas/Z' } } }, Z: { type: object, properties: { y: { $ref: '#/components/schemas/Y' } } }",
  ],
  ['itself in a list', "X: { type: array, items: { $ref: '#/components/schemas/X' } }"],
])('schemas that hold %s come to an end', (_, schemas) => {
  const page = pageOf(withSchemas(schemas))
  for (const [, name] of schemas.matchAll(/(\w): \{ type/g)) {
    if (name && /[XYZ]/.test(name)) expect(page.split(`id="schema-${name}"`)).toHaveLength(2)
  }
})

test('a union shows its forms', () => {
  const page = pageOf(
    withSchemas(`X: { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: kind } },
      Cat: { type: object, properties: { kind: { const: Cat }, lives: { type: integer } } }, Dog: { type: object, properties: { kind: { const: Dog } } }`),
  )
  expect(textOf(page, 'schema-X')).toBe('2 forms Cat kind always Cat lives integer Dog kind always Dog')
})

const EVIL = `<script>alert(1)</script>"'&`

test('no text of a document becomes markup', () => {
  const text = JSON.stringify(EVIL)
  const page = pageOf(
    `
servers: [{ url: ${text}, description: ${text} }]
tags: [{ name: ${text}, description: ${text}, x-displayName: ${text} }]
paths:
  ${JSON.stringify(`/${EVIL}`)}:
    post:
      operationId: ${text}
      tags: [${text}]
      summary: ${text}
      description: ${text}
      x-scope: ${text}
      security: [{ ${text}: [${text}] }]
      parameters: [{ name: ${text}, in: query, required: true, description: ${text}, schema: { type: string, pattern: ${text} }, example: ${text} }]
      requestBody: { required: true, description: ${text}, content: { ${text}: { schema: { $ref: '#/components/schemas/X' } } } }
      responses:
        '400': { description: ${text}, headers: { ${text}: { description: ${text}, schema: { type: string } } }, content: { application/json: { schema: { $ref: '#/components/schemas/Error' }, example: { error: { code: ${text}, type: ${text} } } } } }
webhooks:
  ${text}: { post: { summary: ${text}, description: ${text}, requestBody: { content: { application/json: { example: { a: ${text} } } } }, responses: { '200': { description: ok } } } }
components:
  securitySchemes: { ${text}: { type: oauth2, description: ${text}, flows: { authorizationCode: { scopes: { ${text}: ${text} } } } } }
  schemas:
    X: { title: ${text}, type: object, description: ${text}, properties: { ${text}: { enum: [${text}, b], default: ${text}, x-enumDescriptions: { b: ${text} } } } }
    Error: { type: object, properties: { error: { type: object, properties: { code: { enum: [${text}], description: ${text} }, type: { enum: [${text}] } } } } }
`,
    `openapi: 3.1.0\ninfo: { title: ${text}, version: ${text}, description: ${text}, x-status: ${text} }\n`,
  )
  expect(page).not.toMatch(/<script|alert\(1\)<\//)
  // Every tag of the page is one that a template or the Markdown writes.
  const tags = new Set([...page.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, name]) => name?.toLowerCase()))
  expect([...tags].filter((name) => !KNOWN.has(name ?? ''))).toEqual([])
  expect(page).not.toMatch(/ on\w+=/)
})

const KNOWN = new Set(
  'html head meta title link style body a header p nav ul li small main h1 h2 h3 h4 div dl dt dd code section span b details summary figure figcaption pre footer var time'.split(
    ' ',
  ),
)

test.each([
  ['**bold** and `code`', '<p><strong>bold</strong> and <code>code</code></p>'],
  ['- a\n- b', '<ul>\n<li>a</li>\n<li>b</li>\n</ul>'],
  ['[here](https://example.com/?a=1&b=2)', '<p><a href="https://example.com/?a=1&amp;b=2">here</a></p>'],
  ['[there](#createX)', '<p><a href="#createX">there</a></p>'],
  ['[no](javascript:alert(1))', '<p>[no](javascript:alert(1))</p>'],
  ['[no](data:text/html,x)', '<p>[no](data:text/html,x)</p>'],
  ['[no](//example.com)', '<p>[no](//example.com)</p>'],
  ['![no](https://example.com/x.png)', '<p>!<a href="https://example.com/x.png">no</a></p>'],
  ['<img src=x onerror=y>', '<p>&lt;img src=x onerror=y&gt;</p>'],
  ['# Heading', '<h2>Heading</h2>'],
])('the reference renders the description %j as %s', (given, want) => {
  const page = pageOf(
    'paths: {}\n',
    `openapi: 3.1.0\ninfo: { title: T, version: V, description: ${JSON.stringify(given)} }\n`,
  )
  expect(page).toContain(`<div class="text">\n${want}\n</div>`)
})

const OPERATION = `
security: [{ key: [] }]
servers: [{ url: 'https://api.example.com/' }]
paths:
  /things/{id}:
    patch:
      operationId: updateThing
      parameters:
        - { name: id, in: path, required: true, schema: { type: string }, example: a b }
        - { name: why, in: query, required: true, schema: { type: string, examples: ["it's"] } }
        - { name: Api-Version, in: header, schema: { type: string }, example: '1999-01-01' }
        - { name: Idempotency-Key, in: header, required: true, schema: { type: string }, example: k1 }
      requestBody: { required: true, content: { application/json: { schema: { type: object, examples: [{ name: "Ada's" }] } } } }
      responses: { '200': { description: OK, content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } } }
components:
  securitySchemes: { key: { type: http, scheme: bearer } }
  schemas:
    Thing:
      type: object
      required: [id, when, kind, tags, inside, maybe]
      properties:
        id: { type: string, examples: [th_1] }
        when: { type: string, format: date-time }
        kind: { enum: [a, b] }
        tags: { type: array, items: { type: string, examples: [x] } }
        inside: { type: object, required: [count], properties: { count: { type: integer, minimum: 3 } } }
        maybe: { oneOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }], examples: [null] }
        optional: { type: string }
        shown: { type: string, examples: [yes please] }
`

test('the request is a command that can be pasted', () => {
  const code = /<summary>curl<\/summary>\n<pre><code>([^<]*)<\/code>/.exec(pageOf(OPERATION))?.[1]
  expect(code?.split('\n')).toEqual([
    "curl 'https://api.example.com/things/a%20b?why=it's' \\".replace("it's", "it'\\''s"),
    '  -X PATCH \\',
    '  -H "Authorization: Bearer $API_KEY" \\',
    "  -H 'Api-Version: 2030-01-01' \\",
    '  -H "Idempotency-Key: $(uuidgen 2&gt;/dev/null || cat /proc/sys/kernel/random/uuid)" \\',
    "  --json '{",
    `  "name": "Ada'\\''s"`,
    "}'",
  ])
})

test('the response is made of the examples of its parts', () => {
  const code =
    /<summary>Response 200<\/summary>\n<pre><code>(.*?)<\/code>/s.exec(pageOf(OPERATION))?.[1] ?? ''
  expect(JSON.parse(code.replace(/<\/?b>/g, ''))).toEqual({
    id: 'th_1',
    when: '2026-01-31T12:00:00Z',
    kind: 'a',
    tags: ['x'],
    inside: { count: 3 },
    maybe: null,
    shown: 'yes please',
  })
})

test('responses in the same words, and what every operation takes, are described once', () => {
  const get = (id: string) => `
  /${id}:
    get:
      operationId: ${id}
      parameters: [{ $ref: '#/components/parameters/V' }, { name: own, in: query, schema: { type: string } }]
      responses:
        '200': { description: Fine, headers: { Request-Id: { $ref: '#/components/headers/R' }, Age: { schema: { type: integer } } } }
        '404': { $ref: '#/components/responses/Missing' }
        '409': { description: 'Only ${id}', headers: { Request-Id: { $ref: '#/components/headers/R' } } }`
  const page = pageOf(`
paths:${get('a')}${get('b')}
components:
  parameters: { V: { name: Api-Version, in: header, description: The version., schema: { type: string } } }
  headers: { R: { description: Its id., schema: { type: string } } }
  responses: { Missing: { description: Nothing there., headers: { Request-Id: { $ref: '#/components/headers/R' } } } }
`)
  const times = (text: string) => page.split(text).length - 1
  expect(times('Nothing there.')).toBe(1)
  expect(times('The version.')).toBe(1)
  expect(times('Its id.')).toBe(1)
  expect(times('href="/docs/2030-01-01/conventions#response-404"')).toBe(2)
  expect(times('href="/docs/2030-01-01/conventions#header-Age"')).toBe(2)
  expect([times('Only a'), times('Only b')]).toEqual([1, 1])
  expect(textOf(page, 'header-Request-Id')).toBe('Request-Id string on every response Its id.')
})

test('an event shows its headers and its payload', () => {
  const page = pageOf(`
paths: {}
webhooks:
  thing.made:
    post:
      summary: A thing was made
      parameters: [{ name: Signature, in: header, required: true, description: Over the body., schema: { type: string } }]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Made' } } } }
      responses: { '200': { description: ok } }
components: { schemas: { Made: { type: object, required: [id], properties: { id: { type: string, examples: [e1] } } } } }
`)
  const section = page.slice(page.indexOf('id="event-thing.made"'))
  expect(plain(section)).toContain('A thing was made')
  expect(textOf(page, 'thing.made.header.Signature')).toBe('Signature string required Over the body.')
  expect(textOf(page, 'schema-Made')).toBe('1 property id string')
  expect(section).toContain('"id"</b>: "e1"')
})

test('headers that every event has are described once', () => {
  const event = (name: string) =>
    `  ${name}: { post: { parameters: [{ $ref: '#/components/parameters/S' }], responses: { '200': { description: ok } } } }\n`
  const page = pageOf(`
paths: {}
webhooks:
${event('a')}${event('b')}
components: { parameters: { S: { name: Signature, in: header, required: true, description: Over the body., schema: { type: string } } } }
`)
  expect(page.split('Over the body.')).toHaveLength(2)
  expect(textOf(page, 'event.header.Signature')).toBe('Signature string required Over the body.')
})

test('each version says where it stands and leads to the others', () => {
  const head = (version: string, info: string) =>
    `openapi: 3.1.0\ninfo: { title: T, version: '${version}', ${info} }\n`
  const apis = [
    read(
      'paths: {}\n',
      head(
        'v1',
        "x-status: deprecated, x-deprecated: '2030-01-01T00:00:00Z', x-sunset: '2031-01-02T00:00:00Z'",
      ),
    ).api,
    read('paths: {}\n', head('v2', 'x-status: supported')).api,
    read('paths: {}\n', head('v3', 'x-status: current')).api,
  ]
  const site = emitSite(apis)
  const [v1 = '', v2 = '', v3 = ''] = ['v1', 'v2', 'v3'].map(
    (version) => site.find(({ path }) => path === `site/${version}.html`)?.text,
  )
  const notice = (page: string) => plain(/<p class="notice".*?<\/p>/.exec(page)?.[0] ?? '')
  expect(notice(v1)).toBe(
    'This version has been deprecated since 2030-01-01 and stops working on 2031-01-02 . The newest version is v3 .',
  )
  expect(notice(v2)).toBe('A newer version is available: v3 .')
  expect(notice(v3)).toBe('')
  for (const page of [v1, v2, v3]) {
    expect(
      [...page.matchAll(/<a href="(\/docs\/v\d)"/g)].slice(-3).map(([, href]) => href).length,
    ).toBeGreaterThan(2)
  }
  expect(v2).toContain('<a href="/docs/v2" aria-current="true">v2 <small>supported</small>')
})

test('a new property changes its own lines and no other', () => {
  const lines = (properties: string) =>
    pageOf(
      withSchemas(
        `X: { type: object, properties: { a: { type: string }, ${properties} z: { type: string } } }`,
      ),
    ).split('\n')
  const before = lines('')
  const after = lines('m: { type: string, description: New. },')
  const added = after.filter((line) => !before.includes(line))
  expect(added).toEqual([
    '<summary>3 properties</summary>',
    '<li id="schema-X.m">',
    '<p><code>m</code> <span class="type">string</span></p>',
    '<p>New.</p>',
  ])
})

test('the page of a document with nothing in it stands', () => {
  expect(pageOf('paths: {}\n')).toContain('<h1>Test <small>2030-01-01</small></h1>')
})
