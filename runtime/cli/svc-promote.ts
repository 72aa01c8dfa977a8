/** `svc promote`: copies configuration from the sandbox to live, after showing the plan. */
import { Argument, type Command } from 'commander'
import { type LiveOptions, type LivePromotion, type LiveSession, openLive, takeLive } from './live-session.ts'
import { countOf, showPlan } from './promotion-plan.ts'
import { MisuseError, type SvcRunner, type SvcTerminal } from './svc-session.ts'

const TYPES = {
  templates: 'pass_template',
  'card-programs': 'card_program',
  'webhook-endpoints': 'webhook_endpoint',
} as const

type What = keyof typeof TYPES

interface Words extends LiveOptions {
  readonly dryRun?: true
  readonly yes?: true
}

export function addPromote(program: Command, run: SvcRunner): void {
  const command = program
    .command('promote')
    .description('copy configuration from the sandbox to live, after showing the plan')
    .addArgument(new Argument('<what>', 'type of the objects').choices(Object.keys(TYPES)))
    .argument('<id...>', 'identifiers of sandbox objects')
    .option('--dry-run', 'show the plan without copying')
    .option('--yes', 'copy without confirmation')
  takeLive(command)
    .addHelpText('after', HELP)
    .action((what: What, ids: string[], words: Words, self: Command) =>
      run(self, (session, terminal) => promote(openLive(session, words), what, ids, words, terminal)),
    )
}

const HELP = `
--api-key must be a sandbox key, and --live-api-key must be a live key of the same account. Both need the
scope admin. An object that already has a copy is compared with it; the copy is never changed.

Examples:
  svc promote templates tpl_01jx2f8m3q5r7s9t1v3w5x7y9z --dry-run
  svc promote webhook-endpoints whe_01jx2f8m3q5r7s9t1v3w5x7y9z --yes --json

The exit code is 1 if an object is refused or differs, if the plan changed, or if you do not confirm.`

/**
 * Copies objects after confirmation.
 * @throws Error if an object is refused or differs, or if the user does not confirm.
 */
async function promote(
  live: LiveSession,
  what: What,
  ids: readonly string[],
  { dryRun, yes }: Words,
  terminal: SvcTerminal,
): Promise<void> {
  if (!dryRun && !yes && !terminal.ask) {
    throw new MisuseError(
      'cannot ask for confirmation without a terminal: use --yes, or --dry-run to see the plan',
    )
  }
  const order = { resource_type: TYPES[what], sandbox_ids: [...new Set(ids)] }
  const planned = await live.promote({ ...order, dry_run: true })
  if (!terminal.json) terminal.print(showPlan(planned, terminal.paint))
  const count = countOf(planned, 'create')
  if (dryRun || count === 0 || countOf(planned, 'refused') > 0) {
    if (terminal.json) terminal.print(JSON.stringify(planned))
    return requireAgreement(planned)
  }
  if (!yes && !(await confirm(`Copy ${objects(count)} to live at ${live.baseUrl}?`, terminal))) {
    throw new Error('not confirmed: nothing was copied')
  }
  // The API refuses this if the plan has changed since it was shown.
  const made = await live.promote({ ...order, plan_id: planned.id })
  if (terminal.json) terminal.print(JSON.stringify(made))
  else terminal.print(['', ...made.created.map(showCopy)].join('\n'))
  if (what === 'webhook-endpoints') {
    terminal.say(
      'Each copy has a new signing secret. To get one, call POST /v1/webhook-endpoints/{id}/rotate_secret.',
    )
  }
  requireAgreement(made)
}

const showCopy = ({ sandbox_id, live_id }: LivePromotion['created'][number]) => `${sandbox_id} → ${live_id}`

async function confirm(question: string, { ask }: SvcTerminal): Promise<boolean> {
  return /^y(es)?$/i.test((await ask?.(`${question} [y/N] `)) ?? '')
}

const objects = (count: number): string => `${count} ${count === 1 ? 'object' : 'objects'}`

function requireAgreement(promotion: LivePromotion): void {
  const refused = countOf(promotion, 'refused')
  const differ = countOf(promotion, 'differs')
  if (refused > 0)
    throw new Error(`live refuses ${objects(refused)}: nothing is copied unless all objects can be copied`)
  if (differ > 0)
    throw new Error(
      `${objects(differ)} ${differ === 1 ? 'differs' : 'differ'} from live: existing copies are never changed`,
    )
}
