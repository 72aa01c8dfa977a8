/** Edits of one operation, webhook or scheme and whom each breaks, read both ways: `b`, `a` or `-`. */

export type Class = '-' | 'a' | 'b'
/** [what, one document's members, the other's, there, back, only in this dialect] */
export type OperationRow = readonly [string, string, string, Class, Class, ('3.0' | '3.1')?]

const OK = "responses: { '200': { description: ok } }"
const json = (schema: string, type = 'application/json'): string =>
  `content: { "${type}": { schema: ${schema} } }`
/** One operation in flow style, at a path. */
const at = (path: string, members: string, method = 'post'): string =>
  `paths: { "${path}": { ${method}: { operationId: sendA, ${members} } } }`
const op = (members: string): string => at('/a', members)
const parameter = (members: string): string => op(`${OK}, parameters: [{ name: q, ${members} }]`)
const query = (members: string): string => parameter(`in: query, ${members}`)
const answers = (responses: string): string => op(`responses: { ${responses} }`)
const ok = (members: string): string => answers(`'200': { description: ok, ${members} }`)
const body = (members: string): string => op(`${OK}, requestBody: { ${members} }`)
const LIST = 'schema: { type: array, items: { type: string } }'
const STRING = '{ type: string }'
const NUMBER = '{ type: integer }'
const ERROR = (status: string, schema: string): string => `'${status}': { description: e, ${json(schema)} }`

/** GET operations: each id with its path, and its answer if it is not a word. */
const gets = (...routes: readonly (readonly [string, string, string?])[]): string =>
  `paths: { ${routes
    .map(([id, path, schema = STRING]) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const own = names.map((name) => `{ name: ${name}, in: path, required: true, schema: ${STRING} }`)
      return `"${path}": { get: { operationId: ${id}, parameters: [${own.join(', ')}], responses: { '200': { description: ok, ${json(schema)} } } } }`
    })
    .join(', ')} }`
const OVERLOADED = gets(['one', '/a/{x}'], ['two', '/a/{y}'])
const QUERIED = gets(['one', '/a?kind=1'], ['two', '/a?kind=2'], ['three', '/a#f'])
const NUMBERED = gets(['get', '/a'], ['get_1', '/b'], ['get_2', '/c'])

const ROUTES: readonly OperationRow[] = [
  ['an operation', 'paths: {}', op(OK), 'a', 'b'],
  ['another id', op(OK), op(OK).replace('sendA', 'postA'), 'a', 'a'],
  ['another path', op(OK), at('/b', OK), 'a', 'a'],
  ['another method', op(OK), at('/a', OK, 'put'), 'a', 'a'],
  ['prose and tags', op(OK), op(`summary: s, description: d, tags: [t], ${OK}`), '-', '-'],
  ['deprecated', op(OK), op(`deprecated: true, ${OK}`), 'a', '-'],
  [
    'ids that two operations have swapped',
    `paths: { /a: { post: { operationId: one, ${OK} } }, /b: { post: { operationId: two, responses: { '201': { description: made } } } } }`,
    `paths: { /a: { post: { operationId: two, ${OK} } }, /b: { post: { operationId: one, responses: { '201': { description: made } } } } }`,
    'a',
    'a',
  ],
  [
    'an id that moved to a new path, beside another at the old one',
    `paths: { /a: { get: { operationId: one, ${OK} } } }`,
    `paths: { /b: { get: { operationId: one, ${OK} } }, /a: { get: { operationId: two, ${OK} } } }`,
    'a',
    'b',
  ],
  [
    'ids that one more route has renumbered',
    NUMBERED,
    gets(['get', '/0'], ['get_1', '/a'], ['get_2', '/b'], ['get_3', '/c']),
    'a',
    'b',
  ],
  [
    'an answer of a route whose id is renumbered',
    NUMBERED,
    gets(['get', '/0'], ['get_1', '/a'], ['get_2', '/b', NUMBER], ['get_3', '/c']),
    'b',
    'b',
  ],
  ['paths that differ only in names, with themselves', OVERLOADED, OVERLOADED, '-', '-'],
  [
    'paths that differ only in names, under other names',
    OVERLOADED,
    gets(['one', '/a/{u}'], ['two', '/a/{v}']),
    'a',
    'a',
  ],
  ['paths with a query or a fragment, with themselves', QUERIED, QUERIED, '-', '-'],
]

