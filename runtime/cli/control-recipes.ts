/** Triggers events of drafts of spending controls, and of their backtests, by calling the API. */
import { type Client, ConflictError, type WebhookEvent } from '../../generated/client/src/2026-05-19/index.ts'
import { waitFor } from './wait-for.ts'

type Made = Readonly<Record<string, string>>

const DAY_MS = 86_400_000

async function makeDraft(
  client: Client,
  target: { readonly card_id?: string } = {},
): Promise<{ readonly spending_control_draft_id: string }> {
  const { id } = await client.createSpendingControlDraft({
    body: {
      ...target,
      name: 'Lower limits',
      spending_controls: { spending_limits: [{ amount: 20_000, interval: 'monthly' }] },
      metadata: { made_by: 'svc trigger' },
    },
  })
  return { spending_control_draft_id: id }
}

/** The shadow ends at once, so that it does not count toward the maximum number of shadows. */
async function runShadow(client: Client): Promise<Made> {
  const made = await makeDraft(client)
  await client.startSpendingControlShadow({ path: made })
  await client.endSpendingControlShadow({ path: made })
  return made
}

/** Starts a backtest of the last day. */
async function startBacktest(client: Client) {
  const made = await makeDraft(client)
  const { created } = await client.getSpendingControlDraft({ path: made })
  const { id } = await client.createSpendingControlBacktest({
    path: made,
    body: {
      interval_start: new Date(Date.parse(created) - DAY_MS).toISOString(),
      interval_end: created,
    },
  })
  return { ...made, spending_control_backtest_id: id }
}

/** A backtest can be complete before it is told to fail. Then the next one is started. */
const failBacktest = (client: Client): Promise<Made> =>
  waitFor('a backtest to fail', async () => {
    const made = await startBacktest(client)
    const body = { spending_control_backtest_id: made.spending_control_backtest_id }
    try {
      await client.simulateSpendingControlBacktestFailure({ body })
      return made
    } catch (error) {
      if (error instanceof ConflictError && error.code === 'invalid_state') return undefined
      throw error
    }
  })

/** Backtests the last day and waits for the result. */
async function runBacktest(client: Client): Promise<Made> {
  const made = await startBacktest(client)
  const { spending_control_backtest_id: id } = made
  await waitFor('the backtest to succeed', async () => {
    const { status } = await client.getSpendingControlBacktest({ path: { spending_control_backtest_id: id } })
    return status === 'succeeded' ? status : undefined
  })
  return made
}

export interface FactorAsker {
  /**
   * Asks for a new code from the authenticator app.
   * @throws MisuseError without a terminal.
   */
  askFactor(): Promise<string>
}

/**
 * Returns the recipes.
 * @param makeCard issues a card, so that no other card changes.
 */
export function controlRecipes(makeCard: (client: Client) => Promise<{ readonly card_id: string }>) {
  const promote = async (client: Client, { askFactor }: FactorAsker) => {
    const { card_id } = await makeCard(client)
    const made = { card_id, ...(await makeDraft(client, { card_id })) }
    const header = { 'Service-Factor': await askFactor() }
    await client.promoteSpendingControlDraft({ path: made, header })
    return made
  }
  return {
    'spending_control_draft.created': (client: Client) => makeDraft(client),
    'spending_control_draft.shadow_started': runShadow,
    'spending_control_draft.shadow_ended': runShadow,
    'spending_control_draft.promoted': promote,
    'spending_control_draft.rolled_back': async (client: Client, options: FactorAsker) => {
      const made = await promote(client, options)
      const header = { 'Service-Factor': await options.askFactor() }
      await client.rollBackSpendingControlDraft({ path: made, header })
      return made
    },
    'spending_control_backtest.succeeded': runBacktest,
    'spending_control_backtest.failed': failBacktest,
  } satisfies Partial<Record<WebhookEvent['type'], (client: Client, options: FactorAsker) => Promise<Made>>>
}
