/** Builds the IR of one version from a loaded document. Collects all problems. */
import type { Report } from '../diagnostics/diagnostic.ts'
import type { LoadedDocument } from '../document/load.ts'
import { indexReferences } from '../runtime/explain/references.ts'
import { isRaw } from './bodies.ts'
import { buildBody, buildResponse } from './contents.ts'
import { isForm, isJson } from './media-type.ts'
import type {
  Api,
  ApiCallback,
  ApiContent,
  ApiOperation,
  ApiParameter,
  ApiServer,
  EventType,
  SecurityRequirement,
} from './model.ts'
import { ADDITIONAL, idsOf, METHODS } from './operation-names.ts'
import { buildParameters, checkPathParameters } from './parameters.ts'
import { buildSchema, optional } from './schema.ts'
import {
  child,
  entries,
  extensionsOf,
  flag,
  isObject,
  items,
  leaveOut,
  placeOf,
  resolve,
  type Source,
  text,
} from './source.ts'
import { readStreams } from './streams.ts'

/**
 * Builds the IR of one version.
 *
 * @param strict whether unsupported parts are errors; otherwise they are left out with a warning.
 * @returns the IR without the parts that could not be read, which are in the report.
 */
export function buildApi(written: LoadedDocument, report: Report, strict = true): Api {
  const document = readStreams(written)
  const openapi = String(document.json.openapi ?? '')
  const openapi30 = openapi.startsWith('3.0')
  const root: Source = {
    value: document.json,
    pointer: '',
    reader: {
      document,
      report,
      openapi30,
      strict,
      references: indexReferences(document.json, openapi30),
      rules: new Map(),
      built: new Map(),
      inlining: new Set(),
    },
  }
  const info = child(root, 'info') ?? { ...root, value: {} }
  const schemas = child(root, 'components') && child(child(root, 'components')!, 'schemas')
  const built = entries(child(root, 'paths')).flatMap(([path, item]) => buildPath(path, item, root))
  refuseDuplicates(
    built.filter((each) => each.named).map((each) => each.operation),
    root,
  )
  const operations = nameTheRest(built)
  const components = new Map(entries(schemas).map(([name, schema]) => [name, buildSchema(schema)]))
  noteBodies(operations, components, root)
  // Families with handlers serve only what they implement, so these warnings are for other documents.
  if (!strict) noteIgnored(root)
  return {
    place: placeOf(info),
    deprecated: false,
    extensions: extensionsOf(root),
    version: text(info, 'version') ?? '',
    file: document.file,
    title: text(info, 'title') ?? '',
    ...optional('description', text(info, 'description')),
    info: extensionsOf(info),
    tags: items(child(root, 'tags')).map((tag) => ({
      name: text(tag, 'name') ?? '',
      extensions: extensionsOf(tag),
      ...optional('summary', text(tag, 'summary')),
      ...optional('parent', text(tag, 'parent')),
      ...optional('description', text(tag, 'description')),
    })),
    schemas: components,
    rules: root.reader.rules,
    operations,
    events: entries(child(root, 'webhooks')).flatMap(([name, item]) => buildEvent(name, item)),
    servers: buildServers(child(root, 'servers')),
    securitySchemes: securitySchemesOf(child(root, 'components')),
    document: document.json,
    published: written.json,
  }
}

function buildServers(source: Source | undefined): ApiServer[] {
  return items(source).map((server) => ({
    url: text(server, 'url') ?? '',
    place: placeOf(server),
    variables: Object.fromEntries(
      entries(child(server, 'variables')).flatMap(([name, variable]) => {
        const values = items(child(variable, 'enum')).map(({ value }) => String(value))
        return values.length > 0 ? [[name, values] as const] : []
      }),
    ),
    ...optional('description', text(server, 'description')),
  }))
}

function securitySchemesOf(components: Source | undefined): Api['securitySchemes'] {
  const schemes = components && child(components, 'securitySchemes')?.value
  return isObject(schemes) ? schemes : {}
}

/** Warns once for each document about parts that nothing is generated from. */
function noteIgnored(root: Source): void {
  const found = { callbacks: [] as Source[], links: [] as Source[] }
  for (const [, item] of entries(child(root, 'paths'))) {
    for (const [, operation] of operationsIn(item)) {
      found.callbacks.push(...[child(operation, 'callbacks')].filter((each) => each !== undefined))
      for (const [, response] of entries(child(operation, 'responses')))
        found.links.push(...[child(response, 'links')].filter((each) => each !== undefined))
    }
  }
  for (const [what, sources] of Object.entries(found)) {
    const [first] = sources
    if (!first) continue
    root.reader.report.add({
      code: `${what}-ignored`,
      severity: 'warning',
      place: placeOf(first),
      message: `nothing is generated from ${what} (this document has ${sources.length})`,
      hint: what === 'callbacks' ? 'describe deliveries under `webhooks`' : 'describe them in prose',
    })
  }
}

/** Reports, once for each document, request bodies without validators. */
function noteBodies(operations: readonly ApiOperation[], schemas: Api['schemas'], root: Source): void {
  const isRead = (content: ApiContent) =>
    isJson(content.mediaType) || isForm(content.mediaType) || isRaw(schemas, content)
  const contents = operations.flatMap(({ body }) => body?.contents.filter((each) => !isRead(each)) ?? [])
  const [first] = contents
  if (!first) return
  root.reader.report.add({
    code: 'body-not-validated',
    severity: root.reader.strict ? 'error' : 'warning',
    place: first.place,
    message: `no validator or translation is generated for ${first.mediaType} (${contents.length} such bodies in this document)`,
    hint: 'describe the body as JSON or as a form, or validate it in the handler',
  })
}