/** Encodings of a parameter that hold the same values. */
const ENCODINGS: readonly (readonly [string, string, string])[] = [
  [
    'style',
    query(`style: form, explode: false, ${LIST}`),
    query(`style: pipeDelimited, explode: false, ${LIST}`),
  ],
  ['explode', query(LIST), query(`explode: false, ${LIST}`)],
  [
    'style of a path',
    at('/a/{q}', `${OK}, parameters: [{ name: q, in: path, required: true, ${LIST} }]`),
    at('/a/{q}', `${OK}, parameters: [{ name: q, in: path, required: true, style: matrix, ${LIST} }]`),
  ],
  [
    'style of a word in a path',
    at('/a/{q}', `${OK}, parameters: [{ name: q, in: path, required: true, schema: ${STRING} }]`),
    at(
      '/a/{q}',
      `${OK}, parameters: [{ name: q, in: path, required: true, style: label, schema: ${STRING} }]`,
    ),
  ],
  ['of an object', query('schema: { type: object }'), query('style: deepObject, schema: { type: object }')],
]

const PARAMETERS: readonly OperationRow[] = [
  ['a parameter', op(OK), query('schema: {}'), 'a', 'b'],
  ['a required parameter', op(OK), query('required: true, schema: {}'), 'b', 'b'],
  ['required', query('schema: {}'), query('required: true, schema: {}'), 'b', 'a'],
  ['of another type', query(`schema: ${STRING}`), query(`schema: ${NUMBER}`), 'b', 'b'],
  ['elsewhere', query(`schema: ${STRING}`), parameter(`in: header, schema: ${STRING}`), 'b', 'b'],
  ['a cookie', op(OK), parameter('in: cookie, schema: {}'), 'a', 'b'],
  [
    'a member less',
    query('schema: { type: string, enum: [a, b] }'),
    query('schema: { type: string, enum: [a] }'),
    'b',
    'a',
  ],
  [
    'another default',
    query('schema: { type: integer, default: 1 }'),
    query('schema: { type: integer, default: 2 }'),
    'b',
    'b',
  ],
  ['the style that is assumed', query(LIST), query(`style: form, ${LIST}`), '-', '-'],
  ['explode, as assumed', query(LIST), query(`explode: true, ${LIST}`), '-', '-'],
  ['explode, of a word', query(`schema: ${STRING}`), query(`explode: false, schema: ${STRING}`), '-', '-'],
  ...ENCODINGS.map((row): OperationRow => [...row, 'a', 'a']),
  [
    'style of a value without a type',
    query('explode: false, schema: {}'),
    query('style: pipeDelimited, explode: false, schema: {}'),
    'b',
    'b',
  ],
  ['written as JSON', query('schema: { type: object }'), query(json('{ type: object }')), 'b', 'b'],
  ['a schema in content', query(json(STRING)), query(json(NUMBER)), 'b', 'b'],
  ['reserved letters', query(`allowReserved: true, schema: ${STRING}`), query(`schema: ${STRING}`), 'a', 'a'],
  ['an empty value', query(`allowEmptyValue: true, schema: ${STRING}`), query(`schema: ${STRING}`), 'b', 'a'],
  [
    'a header in other letters',
    parameter('in: header, schema: {}'),
    parameter('in: header, schema: {}').replace('name: q', 'name: Q'),
    '-',
    '-',
  ],
  ['deprecated', query('schema: {}'), query('deprecated: true, schema: {}'), 'a', '-'],
]

