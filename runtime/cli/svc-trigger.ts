/** `svc trigger`: makes an event happen for real, in the sandbox. */
import { EVENT_TYPES } from './event-types.ts'
import { type LiveOptions, openLive } from './live-session.ts'
import { render } from './print.ts'
import { MisuseError, type SvcSession, type SvcTerminal } from './svc-session.ts'
import { type MadeIds, RECIPES, type RecipeOptions } from './trigger-recipes.ts'

/** Types that can be triggered, in the order of the documents. */
export const TRIGGERABLE: readonly string[] = Object.keys(RECIPES)

type TriggerOptions = Pick<RecipeOptions, 'endpoint'> & LiveOptions

const isTriggerable = (type: string): type is keyof typeof RECIPES => Object.hasOwn(RECIPES, type)

/** @throws MisuseError when nothing makes such an event happen. */
export async function trigger(
  session: SvcSession,
  type: string,
  options: TriggerOptions,
  terminal: SvcTerminal,
): Promise<void> {
  if (!isTriggerable(type)) {
    const known = EVENT_TYPES.includes(type)
    const problem = known ? `${type} cannot be triggered yet` : `there is no event type ${type}`
    throw new MisuseError(`${problem}; these can be:\n  ${TRIGGERABLE.join('\n  ')}`)
  }
  if (options.endpoint !== undefined && type !== 'webhook_endpoint.test') {
    throw new MisuseError('--endpoint is for webhook_endpoint.test only')
  }
  const made: MadeIds = await RECIPES[type](session.client, {
    endpoint: options.endpoint,
    openLive: () => openLive(session, options),
  })
  terminal.print(render({ triggered: type, ...made }, terminal.json).trimEnd())
}
