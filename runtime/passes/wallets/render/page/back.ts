import { type Html, html } from '../../../../platform/html.ts'
import { arrangeFields } from '../layout.ts'
import type { PassField, PassState } from '../pass-state.ts'
import { showFields } from './fields.ts'
import { showInstant, stateWords } from './words.ts'

/** Renders the back: the fields without room on the front, and facts about the pass. */
export function showBack(state: PassState): Html {
  const { back } = arrangeFields(state.kind, state.fields)
  return html`<section class="back" aria-labelledby="details"><h2 id="details">Details</h2>
${showFields('list', back)}
${showFields('list', aboutPass(state))}
</section>`
}

function aboutPass(state: PassState): PassField[] {
  const { name, organization, holder, expiresAt } = state
  const rows: readonly (readonly [key: string, label: string, value: string | undefined | null])[] = [
    ['name', 'Pass', name],
    ['organization', 'Issued by', organization],
    ['holder', 'Issued to', holder.name],
    ['expires', 'Valid until', expiresAt === null ? null : showInstant(expiresAt)],
    ['status', 'Status', stateWords(state)?.title ?? 'Valid'],
  ]
  return rows.flatMap(([key, label, value]) => (value ? [{ key, label, value }] : []))
}
