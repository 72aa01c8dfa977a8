import { type Html, html } from '../../../../platform/html.ts'
import { arrangeFields } from '../layout.ts'
import type { PassField, PassState } from '../pass-state.ts'
import { showFields } from './fields.ts'
import type { Phrase } from './phrases.ts'
import type { Voice } from './voice.ts'
import { stateWords } from './words.ts'

/**
 * Renders the back: the fields without room on the front, and facts about the pass.
 *
 * @param spoken attributes of the elements that have texts of the pass.
 */
export function showBack(state: PassState, voice: Voice, spoken: Html): Html {
  const { back } = arrangeFields(state.kind, state.fields)
  return html`<section class="back" aria-labelledby="details"><h2 id="details">${voice.say('back')}</h2>
${back.length > 0 && html`<div ${spoken}>${showFields('list', back)}</div>`}
${showFields('list', aboutPass(state, voice))}
</section>`
}

function aboutPass(state: PassState, voice: Voice): PassField[] {
  const { name, organization, holder, expiresAt } = state
  const rows: readonly (readonly [key: Phrase, value: string | undefined | null])[] = [
    ['name', name],
    ['organization', organization],
    ['holder', holder.name],
    ['expires', expiresAt === null ? null : voice.showInstant(expiresAt)],
    ['status', stateWords(state, voice)?.title ?? voice.say('valid')],
  ]
  return rows.flatMap(([key, value]) => (value ? [{ key, label: voice.say(key), value }] : []))
}
