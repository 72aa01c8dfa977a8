/** `mcp`: serves the operations of one version as tools for language models until the client disconnects. */
import { type ClientOptions, connect } from '../client-runtime/connect.ts'
import type { Service } from '../client-runtime/service.ts'
import { HOME } from '../emit/site/shared-assets.ts'
import { schemesOf, usualAlternatives } from '../emit/wire/security.ts'
import { wireOf } from '../emit/wire/wire.ts'
import type { Api } from '../ir/model.ts'
import { createDocsTools, type DocsPages } from '../mcp/docs.ts'
import { selectableNames, selectTools } from '../mcp/selection.ts'
import { createServerFactory, serveOperation } from '../mcp/server.ts'
import { createTools, type OperationTool } from '../mcp/tools.ts'
import { findNearest } from '../runtime/nearest.ts'
import { aborted, listen, portOf, versionOf } from './listen.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily, UsageError } from './run.ts'

export interface McpCommandOptions {
  readonly version?: string
  readonly baseUrl?: string
  readonly tag?: readonly string[]
  readonly allow?: readonly string[]
  readonly scopes?: string
  readonly keyEnv: string
  /** Whether the key may be a live key. */
  readonly live?: true
  /** Serves Streamable HTTP on loopback instead of stdio. */
  readonly port?: string
}

/** Size of a list of tools, about 25,000 tokens, from which a hint is printed. */
const MAX_KILOBYTES = 100

/** Vendors mark keys as `sk_live_…` or `prod-…`. */
const LIVE_KEY = /(?:^|[_-])(?:live|prod|production)[_-]/i

const PACKAGE = '@modelcontextprotocol/server'

/**
 * Serves until the signal aborts or, over stdio, the client closes the input. Prints only to stderr, because stdout
 * carries the protocol.
 *
 * @param environment holds the credential.
 * @throws DiagnosticsError if the documents have errors. @throws UsageError if an option is not usable, or the package
 *   of the protocol is not installed.
 */
export async function mcp(
  run: CommandRun,
  options: McpCommandOptions,
  signal: AbortSignal,
  environment: NodeJS.ProcessEnv,
): Promise<CommandOutcome> {
  const port = options.port === undefined ? undefined : portOf(options.port)
  const [protocol, apis] = await Promise.all([loadProtocol(), loadFamily(run)])
  const { servedOf } = await import('../generate/generate.ts')
  const api = servedOf(versionOf(apis, options.version))
  const baseUrl = baseUrlOf(api, options.baseUrl)
  const key = environment[options.keyEnv]
  if (key !== undefined && LIVE_KEY.test(key) && !options.live)
    throw new UsageError(`${options.keyEnv} is a live key: use the key of a sandbox, or add --live`)
  const connection = connect(serviceOf(run, api), { baseUrl, ...credentialsOf(api, key) })
  const tools = [
    ...createDocsTools(api.version, () => loadDocs(run, apis, api.version)),
    ...toolsOf(run, api, options).map((each) => serveOperation(each, connection)),
  ]
  const factory = createServerFactory(protocol.server, api, tools)
  const writing = tools.filter(({ tool }) => !tool.annotations.readOnlyHint).length
  const kilobytes = Math.ceil(JSON.stringify(tools.map(({ tool }) => tool)).length / 1000)
  run.terminal.status?.('')
  run.terminal.error(
    `version ${api.version} at ${baseUrl}: ${count(tools.length, 'tool')} in ${kilobytes} kB; ${writing} can write`,
  )
  if (kilobytes > MAX_KILOBYTES)
    run.terminal.error('models read the list of tools before each conversation: make it smaller with --tag')
  if (port === undefined) {
    const handle = protocol.stdio.serveStdio(factory)
    await Promise.race([aborted(signal), inputEnd()])
    await handle.close()
  } else await serveHttp(run, protocol.server, factory, port, signal)
  return { lines: [], data: { version: api.version, tools: tools.map(({ tool }) => tool.name) } }
}

/** @throws UsageError if the optional package is not installed. */
async function loadProtocol() {
  try {
    const [server, stdio] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ])
    return { server, stdio }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new UsageError(
      `\`dateline mcp\` needs the package ${PACKAGE}: run \`npm install --save-dev ${PACKAGE}@2\``,
    )
  }
}

