/**
 * `npm run prove:tasks`: does twenty tasks of a merchant's day in a browser, and counts clicks and typed fields. Each task must
 * take no more clicks than before, and all together at least a quarter fewer.
 *
 * Options: --ready FILE (ready line of a running service that has the demo data; without it, one is started), --only TEXT.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { withScratch } from '../../../bench/scratch.ts'
import { startChromium } from '../../../support/chromium.ts'
import { type DemoReady, speakPlainly, startDemo } from '../../demo/service.ts'
import { type Effort, type Person, perform } from './driver.ts'
import { openAuthenticator, signIn } from './member.ts'
import { TASKS, type Task } from './tasks.ts'

const { values: options } = parseArgs({
  options: { ready: { type: 'string' }, only: { type: 'string', default: '' } },
})

/** So many days have a settlement that is settled and a destination that is active. */
const DAYS = 9

const write = ({ clicks, fields }: Effort) => `${clicks} + ${fields}`

async function count(ready: DemoReady): Promise<void> {
  const chromium = await startChromium()
  try {
    const page = await (await chromium.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
    const code = openAuthenticator(ready.dashboard.totp_secret)
    await signIn(page, ready, code)
    const send = speakPlainly(ready.sandbox_base_url, ready.keys.sandbox_secret)
    const requestId = (await send('/v1/me')).headers.get('Request-Id') ?? ''
    const wanted = TASKS.filter(({ name }) => name.toLowerCase().includes(options.only.toLowerCase()))
    const faults: string[] = []
    let before = 0
    let now = 0
    print('task', 'before', 'now')
    for (const task of wanted) {
      const effort = await attempt(page, ready.console_url, task, { code, requestId })
      print(
        task.name,
        task.before ? write(task.before) : '–',
        typeof effort === 'string' ? effort : write(effort),
      )
      if (typeof effort === 'string') faults.push(`${task.name}: ${effort}`)
      else if (task.before) {
        before += task.before.clicks
        now += effort.clicks
        if (effort.clicks > task.before.clicks) faults.push(`${task.name}: more clicks than before`)
      }
    }
    print('all that were possible before', String(before), String(now))
    if (now > before * 0.75) faults.push('the sum is not a quarter less')
    if (faults.length > 0) throw new Error(faults.join('\n'))
  } finally {
    await chromium.close()
  }
}

/** What the task takes, or why it cannot be done. */
async function attempt(page: Page, origin: string, task: Task, person: Person): Promise<Effort | string> {
  if (!task.steps) return 'impossible'
  try {
    return await perform(page, origin, { ...task, steps: task.steps }, person)
  } catch (error) {
    return `${page.url()}: ${error instanceof Error ? error.message : error}`
  }
}

const print = (name: string, before: string, now: string) =>
  process.stdout.write(`${name.padEnd(42)}${before.padStart(8)}${now.padStart(8)}\n`)

await withScratch(async ({ directory, atEnd }) => {
  if (options.ready) return count(JSON.parse(readFileSync(options.ready, 'utf8')))
  const demo = await startDemo(directory, DAYS)
  atEnd(demo.stop)
  await count(demo.ready)
})