const BODIES: readonly OperationRow[] = [
  ['a body', op(OK), body(json('{}')), 'a', 'b'],
  ['a required body', op(OK), body(`required: true, ${json('{}')}`), 'b', 'b'],
  ['required', body(json('{}')), body(`required: true, ${json('{}')}`), 'b', 'a'],
  ['another media type', body(json('{}')), body(json('{}', 'application/xml')), 'b', 'b'],
  [
    'one more media type',
    body(json('{}')),
    body('content: { application/json: { schema: {} }, text/plain: { schema: {} } }'),
    'a',
    'b',
  ],
  ['any of a media type', body(json(STRING)), body(json(STRING, 'application/*')), 'a', 'b'],
  ['any media type', body(json(STRING)), body(json(STRING, '*/*')), 'a', 'b'],
  ['a charset', body(json('{}')), body(json('{}', 'application/json; charset=utf-8')), '-', '-'],
  ['other letters', body(json('{}')), body(json('{}', 'Application/JSON')), '-', '-'],
  ['a schema under a range', body(json(STRING)), body(json(NUMBER, 'application/*')), 'b', 'b'],
]

const form = (encoding: string, type = 'multipart/form-data', property = '{ type: string }'): string =>
  body(
    `content: { "${type}": { schema: { type: object, properties: { f: ${property} } }, encoding: { ${encoding} } } }`,
  )
const FORMS: readonly OperationRow[] = [
  ['a media type of a part', form(''), form('f: { contentType: image/png }'), 'b', 'b'],
  ['the media type that is assumed', form(''), form('f: { contentType: text/plain }'), '-', '-'],
  [
    'one more media type of a part',
    form('f: { contentType: image/png }'),
    form('f: { contentType: "image/png, image/jpeg" }'),
    'a',
    'b',
  ],
  [
    'style of a field',
    form('', 'application/x-www-form-urlencoded', '{ type: array, items: { type: string } }'),
    form(
      'f: { style: pipeDelimited }',
      'application/x-www-form-urlencoded',
      '{ type: array, items: { type: string } }',
    ),
    'b',
    'b',
  ],
  [
    'explode of a field',
    form(
      'f: { explode: true }',
      'application/x-www-form-urlencoded',
      '{ type: array, items: { type: string } }',
    ),
    form(
      'f: { explode: false }',
      'application/x-www-form-urlencoded',
      '{ type: array, items: { type: string } }',
    ),
    'b',
    'b',
  ],
  ['headers of a part', form(''), form('f: { headers: { X-F: { required: true, schema: {} } } }'), 'b', 'b'],
  [
    'encoding of what is no form',
    form('', 'application/json'),
    form('f: { contentType: image/png }', 'application/json'),
    '-',
    '-',
  ],
]

