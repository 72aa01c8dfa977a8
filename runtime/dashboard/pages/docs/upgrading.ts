/** The parts of a migration guide that say how often its changes affect the requests of the signed-in reader. */
import { changes } from '../../../../generated/changelog.ts'
import { versions } from '../../../../generated/versions.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { firstTouchedDay, readTouches, TOUCHED_DAYS } from '../../../tenants/usage/touches.ts'
import { when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { findPlace, type Watching } from '../watch/watching.ts'
import { sendPart } from './send-part.ts'

/** Shows a summary below the heading of the guide, and counts below the heading of each change. */
export async function showUpgrading(watching: Watching, visit: DashboardVisit): Promise<void> {
  const [from, to] = [String(visit.request.params.from), String(visit.request.params.to)]
  if (!versions.some(({ name }) => name === from)) return sendPart(visit, 404, html``)
  const counted = await Promise.all(
    ENVIRONMENTS.map(async (environment) => {
      const { db, space } = await findPlace(watching, { ...visit, environment })
      const since = firstTouchedDay(visit.operator.clock.service(environment))
      return { environment, touches: await readTouches(db, space, from, since) }
    }),
  )
  const onWay = changes.filter(({ version }) => version > from && version <= to)
  const each = onWay.map(({ name }) => ({
    name,
    lines: counted.flatMap(({ environment, touches }) =>
      touches
        .filter(({ change }) => change === name)
        .map(
          ({ requests, last_operation, last_at }) =>
            html`${words(environment)}: <b>${requests.toLocaleString('en')}</b> of your requests, last ${last_operation} at ${when(new Date(last_at).toISOString())}`,
        ),
    ),
  }))
  const affected = each.filter(({ lines }) => lines.length > 0).length
  const summary = html`<section class="own"><p><b>${String(affected)} of ${String(onWay.length)} changes</b> affect your requests to ${from} in the last ${String(TOUCHED_DAYS)} days. Each change shows how many requests it affects.</p>
<p>${ENVIRONMENTS.map((environment) => html`<a href="/${environment}/version?from=${from}&amp;to=${to}#changes">View in the dashboard (${environment})</a> `)}</p></section>
`
  sendPart(visit, 200, html`${summary}${each.map(({ name, lines }) => writeCounts(name, lines))}`)
}

function writeCounts(name: string, lines: readonly Html[]): Html {
  const text = html`Affects none of your requests in the last ${String(TOUCHED_DAYS)} days.`
  return html`<p class="own" data-after="${name.replace('/', '-')}">${lines.length === 0 ? text : lines.map((line, at) => html`${at > 0 && html`<br>`}${line}`)}</p>
`
}
