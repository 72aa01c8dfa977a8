/** Samples of changes for receivers of events. */

import type { LoadedChange } from '../../change/load-changes.ts'
import type { VersionPair } from '../../gate/steps.ts'
import type { Api, EventType } from '../../ir/model.ts'
import { signatureHeaderOf } from '../client/webhooks.ts'
import { quote } from '../reference/curl.ts'
import { sampleContent } from '../reference/sample.ts'
import { illustrationsOf } from './illustrations.ts'
import type { Sample, SampleContext } from './sample.ts'
import { printReceiver } from './typescript.ts'

export function deliverySamples(
  change: LoadedChange,
  step: VersionPair,
  { client }: SampleContext,
): Sample[] {
  const { old, next } = step
  const come = illustrationsOf(change, step).flatMap((each) =>
    next.events.filter(({ name }) => name === each.new),
  )
  const renamed = change.lenses.some((lens) => lens.kind === 'renamed-header')
  const verified = signatureHeaderOf(old) !== undefined && signatureHeaderOf(next) !== undefined
  const receiver = (types: readonly string[]) =>
    client !== undefined && verified
      ? {
          typescript: {
            before: printReceiver(client, old.version, []),
            after: printReceiver(client, next.version, types),
          },
        }
      : {}
  if (renamed) {
    const event = old.events[0]
    const now = next.events.find(({ name }) => name === event?.name)
    if (!event || !now) return []
    const curl = { before: printDelivery(old, event), after: printDelivery(next, now) }
    return [{ title: 'Receive a delivery', added: false, curl, ...receiver([]) }]
  }
  const [event] = come
  return event ? [{ title: `Receive \`${event.name}\``, added: true, ...receiver([event.name]) }] : []
}

/** Prints a curl command that sends a delivery, signed with openssl, to the reader's own receiver. */
function printDelivery(api: Api, event: EventType): string {
  const body = JSON.stringify(event.payload && sampleContent(api, event.payload, 'writeOnly'))
  const signature = signatureHeaderOf(api)
  const headers = event.headers.filter(({ name, required }) => required && name !== signature)
  return [
    `body=${quote(body)}`,
    ...(signature === undefined
      ? []
      : [
          'time=$(date +%s)',
          `digest=$(printf '%s' "$time.$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)`,
        ]),
    [
      'curl "$RECEIVER_URL"',
      ...(signature === undefined ? [] : [`-H "${signature}: t=$time,v1=$digest"`]),
      ...headers.map((each) => `-H ${quote(`${each.name}: ${String(each.example ?? '…')}`)}`),
      '--json "$body"',
    ].join(' \\\n  '),
  ].join('\n')
}