interface BuiltOperation {
  readonly operation: ApiOperation
  readonly named: boolean
}

function nameTheRest(built: readonly BuiltOperation[]): ApiOperation[] {
  const ids = idsOf(
    built.map(({ operation: { id, method, path }, named }) => ({
      method: method.toLowerCase(),
      path,
      id: named ? id : undefined,
    })),
  )
  return built.map(({ operation }, index) => ({ ...operation, id: ids[index]! }))
}

function buildPath(path: string, item: Source, root: Source): BuiltOperation[] {
  const at = resolve(item)
  if (!at) return []
  return operationsIn(at).map(([method, operation]) => ({
    operation: buildOperation(path, method, operation, at, root),
    named: text(operation, 'operationId') !== undefined,
  }))
}

/** Returns the operations of a path item, with their methods as they are sent. */
function operationsIn(item: Source | undefined): [method: string, Source][] {
  return entries(item).flatMap(([name, each]): [string, Source][] => {
    if (METHODS.includes(name)) return [[name.toUpperCase(), each]]
    return name === ADDITIONAL ? entries(each) : []
  })
}

/** Returns the tag by which an operation is grouped: its first one that is not for another purpose (OpenAPI 3.2, `kind`). */
function mainTag(operation: Source, root: Source): string {
  const names = items(child(operation, 'tags')).map(({ value }) => String(value))
  const others = new Set(
    items(child(root, 'tags')).flatMap((tag) =>
      (text(tag, 'kind') ?? 'nav') === 'nav' ? [] : [text(tag, 'name') ?? ''],
    ),
  )
  return names.find((name) => !others.has(name)) ?? names[0] ?? 'default'
}

const sameParameter = (a: ApiParameter, b: ApiParameter) => a.name === b.name && a.in === b.in

function buildOperation(
  path: string,
  method: string,
  source: Source,
  item: Source,
  root: Source,
): ApiOperation {
  const shared = items(child(item, 'parameters'))
  const servers = child(source, 'servers') ?? child(item, 'servers')
  const own = buildParameters(items(child(source, 'parameters')))
  const inherited = buildParameters(shared).filter((each) => !own.some((mine) => sameParameter(mine, each)))
  const body = child(source, 'requestBody')
  const operation: ApiOperation = {
    place: placeOf(source),
    id: text(source, 'operationId') ?? '',
    method,
    path,
    tag: mainTag(source, root),
    deprecated: flag(source, 'deprecated'),
    extensions: extensionsOf(source),
    parameters: [...inherited, ...own],
    responses: entries(child(source, 'responses')).flatMap(([status, each]) => buildResponse(status, each)),
    security: securityOf(child(source, 'security') ?? child(root, 'security')),
    callbacks: entries(child(source, 'callbacks')).flatMap(([name, each]) => buildCallbacks(name, each)),
    ...optional('summary', text(source, 'summary')),
    ...optional('description', text(source, 'description')),
    ...optional('body', body && buildBody(body)),
    ...optional('servers', servers && buildServers(servers)),
  }
  checkPathParameters(operation, source)
  return operation
}

function buildEvent(name: string, item: Source): EventType[] {
  const at = resolve(item)
  const post = at && child(at, 'post')
  if (!post) {
    leaveOut(
      item,
      'event-without-post',
      `the webhook ${name} has no post operation`,
      'describe the delivery under `post`',
    )
    return []
  }
  return [readEvent(name, post)]
}

function readEvent(name: string, source: Source): EventType {
  const content = child(source, 'requestBody')
  const body = content && buildBody(content)
  return {
    place: placeOf(source),
    name,
    tag: String(items(child(source, 'tags'))[0]?.value ?? 'default'),
    deprecated: flag(source, 'deprecated'),
    extensions: extensionsOf(source),
    headers: buildParameters(items(child(source, 'parameters'))).filter((each) => each.in === 'header'),
    ...optional('summary', text(source, 'summary')),
    ...optional('description', text(source, 'description')),
    ...optional('payload', body?.contents[0]),
    ...optional('body', body),
  }
}

/**
 * Reads the requests of a callback. They are named by callback and method; the URL expression is added only if
 * there are several.
 */
function buildCallbacks(name: string, source: Source): ApiCallback[] {
  const expressions = entries(resolve(source)).filter(([url]) => !url.startsWith('x-'))
  return expressions.flatMap(([url, item]) =>
    operationsIn(resolve(item)).map(([sent, each]) => {
      const method = sent.toLowerCase()
      const called = expressions.length > 1 ? `${name} ${url} ${method}` : `${name} ${method}`
      return { ...readEvent(called, each), url }
    }),
  )
}

function securityOf(source: Source | undefined): SecurityRequirement[] {
  return items(source).flatMap(({ value }) => (isObject(value) ? [value as SecurityRequirement] : []))
}

function refuseDuplicates(operations: readonly ApiOperation[], root: Source): void {
  const seen = new Map<string, ApiOperation>()
  for (const operation of operations) {
    const first = seen.get(operation.id)
    if (first) {
      root.reader.report.add({
        code: 'operation-id-repeated',
        severity: 'error',
        place: operation.place,
        other: first.place,
        message: `operationId ${operation.id} is used twice`,
        hint: 'give each operation a unique id',
      })
    }
    seen.set(operation.id, operation)
  }
}
