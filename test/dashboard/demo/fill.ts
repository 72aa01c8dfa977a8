/**
 * `npm run demo:data -- --url URL --key KEY`: fills the sandbox of a running service with what a small merchant has after a
 * month, through the API and its simulators, and then receives its webhooks until it is interrupted. With `--days 28`, the
 * service's sandbox clock advances by one day after each part: start the service with `SVC_CLOCK` that long ago, and with
 * `SVC_WEBHOOK_ALLOW=127.0.0.0/8`. The environment is that of `npm run admin`, which advances the clock.
 */
import { parseArgs } from 'node:util'
import { fillDemo } from './data.ts'
import { startReceiver } from './receiver.ts'
import { advanceOneDay, speakPlainly } from './service.ts'

const { values } = parseArgs({
  options: { url: { type: 'string' }, key: { type: 'string' }, days: { type: 'string', default: '0' } },
})
const { url, key } = values
if (!url || !key)
  throw new Error('give --url and --key: the sandbox URL and a sandbox secret key of the demo tenant')
const receiver = await startReceiver()
process.once('SIGINT', receiver.stop).once('SIGTERM', receiver.stop)
await fillDemo(speakPlainly(url, key), {
  days: Number(values.days),
  nextDay: () => advanceOneDay(process.env as Record<string, string>),
  receiver: receiver.url,
})
process.stdout.write(`The data is ready. Webhooks are received at ${receiver.url} until you press Ctrl-C.\n`)
