/** A document whose every text is somebody else's: what a generator must carry, and never run. */

/** @returns the next text; each once. @param position what it stands for in the document. */
export type NextText = (position: string) => string

type Json = Record<string, unknown>

/** What went into the document, for comparing it with what comes out. */
export interface ForeignDocument {
  readonly json: Json
  readonly component: string
  readonly property: string
  readonly members: readonly string[]
  readonly constant: string
  readonly closed: readonly string[]
  readonly tags: readonly string[]
  readonly pattern: string
  readonly operation: string
  readonly path: string
  readonly parameters: readonly string[]
  readonly event: string
  readonly header: string
  readonly errors: readonly string[]
  readonly extensions: { readonly scope: string; readonly rateLimit: string }
}

const escapeToken = (text: string): string =>
  text.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25')
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${escapeToken(name)}` })

/** An object whose members are own, whatever they are called. */
const named = (...members: readonly (readonly [string, unknown])[]): Json => Object.fromEntries(members)

/** @returns an OpenAPI 3.1 document with foreign text in every position that takes text. */
export function makeForeignDocument(version: string, next: NextText): ForeignDocument {
  const prose = () => ({ title: next('title'), description: next('description') })
  const [component, property, constant, operation] = ['component', 'property', 'const', 'operationId'].map(
    next,
  )
  const members = ['enum', 'enum', 'enum', 'enum', 'enum', 'enum'].map(next)
  const closed = ['property', 'property'].map(next)
  const tags = ['discriminator', 'discriminator'].map(next)
  const tagged = ['component', 'component'].map(next)
  const pathParameter = next('path parameter').replaceAll(/[{}]/g, '')
  const path = `/${next('path').replaceAll(/[{}]/g, '')}/{${pathParameter}}`
  const parameters = [pathParameter, next('query'), next('header')]
  const [kind, event, header] = ['discriminator property', 'event', 'event header'].map(next)
  const literalText = next('pattern')
  const pattern = `^${literalText.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$`
  const errors = ['error type', 'error type'].map(next)
  const extensions = { scope: next('scope'), rateLimit: next('bucket') }
  const [scheme, oauth, scope, tag, shared] = ['scheme', 'scheme', 'scope', 'tag', 'response'].map(next)
  const json = (schema: Json) => ({ 'application/json': { schema } })
  const fails = { description: next('description'), content: json(ref('Failure')) }
  return {
    json: {
      openapi: '3.1.0',
      info: {
        version,
        ...prose(),
        termsOfService: next('address'),
        contact: { name: next('name'), url: next('address'), email: next('address') },
        license: { name: next('name'), identifier: next('name') },
        'x-status': next('extension'),
        [`x-${next('extension name')}`]: next('extension'),
      },
      servers: [
        {
          url: next('server'),
          description: next('description'),
          variables: named([
            next('variable'),
            { default: next('default'), enum: [next('enum')], description: next('description') },
          ]),
        },
      ],
      externalDocs: { url: next('address'), description: next('description') },
      tags: [
        {
          name: tag,
          description: next('description'),
          externalDocs: { url: next('address'), description: next('description') },
        },
      ],
      security: [named([scheme!, []]), named([oauth!, [scope]])],
      paths: named([
        path,
        {
          get: {
            operationId: operation,
            summary: next('summary'),
            description: next('description'),
            tags: [tag, next('tag')],
            externalDocs: { url: next('address'), description: next('description') },
            'x-scope': extensions.scope,
            'x-rate-limit': extensions.rateLimit,
            'x-plan': next('plan'),
            'x-environment': next('environment'),
            'x-pagination': next('extension'),
            callbacks: named([
              next('callback'),
              named([
                `{$request.body#/${next('expression').replaceAll(/[{}]/g, '')}}`,
                {
                  post: {
                    summary: next('summary'),
                    requestBody: { content: json(ref(component!)) },
                    responses: { 200: { description: next('description') } },
                  },
                },
              ]),
            ]),
            [`x-${next('extension name')}`]: { deep: next('extension') },
            parameters: [
              {
                name: pathParameter,
                in: 'path',
                required: true,
                schema: { type: 'string' },
                example: next('example'),
              },
              {
                name: parameters[1],
                in: 'query',
                description: next('description'),
                schema: { type: 'string', enum: [next('enum')], default: next('default') },
                examples: named([
                  next('example name'),
                  { summary: next('summary'), description: next('description'), value: next('example') },
                ]),
                'x-filter': next('extension'),
              },
              {
                name: parameters[2],
                in: 'header',
                required: true,
                schema: { type: 'string', format: next('format') },
              },
              { $ref: `#/components/parameters/${escapeToken('a-b')}` },
              { $ref: `#/components/parameters/${escapeToken('a_b')}` },
            ],
            responses: {
              200: {
                description: next('description'),
                headers: named([
                  next('response header'),
                  { schema: { type: 'string' }, description: next('description') },
                ]),
                content: named(
                  [
                    'application/json',
                    { schema: ref(component!), example: named([next('example'), next('example')]) },
                  ],
                  [next('media type'), {}],
                ),
                links: named([
                  next('link'),
                  {
                    operationId: operation,
                    description: next('description'),
                    parameters: named([next('parameter'), next('expression')]),
                  },
                ]),
              },
              404: { $ref: `#/components/responses/${escapeToken(shared!)}` },
              default: fails,
            },
          },
          post: {
            parameters: [{ name: pathParameter, in: 'path', required: true, schema: { type: 'string' } }],
            operationId: next('operationId'),
            requestBody: {
              description: next('description'),
              content: named(
                ['application/json', { schema: ref(component!) }],
                [next('media type'), { schema: {} }],
              ),
            },
            responses: {
              201: { description: next('description'), content: json(ref(component!)) },
              default: fails,
            },
          },
          put: {
            parameters: [{ name: pathParameter, in: 'path', required: true, schema: { type: 'string' } }],
            summary: next('summary'),
            responses: { 204: { description: next('description') } },
          },
        },
      ]),
      webhooks: named([
        event!,
        {
          post: {
            summary: next('summary'),
            parameters: [
              { name: header, in: 'header', schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' } },
            ],
            requestBody: { content: json(ref(component!)) },
            responses: { 200: { description: next('description') } },
          },
        },
      ]),
      components: {
        securitySchemes: named(
          [
            scheme!,
            { type: 'apiKey', in: 'header', name: next('scheme header'), description: next('description') },
          ],
          [
            oauth!,
            {
              type: 'oauth2',
              flows: {
                authorizationCode: {
                  authorizationUrl: next('address'),
                  tokenUrl: next('address'),
                  scopes: named([scope!, next('description')]),
                },
              },
            },
          ],
        ),
        responses: named([
          shared!,
          { description: next('description'), content: { 'application/json': { schema: ref('Failure') } } },
        ]),
        parameters: {
          'a-b': { name: next('query'), in: 'query', schema: { type: 'string' } },
          a_b: { name: next('query'), in: 'query', schema: { type: 'integer' } },
        },
        schemas: named(
          [
            component!,
            {
              ...prose(),
              type: 'object',
              required: [property],
              properties: named(
                [
                  property!,
                  {
                    ...prose(),
                    type: 'string',
                    enum: members,
                    default: members[0],
                    examples: [next('example')],
                    $comment: next('comment'),
                    externalDocs: { url: next('address'), description: next('description') },
                    xml: { name: next('name'), namespace: next('address'), prefix: next('name') },
                    'x-enum-descriptions': named([members[0]!, next('description')]),
                  },
                ],
                [
                  'encoded',
                  { type: 'string', contentMediaType: next('media type'), contentEncoding: next('name') },
                ],
                [
                  'dependent',
                  {
                    type: 'object',
                    dependentRequired: named([closed[0]!, [closed[1]]]),
                    required: [closed[0]],
                  },
                ],
                ['few', { enum: members.slice(0, 2) }],
                ['one', { const: constant }],
                ['text', { type: 'string', pattern, format: next('format') }],
                [
                  'map',
                  {
                    type: 'object',
                    patternProperties: named([pattern, { type: 'integer' }]),
                    propertyNames: { minLength: 1 },
                  },
                ],
                ['open', { type: 'string', enum: [next('enum')], 'x-extensible': true }],
                [
                  'tagged',
                  {
                    oneOf: tagged.map(ref),
                    discriminator: {
                      propertyName: kind,
                      mapping: named(
                        [tags[0]!, `#/components/schemas/${escapeToken(tagged[0]!)}`],
                        [tags[1]!, `#/components/schemas/${escapeToken(tagged[1]!)}`],
                      ),
                    },
                  },
                ],
                ['twin', { $ref: `#/components/schemas/${escapeToken(component!)}` }],
                // Not as wide as they look: names that every object inherits, and one that means something elsewhere.
                ...['__proto__', 'constructor', 'hasOwnProperty', 'headers', 'toString'].map(
                  (name) => [name, { type: 'integer', description: next('description') }] as const,
                ),
              ),
            },
          ],
          [
            'Closed',
            {
              type: 'object',
              additionalProperties: false,
              properties: named(...closed.map((name) => [name, {}] as const)),
            },
          ],
          ...tagged.map(
            (name, index) =>
              [
                name,
                { type: 'object', required: [kind], properties: named([kind!, { const: tags[index] }]) },
              ] as const,
          ),
          [
            'Failure',
            {
              type: 'object',
              properties: {
                error: {
                  type: 'object',
                  properties: {
                    type: { type: 'string', enum: errors },
                    code: { type: 'string', enum: [next('error code')], description: next('description') },
                  },
                },
              },
            },
          ],
          // Names that the generated code has uses of its own for.
          ...[
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
          ].map(
            (name) =>
              [
                name,
                {
                  type: 'array',
                  uniqueItems: true,
                  items: { type: 'string', format: 'date' },
                  description: next('description'),
                },
              ] as const,
          ),
          ['Set$', { type: 'object', properties: { again: ref('Set$') } }],
        ),
      },
    },
    component: component!,
    property: property!,
    members,
    constant: constant!,
    closed,
    tags,
    pattern: literalText,
    operation: operation!,
    path,
    parameters,
    event: event!,
    header: header!,
    errors,
    extensions,
  }
}