/** Generates the documentation, with the changes between versions. */
async function loadDocs(
  { config, report }: CommandRun,
  apis: readonly Api[],
  version: string,
): Promise<DocsPages> {
  const [{ emitCachedSite }, { siteSettings }, { loadChanges }, { openSearch }] = await Promise.all([
    import('../generate/generate.ts'),
    import('../generate/site-settings.ts'),
    import('../change/load-changes.ts'),
    import('../emit/site/search.ts'),
  ])
  const versions = apis.map(({ version }) => version)
  const changes = await loadChanges(config.versions, versions, report)
  const files = emitCachedSite(apis, { ...siteSettings(config), changes })
  const scriptOf = (name: string) => files.find(({ path }) => path.endsWith(`/${name}.js`))?.text ?? ''
  const pages = files.flatMap(({ path, text }) => {
    const address = /^site(\/.+?)(?:\.md|(?<=\.txt))$/.exec(path)?.[1]
    return address === undefined ? [] : [[HOME + address, text] as const]
  })
  return {
    pages: new Map(pages),
    search: openSearch({ index: scriptOf('search-index'), texts: scriptOf('search-texts') }, HOME, version),
  }
}

function toolsOf(run: CommandRun, api: Api, options: McpCommandOptions): readonly OperationTool[] {
  const all = createTools(api, wireOf(run.config.wire ?? {}))
  const { tag: tags = [], allow: allowed = [] } = options
  const known = { tag: all.map(({ operation }) => operation.tag), allow: selectableNames(all) }
  for (const [option, names] of [['tag', tags] as const, ['allow', allowed] as const])
    for (const name of names) requireKnown(option, name, known[option])
  const scopes = options.scopes?.split(',').map((scope) => scope.trim())
  const tools = selectTools(all, { tags, allowed, scopes })
  if (tools.length > 0) return tools
  throw new UsageError('no operation is selected: change --tag, --scopes or --allow')
}

function requireKnown(option: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const nearest = findNearest(name, known)
  const hint = nearest === undefined ? '' : `: did you mean ${nearest}?`
  throw new UsageError(`--${option} ${name} selects no operation of this version${hint}`)
}

/** Returns the URL, by default that of the document. @throws UsageError if there is none. */
function baseUrlOf(api: Api, given: string | undefined): string {
  const url = given ?? api.servers[0]?.url ?? ''
  if (URL.canParse(url)) return url
  throw new UsageError(`--base-url: ${url === '' ? 'the document has no server' : `${url} is not a URL`}`)
}

function serviceOf({ config }: CommandRun, api: Api): Service {
  return {
    version: api.version,
    wire: wireOf(config.wire ?? {}),
    schemes: schemesOf(api),
    security: usualAlternatives(api),
    errors: {},
  }
}

/** The key is sent in every scheme that takes one. HTTP Basic takes `username:password`. */
function credentialsOf(api: Api, key: string | undefined): Pick<ClientOptions, 'apiKey' | 'credentials'> {
  if (key === undefined || key === '') return { credentials: {} }
  const [username = '', ...rest] = key.split(':')
  const schemes = Object.entries(schemesOf(api)).map(([name, { basic }]) => [
    name,
    basic ? { username, password: rest.join(':') } : key,
  ])
  return { apiKey: key, credentials: Object.fromEntries(schemes) }
}

const inputEnd = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdin.once('close', resolve)
    process.stdin.once('end', resolve)
  })

type ServerPackage = typeof import('@modelcontextprotocol/server')

async function serveHttp(
  { terminal }: CommandRun,
  { createMcpHandler, hostHeaderValidationResponse, originValidationResponse, ...names }: ServerPackage,
  factory: Parameters<ServerPackage['createMcpHandler']>[0],
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const handler = createMcpHandler(factory)
  const { toNodeListener } = await import('../server/node.ts')
  // Pages of other sites must not reach the API with this credential (DNS rebinding).
  const fetch = (request: Request) =>
    hostHeaderValidationResponse(request, names.localhostAllowedHostnames()) ??
    originValidationResponse(request, names.localhostAllowedOrigins()) ??
    handler.fetch(request)
  const { base, close } = await listen(toNodeListener({ fetch }), port)
  terminal.error(`serving ${base}`)
  await aborted(signal)
  await handler.close()
  await close()
}