const ANSWERS: readonly OperationRow[] = [
  [
    'a success',
    answers("'200': { description: ok }"),
    answers("'200': { description: ok }, '202': { description: ok }"),
    'b',
    'b',
  ],
  ['another success', answers("'200': { description: ok }"), answers("'201': { description: ok }"), 'b', 'b'],
  [
    'an error',
    answers("'200': { description: ok }"),
    answers("'200': { description: ok }, '409': { description: no }"),
    'a',
    'a',
  ],
  ['any success', answers("'200': { description: ok }"), answers("'2XX': { description: ok }"), 'b', '-'],
  ['any success, of another schema', answers(ERROR('2XX', STRING)), answers(ERROR('200', NUMBER)), 'b', 'b'],
  ['one success of any', answers(ERROR('2XX', STRING)), answers(ERROR('200', STRING)), '-', 'b'],
  [
    'a status of its own under a range',
    answers(ERROR('2XX', STRING)),
    answers(`${ERROR('2XX', STRING)}, ${ERROR('201', STRING)}`),
    '-',
    '-',
  ],
  [
    'a status under a range that says otherwise',
    answers(ERROR('2XX', STRING)),
    answers(`${ERROR('2XX', STRING)}, ${ERROR('201', NUMBER)}`),
    'b',
    'b',
  ],
  [
    'an error under a range that says otherwise',
    answers(`'200': { description: ok }, ${ERROR('4XX', STRING)}`),
    answers(`'200': { description: ok }, ${ERROR('4XX', STRING)}, ${ERROR('404', NUMBER)}`),
    'b',
    'b',
  ],
  [
    'an error of its own under default',
    answers(`'200': { description: ok }, ${ERROR('default', STRING)}`),
    answers(`'200': { description: ok }, ${ERROR('default', STRING)}, ${ERROR('404', STRING)}`),
    '-',
    '-',
  ],
  [
    'an error under default that says otherwise',
    answers(`'200': { description: ok }, ${ERROR('default', STRING)}`),
    answers(`'200': { description: ok }, ${ERROR('default', STRING)}, ${ERROR('404', NUMBER)}`),
    'b',
    'b',
  ],
  [
    'a success under default that says otherwise',
    answers(ERROR('default', STRING)),
    answers(`${ERROR('default', STRING)}, ${ERROR('200', NUMBER)}`),
    'b',
    'b',
  ],
  [
    'a success under default',
    answers(ERROR('default', STRING)),
    answers(`${ERROR('default', STRING)}, ${ERROR('200', STRING)}`),
    '-',
    '-',
  ],
  [
    'a default',
    answers("'200': { description: ok }"),
    answers(`'200': { description: ok }, ${ERROR('default', STRING)}`),
    'a',
    'a',
  ],
  ['a media type', ok(json(STRING)), ok(json(STRING, 'application/xml')), 'b', 'b'],
  [
    'one more media type',
    ok(json(STRING)),
    ok(`content: { application/json: { schema: ${STRING} }, text/csv: {} }`),
    'a',
    'b',
  ],
  ['any of a media type', ok(json(STRING)), ok(json(STRING, 'application/*')), 'a', 'a'],
  ['a schema of an error', answers(ERROR('400', STRING)), answers(ERROR('400', NUMBER)), 'b', 'b'],
  ['a header', ok('headers: {}'), ok('headers: { X-H: { schema: {} } }'), 'a', 'b'],
  [
    'a header that always comes',
    ok('headers: { X-H: { schema: {} } }'),
    ok('headers: { X-H: { required: true, schema: {} } }'),
    'a',
    'b',
  ],
  [
    'a header of another type',
    ok(`headers: { X-H: { schema: ${STRING} } }`),
    ok(`headers: { X-H: { schema: ${NUMBER} } }`),
    'b',
    'b',
  ],
  [
    'a header, exploded',
    ok('headers: { X-H: { schema: { type: object } } }'),
    ok('headers: { X-H: { explode: true, schema: { type: object } } }'),
    'b',
    'b',
  ],
  ['links', ok('links: {}'), ok('links: { next: { operationId: sendA } }'), '-', '-'],
]

const hook = (members: string): string =>
  `paths: {}\nwebhooks: { a.done: { post: { responses: { '200': { description: ok } }${members} } } }`
const called = (members: string, url = '{$request.body#/url}', name = 'done'): string =>
  op(
    `${OK}, callbacks: { ${name}: { "${url}": { post: { responses: { '200': { description: ok } }${members} } } } }`,
  )
const SENT = [
  ['a payload', '', `, requestBody: { ${json(STRING)} }`, 'a', 'b'],
  ['of another type', `, requestBody: { ${json(STRING)} }`, `, requestBody: { ${json(NUMBER)} }`, 'b', 'b'],
  [
    'of another media type',
    `, requestBody: { ${json(STRING)} }`,
    `, requestBody: { ${json(STRING, 'application/xml')} }`,
    'b',
    'b',
  ],
  [
    'of one more media type',
    `, requestBody: { ${json(STRING)} }`,
    `, requestBody: { content: { application/json: { schema: ${STRING} }, application/xml: { schema: ${STRING} } } }`,
    'a',
    'b',
  ],
  [
    'that may be absent',
    `, requestBody: { required: true, ${json(STRING)} }`,
    `, requestBody: { ${json(STRING)} }`,
    'b',
    '-',
  ],
  [
    'of the second media type',
    `, requestBody: { content: { application/json: {}, text/plain: { schema: ${STRING} } } }`,
    `, requestBody: { content: { application/json: {}, text/plain: { schema: ${NUMBER} } } }`,
    'b',
    'b',
  ],
  ['a header', '', ', parameters: [{ name: X-H, in: header, required: true, schema: {} }]', 'a', 'b'],
  [
    'a member more',
    `, requestBody: { ${json('{ type: string, enum: [a] }')} }`,
    `, requestBody: { ${json('{ type: string, enum: [a, b] }')} }`,
    'b',
    'a',
  ],
] as const
const EVENTS: readonly OperationRow[] = [
  ['an event', 'paths: {}', hook(''), 'a', 'b', '3.1'],
  ['a callback', op(OK), called(''), 'a', 'b'],
  ['a callback of another name', called(''), called('', undefined, 'ready'), 'b', 'b'],
  ['a callback elsewhere', called(''), called('', '{$request.body#/other}'), 'b', 'b'],
  ...SENT.map(
    ([what, a, b, there, back]): OperationRow => [`event: ${what}`, hook(a), hook(b), there, back, '3.1'],
  ),
  ...SENT.map(
    ([what, a, b, there, back]): OperationRow => [`callback: ${what}`, called(a), called(b), there, back],
  ),
]

