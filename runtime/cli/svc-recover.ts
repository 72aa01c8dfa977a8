/** `svc events recover`, `skip` and `compare`: what an endpoint missed. */
import { setTimeout as wait } from 'node:timers/promises'
import { Argument, type Command, Option } from 'commander'
import type { Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { readTypes } from './event-types.ts'
import { readCount } from './option-values.ts'
import { render, tabulate } from './print.ts'
import type { SvcRunner, SvcSession, SvcTerminal } from './svc-session.ts'

type Recovery = Schemas['WebhookRecovery']

interface RecoverOptions {
  readonly since: string
  readonly until?: string
  readonly type?: string
  readonly all?: boolean
  readonly rate: number
  readonly wait?: boolean
}

/** Milliseconds between two looks at the progress. */
const PAUSE_MS = 1000

/** Maximum page size of the API. */
const PAGE = 100

/** Adds the commands below `svc events`. */
export function addRecovery(events: Command, run: SvcRunner): void {
  events
    .command('recover')
    .description('send the events that an endpoint missed again, in order and at a rate')
    .addArgument(new Argument('<endpoint>', 'endpoint that missed events (whe_…)'))
    .requiredOption('--since <time>', 'time of the first event, such as 2026-06-01T00:00:00Z')
    .option('--until <time>', 'time of the last event (default: now)')
    .option('--type <type>', 'only events of this type')
    .option('--all', 'also events that were delivered')
    .addOption(new Option('--rate <count>', 'events per second, 1 to 1000').argParser(readCount).default(25))
    .option('--wait', 'wait until the recovery has ended')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events recover whe_… --since 2026-06-01T00:00:00Z --wait\n  svc events recover whe_… --since 2026-06-01T00:00:00Z --all --rate 5',
    )
    .action((id: string, words: RecoverOptions, command: Command) =>
      run(command, (session, terminal) => recoverEvents(session, id, words, terminal)),
    )
  events
    .command('skip')
    .description('give up the event that blocks an ordered endpoint, and continue with the next one')
    .addArgument(new Argument('<endpoint>', 'endpoint with delivery fifo (whe_…)'))
    .addArgument(new Argument('[event]', 'event to skip (evt_…) (default: the blocked event)'))
    .addHelpText('after', '\nExamples:\n  svc events skip whe_…')
    .action((id: string, event: string | undefined, _words: object, command: Command) =>
      run(command, (session, terminal) => skipEvent(session, id, event, terminal)),
    )
  events
    .command('compare')
    .description('list the events that only one of two endpoints received')
    .addArgument(new Argument('<endpoint>', 'first endpoint (whe_…)'))
    .addArgument(new Argument('<other>', 'second endpoint (whe_…)'))
    .option('--since <time>', 'only events from this time on')
    .addHelpText('after', '\nExamples:\n  svc events compare whe_… whe_… --since 2026-06-01T00:00:00Z')
    .action((first: string, second: string, words: { since?: string }, command: Command) =>
      run(command, (session, terminal) => compareEndpoints(session, [first, second], words, terminal)),
    )
}

/** Starts a recovery and prints it; with `wait`, prints it when it has ended, and the progress until then. */
async function recoverEvents(
  { client }: SvcSession,
  whe_id: string,
  { since, until, type, all, rate, wait: waits }: RecoverOptions,
  { json, print, say }: SvcTerminal,
): Promise<void> {
  if (type !== undefined) readTypes(type)
  const body = {
    since,
    ...(until !== undefined && { until }),
    ...(type !== undefined && { types: [type as Schemas['EventType']] }),
    scope: all ? ('all' as const) : ('failed' as const),
    rate,
  }
  let recovery: Recovery = await client.recoverWebhookEndpoint({ path: { whe_id }, body })
  while (waits && isOpen(recovery)) {
    await wait(PAUSE_MS)
    recovery = await client.getWebhookRecovery({ path: { whe_id, whr_id: recovery.id } })
    if (isOpen(recovery))
      say(`${recovery.status}: ${recovery.sent + recovery.failed} of ${recovery.total} events`)
  }
  print(render(recovery, json).trimEnd())
}

const isOpen = ({ status }: Recovery) => status === 'counting' || status === 'running'

/** Skips an event and prints the endpoint. @throws Error if no event is named and none blocks the endpoint. */
async function skipEvent(
  { client }: SvcSession,
  whe_id: string,
  event: string | undefined,
  { json, print }: SvcTerminal,
): Promise<void> {
  const event_id = event ?? (await client.getWebhookEndpoint({ path: { whe_id } })).blocked?.event_id
  if (event_id === undefined) throw new Error(`no event blocks ${whe_id}`)
  const endpoint = await client.skipBlockedEvent({ path: { whe_id }, body: { event_id } })
  print(render({ skipped: event_id, ...endpoint }, json).trimEnd())
}

/**
 * Prints the events that one endpoint received and the other did not. Reads both lists at the same pace, oldest first, and keeps only
 * what differs so far.
 */
async function compareEndpoints(
  { client }: SvcSession,
  endpoints: readonly [string, string],
  { since }: { readonly since?: string },
  { json, print, say }: SvcTerminal,
): Promise<void> {
  const lists = endpoints.map((whe_id) =>
    client
      .listDeliveryAttempts({
        path: { whe_id },
        query: {
          limit: PAGE,
          order: 'asc',
          outcome: 'delivered',
          ...(since !== undefined && { 'created[gte]': since }),
        },
      })
      [Symbol.asyncIterator](),
  )
  /** By event: the only endpoint that received it so far. */
  const only = new Map<string, string>()
  for (let open = lists; open.length > 0; ) {
    const results = await Promise.all(open.map(async (list) => ({ list, next: await list.next() })))
    for (const { next } of results) {
      if (next.done) continue
      const { event_id, webhook_endpoint_id } = next.value
      const known = only.get(event_id)
      if (known === undefined) only.set(event_id, webhook_endpoint_id)
      else if (known !== webhook_endpoint_id) only.delete(event_id)
    }
    open = results.flatMap(({ list, next }) => (next.done ? [] : [list]))
  }
  const rows = [...only].toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (json) for (const [event_id, received_by] of rows) print(JSON.stringify({ event_id, received_by }))
  else if (rows.length === 0) say('Both endpoints received the same events.')
  else
    print(
      tabulate(
        ['EVENT', 'RECEIVED ONLY BY'],
        rows.map((row) => [...row]),
      ),
    )
}
