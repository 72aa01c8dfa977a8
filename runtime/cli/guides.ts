/** The documentation guides, by the last part of their addresses. */
import type { Command } from 'commander'

export const GUIDES: readonly string[] = [
  'quick-start',
  'clients',
  'other-languages',
  'authentication',
  'versioning',
  'idempotency',
  'pagination',
  'limits',
  'webhooks',
  'testing',
  'sandboxes',
  'oauth',
  'wallets',
  'cards',
  'settlement',
  'errors',
  'upgrading',
  'changelog',
]

/** The guide for each command. */
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
  sandboxes: 'sandboxes',
}

/** Adds the guide to the help of each command. */
export function nameGuides(program: Command): void {
  for (const command of program.commands) {
    const guide = GUIDE_OF[command.name()]
    if (guide !== undefined) command.addHelpText('after', `\nGuide: svc open ${guide}`)
  }
}