const KEY = 'type: apiKey, in: header, name: K'
const BEARER = 'type: http, scheme: bearer'
const OAUTH = (flows: string): string => `type: oauth2, flows: { ${flows} }`
const CODE =
  'authorizationCode: { authorizationUrl: "https://a.test", tokenUrl: "https://t.test", scopes: { r: read, w: write } }'
const CLIENT = 'clientCredentials: { tokenUrl: "https://t.test", scopes: { r: read, w: write } }'
const secured = (schemes: string, security = '[{ s: [] }]'): string =>
  `${op(`${OK}, security: ${security}`)}\ncomponents: { securitySchemes: { ${schemes} } }`
const SECURITY: readonly OperationRow[] = [
  ['security', op(OK), secured(`s: { ${KEY} }`), 'b', 'a'],
  [
    'another way in',
    secured(`s: { ${KEY} }, o: { ${BEARER} }`),
    secured(`s: { ${KEY} }, o: { ${BEARER} }`, '[{ s: [] }, { o: [] }]'),
    'a',
    'b',
  ],
  [
    'both ways in at once',
    secured(`s: { ${KEY} }, o: { ${BEARER} }`),
    secured(`s: { ${KEY} }, o: { ${BEARER} }`, '[{ s: [], o: [] }]'),
    'b',
    'a',
  ],
  [
    'a scope',
    secured(`s: { ${OAUTH(CODE)} }`, '[{ s: [r] }]'),
    secured(`s: { ${OAUTH(CODE)} }`, '[{ s: [r, w] }]'),
    'b',
    'a',
  ],
  ['another kind', secured(`s: { ${KEY} }`), secured(`s: { ${BEARER} }`), 'b', 'b'],
  [
    'a key elsewhere',
    secured(`s: { ${KEY} }`),
    secured(`s: { ${KEY.replace('header', 'query')} }`),
    'b',
    'b',
  ],
  [
    'a key of another name',
    secured(`s: { ${KEY} }`),
    secured(`s: { ${KEY.replace('name: K', 'name: Z')} }`),
    'b',
    'b',
  ],
  [
    'one more way to a token',
    secured(`s: { ${OAUTH(CODE)} }`),
    secured(`s: { ${OAUTH(`${CODE}, ${CLIENT}`)} }`),
    '-',
    'b',
  ],
  [
    'another address for tokens',
    secured(`s: { ${OAUTH(CLIENT)} }`),
    secured(`s: { ${OAUTH(CLIENT.replace('t.test', 'u.test'))} }`),
    'b',
    'b',
  ],
  [
    'another address to refresh tokens',
    secured(`s: { ${OAUTH(CLIENT)} }`),
    secured(`s: { ${OAUTH(CLIENT.replace('scopes', 'refreshUrl: "https://r.test", scopes'))} }`),
    'b',
    'b',
  ],
  [
    'a scheme that nothing uses',
    op(OK),
    `${op(OK)}\ncomponents: { securitySchemes: { s: { ${KEY} } } }`,
    '-',
    '-',
  ],
  [
    'a change of what nothing uses',
    `${op(OK)}\ncomponents: { securitySchemes: { s: { ${KEY} } } }`,
    `${op(OK)}\ncomponents: { securitySchemes: { s: { ${BEARER} } } }`,
    '-',
    '-',
  ],
  [
    'a scheme of another name',
    secured(`s: { ${KEY} }`),
    secured(`key: { ${KEY} }`, '[{ key: [] }]'),
    '-',
    '-',
  ],
  ['prose of a scheme', secured(`s: { ${KEY} }`), secured(`s: { ${KEY}, description: d }`), '-', '-'],
  [
    'scopes in another order',
    secured(`s: { ${OAUTH(CODE)} }`, '[{ s: [r, w] }]'),
    secured(`s: { ${OAUTH(CODE)} }`, '[{ s: [w, r] }]'),
    '-',
    '-',
  ],
]

