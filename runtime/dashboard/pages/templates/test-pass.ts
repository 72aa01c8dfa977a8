/** Issues a pass of a template to try it on a phone. */
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { KEY, keyField } from '../../engine/form-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { Identified } from '../../engine/shapes.ts'
import { ApiRefused, type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { formField } from '../../html/forms.ts'
import type { TemplateObject } from './draft.ts'

const HOLDER = 'Test pass'

export function testPassRoutes(): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'POST',
    environment,
    path: `/${environment}/pass-templates/:id/test-pass`,
    needs: roleFor('createPass'),
    handle: issueTestPass,
  }))
}

export function writeTestPass({ id, status }: TemplateObject, visit: DashboardVisit): Html {
  if (status !== 'active') return html`<p>The template is archived. You cannot issue passes from it.</p>`
  if (!mayAct(visit.member.role, roleFor('createPass')))
    return html`<p>Members with the role developer can issue a test pass.</p>`
  const address = `/${visit.environment}/pass-templates/${id}/test-pass`
  return html`<form method="post" action="${address}">${visit.guard(address)}${keyField()}
<p>A test pass has the holder “${HOLDER}” and the values of the template. Its page shows a QR code that adds it to your phone.</p>
<button class="second" type="submit">Issue test pass</button></form>`
}

async function issueTestPass(visit: DashboardVisit, template_id: string): Promise<void> {
  const answer = await visit.operate('createPass', {
    body: { template_id, holder: { name: HOLDER } },
    idempotencyKey: formField(visit.request, KEY),
  })
  if (!answer.ok) throw new ApiRefused(answer.status, answer.error.message)
  visit.finish(`/${visit.environment}/passes/${(answer.body as Identified).id}#wallets`, 'Test pass issued')
}
