/** `svc logs`: follows or lists the API requests of the account. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { isId } from '../platform/ids.ts'
import { type FollowLogsOptions, followLogs, type LogFilter } from './follow-logs.ts'
import { readCount, readSeconds } from './option-values.ts'
import { tabulate } from './print.ts'
import type { Surroundings, SvcRunner, SvcSession, SvcTerminal } from './svc-session.ts'
import { withoutControls } from './terminal/colours.ts'

type RequestLog = Schemas['RequestLog']

/** Maximum page size of the API. */
const PAGE = 100

/**
 * Prints new requests until the signal aborts.
 * @throws ConnectionLostError
 */
async function tailLogs(
  { client, baseUrl }: SvcSession,
  options: Pick<FollowLogsOptions, 'filter' | 'giveUpMs' | 'signal'>,
  { json, print, say, paint }: SvcTerminal,
): Promise<void> {
  try {
    for await (const log of followLogs({ ...options, client, baseUrl, say }))
      print(json ? JSON.stringify(log) : toLine(log, paint))
  } catch (error) {
    if (!options.signal.aborted) throw error
  }
}

/** Prints the latest requests, newest first, as a table or as a line of JSON for each. */
async function listLogs(
  { client }: SvcSession,
  { filter, limit }: { readonly filter: LogFilter; readonly limit: number },
  { json, print, say }: SvcTerminal,
): Promise<void> {
  const list = client.listRequestLogs({ query: { ...filter, limit: Math.min(limit, PAGE) } })
  const logs: RequestLog[] = []
  for await (const log of list) {
    if (json) print(JSON.stringify(log))
    logs.push(log)
    if (logs.length === limit) break
  }
  if (logs.length === 0) return say('No requests found.')
  if (json) return
  const rows = logs.map((log) => [
    log.created,
    String(log.status),
    log.method,
    targetOf(log),
    log.id,
    `${log.duration_ms} ms`,
    log.error_code ?? '',
  ])
  print(
    withoutControls(tabulate(['CREATED', 'STATUS', 'METHOD', 'PATH', 'REQUEST', 'DURATION', 'ERROR'], rows)),
  )
}

const targetOf = ({ path, query }: RequestLog): string => (query === null ? path : `${path}?${query}`)

/** Column widths: wide enough for most paths and for every method. */
const PATH_WIDTH = 50
const METHOD_WIDTH = 6

function toLine(log: RequestLog, paint: SvcTerminal['paint']): string {
  const { created, status, method, id, duration_ms, error_code } = log
  const words = [
    new Date(created).toLocaleTimeString('en-GB'),
    paint(status < 400 ? 'green' : status < 500 ? 'yellow' : 'red', String(status)),
    method.padEnd(METHOD_WIDTH),
    withoutControls(targetOf(log)).padEnd(PATH_WIDTH),
    id,
    `${duration_ms} ms`,
    ...(error_code === null ? [] : [error_code]),
  ]
  return words.join('  ')
}

interface FilterWords {
  readonly status?: string
  readonly method?: NonNullable<LogFilter['method']>
  readonly path?: string
  readonly operation?: string
  readonly requestId?: string
}

const filterOf = ({ status, method, path, operation, requestId }: FilterWords): LogFilter => ({
  ...(status !== undefined && { status }),
  ...(method !== undefined && { method }),
  ...(path !== undefined && { path }),
  ...(operation !== undefined && { operation }),
  ...(requestId !== undefined && { request_id: requestId }),
})

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function takeFilters(command: Command): Command {
  const take = (flags: string, text: string, isValid: (value: string) => boolean, expected: string) =>
    new Option(flags, text).argParser((given) => {
      const value = flags.includes('--method') ? given.toUpperCase() : given
      if (!isValid(value)) throw new InvalidArgumentError(`Expected ${expected}.`)
      return value
    })
  return command
    .addOption(
      take(
        '--status <status>',
        'only requests with this status or status class: 404, 4xx',
        (value) => /^[2-5](\d{2}|xx)$/.test(value),
        'a status such as 404, or a class such as 4xx',
      ),
    )
    .addOption(
      take(
        '--method <method>',
        'only requests with this HTTP method',
        (value) => METHODS.includes(value),
        METHODS.join(', '),
      ),
    )
    .addOption(
      take(
        '--path <path>',
        'only requests for exactly this path, without a query: /v1/passes',
        (value) => /^\/[^?]*$/.test(value),
        'a path without a query, such as /v1/passes',
      ),
    )
    .option('--operation <operation>', 'only requests for this operation: createPass')
    .addOption(
      take(
        '--request-id <id>',
        'only the request with this identifier (req_…)',
        (value) => isId('req', value),
        'an identifier such as req_01jx3k7q2m4n6p8r0s2t4v6w8x',
      ),
    )
}

/** Adds `svc logs tail` and `svc logs list`. */
export function addLogs(program: Command, run: SvcRunner, { interruption }: Surroundings): void {
  const logs = program.command('logs').description('show the API requests made with your keys and sign-ins')
  takeFilters(logs.command('tail'))
    .description('print new requests as they come, until interrupted')
    .addOption(
      new Option('--give-up-after <seconds>', 'fail after this many seconds without a connection')
        .argParser(readSeconds)
        .default(60),
    )
    .addHelpText(
      'after',
      `
Each line shows the time, status, method, path, request, duration and error. The command does not show its own requests.

Examples:
  svc logs tail
  svc logs tail --status 4xx --method POST
  svc get /v1/request_logs/req_…                        # one request with its bodies`,
    )
    .action((words: FilterWords & { giveUpAfter: number }, command: Command) =>
      run(command, (session, terminal) => {
        const giveUpMs = words.giveUpAfter * 1000
        return tailLogs(session, { filter: filterOf(words), giveUpMs, signal: interruption() }, terminal)
      }),
    )
  takeFilters(logs.command('list'))
    .description('list the latest requests, newest first')
    .addOption(new Option('--limit <count>', 'maximum number of requests').argParser(readCount).default(25))
    .addHelpText('after', '\nExamples:\n  svc logs list --limit 5\n  svc logs list --status 5xx --json')
    .action((words: FilterWords & { limit: number }, command: Command) =>
      run(command, (session, terminal) =>
        listLogs(session, { filter: filterOf(words), limit: words.limit }, terminal),
      ),
    )
}