const shared = (schemas: string, schema: string): string =>
  `${ok(json(schema))}\ncomponents: { schemas: { ${schemas} } }`
const [ONE, TWO] = [
  '{ type: object, properties: { a: { type: string } } }',
  '{ type: object, properties: { b: { type: integer } } }',
]
const both = (a: string, b: string, kind = 'oneOf'): string =>
  `{ ${kind}: [{ $ref: "#/components/schemas/${a}" }, { $ref: "#/components/schemas/${b}" }] }`
const NAMES: readonly OperationRow[] = [
  [
    'names that two components have swapped',
    shared(`A: ${ONE}, B: ${TWO}`, '{ $ref: "#/components/schemas/A" }'),
    shared(`A: ${TWO}, B: ${ONE}`, '{ $ref: "#/components/schemas/B" }'),
    '-',
    '-',
  ],
  [
    'swapped in a union',
    shared(`A: ${ONE}, B: ${TWO}`, both('A', 'B')),
    shared(`A: ${TWO}, B: ${ONE}`, both('A', 'B')),
    '-',
    '-',
  ],
  [
    'swapped in a whole',
    shared(`A: ${ONE}, B: ${TWO}`, both('A', 'B', 'allOf')),
    shared(`A: ${TWO}, B: ${ONE}`, both('A', 'B', 'allOf')),
    '-',
    '-',
  ],
  [
    'a component of another name',
    shared(`A: ${ONE}`, '{ $ref: "#/components/schemas/A" }'),
    shared(`Z: ${ONE}`, '{ $ref: "#/components/schemas/Z" }'),
    '-',
    '-',
  ],
  [
    'a component that nothing uses',
    shared(`A: ${ONE}, B: ${TWO}`, '{ $ref: "#/components/schemas/A" }'),
    shared(`A: ${ONE}`, '{ $ref: "#/components/schemas/A" }'),
    '-',
    '-',
  ],
  [
    'a tag that is a name',
    shared(
      `A: ${ONE}, B: ${TWO}`,
      both('A', 'B').replace(' }', ' }').replace(/ \}$/, ', discriminator: { propertyName: k } }'),
    ),
    shared(`A: ${ONE}, Z: ${TWO}`, both('A', 'Z').replace(/ \}$/, ', discriminator: { propertyName: k } }')),
    'b',
    'b',
  ],
]

const server = (urls: string, more = ''): string => `servers: [${urls}]\n${at('/a', `${OK}${more}`)}`
const url = (text: string): string => `{ url: "${text}" }`
const valued = (schema: string): string => parameter(`in: query, schema: ${schema}`)
const inHeader = (schema: string): string => parameter(`in: header, schema: ${schema}`)

