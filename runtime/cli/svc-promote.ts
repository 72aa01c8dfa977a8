/** `svc promote`: configuration goes from the sandbox to live, after a look at what that means. */
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
    .description('copy configuration from the sandbox to live, after showing what would be done')
    .addArgument(new Argument('<what>', 'what the ids are of').choices(Object.keys(TYPES)))
    .argument('<id...>', 'objects of the sandbox')
    .option('--dry-run', 'show it, and do nothing')
    .option('--yes', 'do not ask')
  takeLive(command)
    .addHelpText('after', HELP)
    .action((what: What, ids: string[], words: Words, self: Command) =>
      run(self, (session, terminal) => promote(openLive(session, words), what, ids, words, terminal)),
    )
}

const HELP = `
--api-key is the sandbox's key, of the same account; both keys have the scope admin. What has a copy
already is compared with it, and never changed.

Examples:
  svc promote templates tpl_01jx2f8m3q5r7s9t1v3w5x7y9z --dry-run
  svc promote webhook-endpoints whe_01jx2f8m3q5r7s9t1v3w5x7y9z --yes --json

It fails (1) where something is refused or differs, was changed meanwhile, or was not confirmed.`

/** @throws Error where something is refused, differs, or was not confirmed. */
async function promote(
  live: LiveSession,
  what: What,
  ids: readonly string[],
  { dryRun, yes }: Words,
  terminal: SvcTerminal,
): Promise<void> {
  if (!dryRun && !yes && !terminal.ask) {
    throw new MisuseError('nobody can be asked here: give --yes, or --dry-run to look first')
  }
  const order = { resource_type: TYPES[what], sandbox_ids: [...new Set(ids)] }
  const planned = await live.promote({ ...order, dry_run: true })
  if (!terminal.json) terminal.print(showPlan(planned, terminal.paint))
  const count = countOf(planned, 'create')
  if (dryRun || count === 0 || countOf(planned, 'refused') > 0) {
    if (terminal.json) terminal.print(JSON.stringify(planned))
    return requireAgreement(planned)
  }
  if (!yes && !(await confirm(`Copy ${count} to live at ${live.baseUrl}?`, terminal))) {
    throw new Error('not confirmed: nothing was copied')
  }
  // Refused, with what has changed, where the plan that was shown is another one by now.
  const made = await live.promote({ ...order, plan_id: planned.id })
  if (terminal.json) terminal.print(JSON.stringify(made))
  else terminal.print(['', ...made.created.map(showCopy)].join('\n'))
  if (what === 'webhook-endpoints') {
    terminal.say(
      'Each copy has a secret of its own: POST /v1/webhook-endpoints/{id}/rotate_secret shows one.',
    )
  }
  requireAgreement(made)
}

const showCopy = ({ sandbox_id, live_id }: LivePromotion['created'][number]) => `${sandbox_id} → ${live_id}`

async function confirm(question: string, { ask }: SvcTerminal): Promise<boolean> {
  return /^y(es)?$/i.test((await ask?.(`${question} [y/N] `)) ?? '')
}

function requireAgreement(promotion: LivePromotion): void {
  const refused = countOf(promotion, 'refused')
  const differ = countOf(promotion, 'differs')
  if (refused > 0) throw new Error(`${refused} refused: nothing is copied unless all of it can be`)
  if (differ > 0) throw new Error(`${differ} differ from live: what is there already is never changed`)
}
