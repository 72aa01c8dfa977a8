import { type Html, html } from '../../../../platform/html.ts'
import { isVoid, type PassState } from '../pass-state.ts'
import { showFields } from './fields.ts'
import type { Voice } from './voice.ts'

/** Last segment of the path to which the switch for messages is posted. */
export const MESSAGES_PATH = '/messages'

/** Renders the messages to the holder, and the switch that turns them off or on. */
export function showMessages({ messages = [], ...state }: PassState, voice: Voice): Html | undefined {
  if (isVoid(state) && messages.length === 0) return undefined
  const fields = messages.map(({ id, header, body }) => ({ key: id, label: header, value: body }))
  return html`<section class="back" aria-labelledby="messages"><h2 id="messages">${voice.say('messages')}</h2>
${showFields('list', fields)}
${!isVoid(state) && showSwitch(state, voice)}
</section>`
}

function showSwitch(
  { pageUrl, organization, isOptedOut = false }: Omit<PassState, 'messages'>,
  voice: Voice,
): Html {
  const [is, turn, value] = isOptedOut
    ? (['messagesOff', 'turnMessagesOn', 'on'] as const)
    : (['messagesOn', 'turnMessagesOff', 'off'] as const)
  return html`<form class="switch" method="post" action="${pageUrl}${MESSAGES_PATH}">
<p dir="auto">${voice.say(is, { organization })}</p>
<button name="messages" value="${value}">${voice.say(turn)}</button></form>`
}