/** Edits where the service does not translate: the new document replaces the old one. */
export const PLAIN_ROWS: readonly OperationRow[] = [
  ...ENCODINGS.map((row): OperationRow => [...row, 'b', 'b']),
  ['reserved letters', query(`allowReserved: true, schema: ${STRING}`), query(`schema: ${STRING}`), 'b', 'a'],
  ['another path', op(OK), at('/b', OK), 'b', 'b'],
  ['another method', op(OK), at('/a', OK, 'put'), 'b', 'b'],
  ['a path of other names', gets(['one', '/a/{x}']), gets(['one', '/a/{y}']), 'a', 'a'],
  ['another base path', server(url('https://a.test/v1')), server(url('https://a.test/v2')), 'b', 'b'],
  [
    'a server more',
    server(url('https://a.test')),
    server(`${url('https://a.test')}, ${url('https://b.test')}`),
    'a',
    'b',
  ],
  [
    'a slash at the end of a server',
    server(url('https://a.test/v1')),
    server(url('https://A.test/v1/')),
    '-',
    '-',
  ],
  [
    'prose of a server',
    server(url('https://a.test')),
    server('{ url: "https://a.test", description: d }'),
    '-',
    '-',
  ],
  ['the first server', op(OK), server(url('https://a.test')), 'a', 'b'],
  [
    'a value of a variable of a server',
    server('{ url: "https://{r}.test", variables: { r: { default: eu, enum: [eu] } } }'),
    server('{ url: "https://{r}.test", variables: { r: { default: eu, enum: [eu, us] } } }'),
    'a',
    'b',
  ],
  [
    'a variable of a server by another name',
    server('{ url: "https://{r}.test", variables: { r: { default: eu } } }'),
    server('{ url: "https://{s}.test", variables: { s: { default: us } } }'),
    '-',
    '-',
  ],
  [
    'values of a variable as servers',
    server('{ url: "https://{r}.test", variables: { r: { default: eu, enum: [eu, us] } } }'),
    server(`${url('https://us.test')}, ${url('https://eu.test')}`),
    '-',
    '-',
  ],
  [
    'a server of an operation',
    server(url('https://a.test')),
    server(url('https://a.test'), `, servers: [${url('https://b.test')}]`),
    'b',
    'b',
  ],
  [
    'a server of an operation, as that of the document',
    server(url('https://a.test')),
    server(url('https://a.test'), `, servers: [${url('https://a.test')}]`),
    '-',
    '-',
  ],
  [
    'a server of a path',
    `paths: { /a: { servers: [${url('https://a.test')}], get: { ${OK} } } }`,
    `paths: { /a: { servers: [${url('https://b.test')}], get: { ${OK} } } }`,
    'b',
    'b',
  ],
  ['a list of a word', valued(STRING), valued('{ type: array, items: { type: string } }'), 'a', 'b'],
  [
    'a list with commas of a word',
    valued(STRING),
    parameter('in: query, explode: false, schema: { type: array, items: { type: string } }'),
    'a',
    'b',
  ],
  [
    'a list of a word, in a header',
    inHeader(STRING),
    inHeader('{ type: array, items: { type: string } }'),
    'a',
    'b',
  ],
  [
    'a list of a word that is not separated by commas',
    valued(STRING),
    parameter(
      'in: query, style: pipeDelimited, explode: false, schema: { type: array, items: { type: string } }',
    ),
    'b',
    'b',
  ],
  [
    'a list of narrower words',
    valued(STRING),
    valued('{ type: array, items: { type: string, maxLength: 3 } }'),
    'b',
    'b',
  ],
  [
    'a list of two words at least',
    valued(STRING),
    valued('{ type: array, minItems: 2, items: { type: string } }'),
    'b',
    'b',
  ],
  [
    'a list of a number, as text',
    valued(NUMBER),
    valued('{ type: array, items: { type: string } }'),
    'a',
    'b',
  ],
  ['text of a number', valued(NUMBER), valued(STRING), 'a', 'b'],
  [
    'text of words or numbers',
    valued('{ anyOf: [{ type: string, maxLength: 3 }, { type: integer }] }'),
    valued(STRING),
    'a',
    'b',
  ],
  [
    'a base path that moved from the server to the paths',
    server(url('https://a.test/v1')),
    server(url('https://a.test')).replace('"/a"', '"/v1/a"'),
    'a',
    'a',
  ],
  ['text of yes and no', valued('{ type: boolean }'), valued(STRING), 'a', 'b'],
  ['text of a number, in a header', inHeader(NUMBER), inHeader(STRING), 'a', 'b'],
  [
    'texts of numbers',
    valued('{ type: array, items: { type: integer } }'),
    valued('{ type: array, items: { type: string } }'),
    'a',
    'b',
  ],
  [
    'text of a number, by a pattern',
    valued(NUMBER),
    valued('{ type: string, pattern: "^[a-z]*$" }'),
    'b',
    'b',
  ],
  ['text of a number, as a date', valued(NUMBER), valued('{ type: string, format: date }'), 'b', 'b'],
  ['text of a number, in a body', body(json(NUMBER)), body(json(STRING)), 'b', 'b'],
]

export const OPERATION_ROWS: readonly OperationRow[] = [
  ...ROUTES,
  ...PARAMETERS,
  ...BODIES,
  ...FORMS,
  ...ANSWERS,
  ...EVENTS,
  ...SECURITY,
  ...NAMES,
]
