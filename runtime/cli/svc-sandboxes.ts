/** `svc sandboxes`: lists, creates and copies named sandboxes, and takes and restores their snapshots. */
import { setTimeout as wait } from 'node:timers/promises'
import { Argument, type Command, Option } from 'commander'
import { type LiveOptions, liveKeyOption, noLiveKey } from './live-session.ts'
import { render, tabulate } from './print.ts'
import type { SvcRunner, SvcSession, SvcTerminal } from './svc-session.ts'

interface Waiting {
  readonly wait?: true
}

interface CreateOptions extends Waiting, Pick<LiveOptions, 'liveApiKey'> {
  readonly from?: string
  readonly startsAt?: string
}

/** Milliseconds between two looks at the status. */
const PAUSE_MS = 500

const SCOPES = ['read', 'write', 'admin'] as const

type Scope = (typeof SCOPES)[number]

const SANDBOX = new Argument('<sandbox>', 'named sandbox (sbx_…)')

export function addSandboxes(program: Command, run: SvcRunner): void {
  const sandboxes = program
    .command('sandboxes')
    .description('create and copy named sandboxes, and take and restore their snapshots')
    .addHelpText('after', HELP)
  sandboxes
    .command('list')
    .description('list the named sandboxes')
    .action((_words: object, command: Command) => run(command, listSandboxes))
  sandboxes
    .command('create')
    .description('create a sandbox, and print it with its secret key')
    .argument('<name>', 'your name for the sandbox')
    .option(
      '--from <source>',
      'what to copy: a sandbox (sbx_…), a snapshot (snap_…), default, or the configuration of live (default: an empty sandbox)',
    )
    .option('--starts-at <time>', 'where the clock of the sandbox starts, in the past')
    .addOption(liveKeyOption())
    .option('--wait', 'wait until the copy is ready')
    .action((name: string, words: CreateOptions, command: Command) =>
      run(command, (session, terminal) => createSandbox(session, name, words, terminal)),
    )
  sandboxes
    .command('key')
    .description('create another secret key of a sandbox, and print it')
    .addArgument(SANDBOX)
    .addOption(new Option('--scope <scope>', 'scope of the key').choices(SCOPES).default('admin'))
    .action((sandbox_id: string, { scope }: { readonly scope: Scope }, command: Command) =>
      run(command, async ({ client }, { json, print }) => {
        const key = await client.createSandboxKey({ path: { sandbox_id }, body: { scope } })
        print(render(key, json).trimEnd())
      }),
    )
  sandboxes
    .command('snapshot')
    .description('take a snapshot of a sandbox')
    .addArgument(SANDBOX)
    .argument('<name>', 'your name for the snapshot')
    .option('--wait', 'wait until the snapshot is taken')
    .action((id: string, name: string, words: Waiting, command: Command) =>
      run(command, (session, terminal) => takeSnapshot(session, id, name, words, terminal)),
    )
  sandboxes
    .command('restore')
    .description('restore a snapshot; everything that changed since it was taken is lost')
    .addArgument(SANDBOX)
    .argument('<snapshot>', 'snapshot of the sandbox (snap_…)')
    .option('--wait', 'wait until the sandbox is ready')
    .action((id: string, snapshot: string, words: Waiting, command: Command) =>
      run(command, (session, terminal) => restoreSnapshot(session, id, snapshot, words, terminal)),
    )
}

const HELP = `
--api-key must be a key of the default sandbox with the scope admin. A copy of live also needs --live-api-key.

Examples:
  svc sandboxes create "Checkout tests"
  svc sandboxes create "Copy" --from sbx_01jxc4e8m3q5r7s9t1v3w5x7yz --wait
  svc sandboxes create "Like production" --from live --wait
  svc sandboxes create "Half a year" --starts-at 2026-01-01
  svc sandboxes key sbx_01jxc4e8m3q5r7s9t1v3w5x7yz --scope write
  svc sandboxes snapshot sbx_01jxc4e8m3q5r7s9t1v3w5x7yz Filled --wait
  svc sandboxes restore sbx_01jxc4e8m3q5r7s9t1v3w5x7yz snap_01jxc5f9n4r6s8t0v2w4x6y8z0 --wait`

async function listSandboxes({ client }: SvcSession, { json, print }: SvcTerminal): Promise<void> {
  const rows: string[][] = []
  for await (const sandbox of client.listSandboxes()) {
    const { id, name, status, created } = sandbox
    if (json) print(JSON.stringify(sandbox))
    else rows.push([id, name, status, created])
  }
  if (!json) print(tabulate(['ID', 'NAME', 'STATUS', 'CREATED'], rows))
}

/** Returns the sandbox when no snapshot is being restored in it. */
async function ready({ client }: SvcSession, sandbox_id: string) {
  for (;;) {
    const sandbox = await client.getSandbox({ path: { sandbox_id } })
    if (sandbox.status !== 'restoring') return sandbox
    await wait(PAUSE_MS)
  }
}

async function createSandbox(
  session: SvcSession,
  name: string,
  { from, startsAt: starts_at, liveApiKey, wait: waits }: CreateOptions,
  { json, print }: SvcTerminal,
): Promise<void> {
  const body = { name, ...(from !== undefined && { from }), ...(starts_at !== undefined && { starts_at }) }
  if (from === 'live' && !liveApiKey) throw noLiveKey()
  const header = from === 'live' ? { 'Service-Live-Authorization': `Bearer ${liveApiKey}` } : {}
  const created = await session.client.createSandbox({ body, header })
  // The key is in the first answer only.
  const sandbox = waits ? { ...created, ...(await ready(session, created.id)) } : created
  print(render(sandbox, json).trimEnd())
}

async function takeSnapshot(
  { client }: SvcSession,
  sandbox_id: string,
  name: string,
  { wait: waits }: Waiting,
  { json, print }: SvcTerminal,
): Promise<void> {
  let snapshot = await client.createSandboxSnapshot({ path: { sandbox_id }, body: { name } })
  while (waits && snapshot.status === 'pending') {
    await wait(PAUSE_MS)
    snapshot = await client.getSandboxSnapshot({ path: { sandbox_id, snapshot_id: snapshot.id } })
  }
  print(render(snapshot, json).trimEnd())
}

async function restoreSnapshot(
  session: SvcSession,
  sandbox_id: string,
  snapshot_id: string,
  { wait: waits }: Waiting,
  { json, print }: SvcTerminal,
): Promise<void> {
  const restored = await session.client.restoreSandboxSnapshot({
    path: { sandbox_id, snapshot_id },
    body: {},
  })
  print(render(waits ? await ready(session, sandbox_id) : restored, json).trimEnd())
}
