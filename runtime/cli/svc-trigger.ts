/** `svc trigger`: triggers a real event in the sandbox. */
import { EVENT_TYPES } from './event-types.ts'
import { type LiveOptions, openLive } from './live-session.ts'
import { render } from './print.ts'
import { MisuseError, type SvcSession, type SvcTerminal } from './svc-session.ts'
import { type MadeIds, RECIPES, type RecipeOptions } from './trigger-recipes.ts'

/** Event types that can be triggered, in the order of the API documents. */
export const TRIGGERABLE: readonly string[] = Object.keys(RECIPES)

type TriggerOptions = Pick<RecipeOptions, 'endpoint'> & LiveOptions

const isTriggerable = (type: string): type is keyof typeof RECIPES => Object.hasOwn(RECIPES, type)

/**
 * Triggers an event and prints the identifiers of the created objects.
 * @throws MisuseError if the type cannot be triggered.
 */
export async function trigger(
  session: SvcSession,
  type: string,
  options: TriggerOptions,
  terminal: SvcTerminal,
): Promise<void> {
  if (!isTriggerable(type)) {
    const known = EVENT_TYPES.includes(type)
    const problem = known ? `${type} cannot be triggered yet` : `unknown event type ${type}`
    throw new MisuseError(`${problem}; expected one of:\n  ${TRIGGERABLE.join('\n  ')}`)
  }
  if (options.endpoint !== undefined && type !== 'webhook_endpoint.test') {
    throw new MisuseError('--endpoint can be used only with webhook_endpoint.test')
  }
  const made: MadeIds = await RECIPES[type](session.client, {
    endpoint: options.endpoint,
    openLive: () => openLive(session, options),
    askFactor: () => askFactor(terminal),
  })
  terminal.print(render({ triggered: type, ...made }, terminal.json).trimEnd())
}

async function askFactor({ ask }: SvcTerminal): Promise<string> {
  const code = await ask?.('New code from your authenticator app: ')
  if (code === undefined)
    throw new MisuseError('the event needs a second factor: run the command in a terminal, which asks for it')
  return code.trim()
}
