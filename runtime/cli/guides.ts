/** Guides of the documentation, by the last part of their addresses. */
import type { Command } from 'commander'

export const GUIDES: readonly string[] = [
  'quick-start',
  'clients',
  'authentication',
  'versioning',
  'idempotency',
  'pagination',
  'limits',
  'webhooks',
  'testing',
  'oauth',
  'wallets',
  'cards',
  'settlement',
  'errors',
  'upgrading',
  'changelog',
]

/** What to read about a command, by its name. */
const GUIDE_OF: Readonly<Record<string, string>> = {
  login: 'authentication',
  status: 'limits',
  get: 'pagination',
  post: 'idempotency',
  listen: 'webhooks',
  events: 'webhooks',
  logs: 'testing',
  trigger: 'testing',
  cards: 'cards',
}

/** Names the guide at the end of each command's help. */
export function nameGuides(program: Command): void {
  for (const command of program.commands) {
    const guide = GUIDE_OF[command.name()]
    if (guide !== undefined) command.addHelpText('after', `\nGuide: svc open ${guide}`)
  }
}
