/** Serves tools over the Model Context Protocol: validates the arguments, sends the request, and returns the answer. */
import type { CallToolResult, McpServerFactory } from '@modelcontextprotocol/server'
import type { ServiceConnection } from '../client-runtime/connect.ts'
import { ClientError, ResponseError } from '../client-runtime/errors.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api } from '../ir/model.ts'
import { explain, issueOf } from '../runtime/explain.ts'
import { inputOf, type McpTool, type OperationTool, type ToolSchema } from './tools.ts'

/** The package of the protocol. It is optional, because only this command needs it. */
export type ProtocolPackage = Pick<typeof import('@modelcontextprotocol/server'), 'ProtocolError' | 'Server'>

/** A tool with the function that performs its calls. */
export interface ServedTool {
  readonly tool: McpTool
  /** @param given valid arguments. */
  call(given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallToolResult>
}

/** Returns the factory of the server: each connection has an own one. */
export function createServerFactory(
  { ProtocolError, Server }: ProtocolPackage,
  api: Api,
  tools: readonly ServedTool[],
): McpServerFactory {
  const byName = new Map(tools.map((each) => [each.tool.name, each]))
  return () => {
    const server = new Server({ name: api.title, version: api.version }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: tools.map(({ tool }) => ({ ...tool })) }))
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = byName.get(params.name)
      if (!tool) throw new ProtocolError(INVALID_PARAMS, `There is no tool ${params.name}`)
      const given = params.arguments ?? {}
      const refused = faultsOf(tool.tool.inputSchema, given)
      if (refused.length > 0) return failure(`The arguments of ${params.name} are not valid:`, ...refused)
      return tool.call(given, context.mcpReq.signal)
    })
    return server
  }
}

/** JSON-RPC 2.0, "Error object". */
const INVALID_PARAMS = -32_602

/** Returns a tool that performs its operation. */
export const serveOperation = (operation: OperationTool, { perform }: ServiceConnection): ServedTool => ({
  tool: operation.tool,
  call: (given, signal) => callOperation(operation, given, perform, signal),
})

/** Performs an operation. Failures are results, so that the model can read and correct them. */
async function callOperation(
  called: OperationTool,
  given: Readonly<Record<string, unknown>>,
  perform: ServiceConnection['perform'],
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { tool, row } = called
  try {
    const { data, response } = await perform(row, { ...inputOf(called, given), signal })
    if (!tool.outputSchema) return { content: [text(data === undefined ? `HTTP ${response.status}` : data)] }
    // The protocol requires that structured content fits, and clients reject it otherwise.
    const wrong = faultsOf(tool.outputSchema, data)
    if (wrong.length > 0) return failure('The answer does not match the document:', ...wrong, show(data))
    return { content: [text(data)], structuredContent: data as Record<string, unknown> }
  } catch (error) {
    if (error instanceof ResponseError) return failure(`HTTP ${error.status}`, show(error.body))
    if (error instanceof ClientError) return failure(error.message)
    throw error
  }
}

const MAX_FAULTS = 20

const faultsOf = (schema: ToolSchema, value: unknown): string[] =>
  explain(schema, '', value, FORMAT_CHECKS, MAX_FAULTS).map((fault) =>
    [fault.field, issueOf(fault)].filter((part) => part !== '').join(' '),
  )

/** Length of an error page that is not JSON. */
const MAX_TEXT = 2000

const show = (body: unknown): string =>
  typeof body === 'string' ? body.slice(0, MAX_TEXT) : (JSON.stringify(body) ?? '')

export const text = (body: unknown) => ({
  type: 'text' as const,
  text: typeof body === 'string' ? body : JSON.stringify(body),
})

export const failure = (...lines: readonly string[]): CallToolResult => ({
  isError: true,
  content: [text(lines.filter((line) => line !== '').join('\n'))],
})
