import { type Html, html } from '../../../../platform/html.ts'
import { isVoid, type PassState } from '../pass-state.ts'
import { showFields } from './fields.ts'

/** Last segment of the path to which the switch for messages is posted. */
export const MESSAGES_PATH = '/messages'

/** Renders the messages to the holder, and the switch that turns them off or on. */
export function showMessages({ messages = [], ...state }: PassState): Html | undefined {
  if (isVoid(state) && messages.length === 0) return undefined
  const fields = messages.map(({ id, header, body }) => ({ key: id, label: header, value: body }))
  return html`<section class="back" aria-labelledby="messages"><h2 id="messages">Messages</h2>
${showFields('list', fields)}
${!isVoid(state) && showSwitch(state)}
</section>`
}

function showSwitch({
  pageUrl,
  organization,
  isOptedOut = false,
}: Pick<PassState, 'pageUrl' | 'organization' | 'isOptedOut'>): Html {
  return html`<form class="switch" method="post" action="${pageUrl}${MESSAGES_PATH}">
<p>${isOptedOut ? 'Messages are off.' : html`<span dir="auto">${organization}</span> can send messages to this pass.`}</p>
<button name="messages" value="${isOptedOut ? 'on' : 'off'}">${isOptedOut ? 'Turn messages on' : 'Turn messages off'}</button></form>`
}
