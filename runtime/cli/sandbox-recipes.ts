/** Recipes for events about named sandboxes. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { waitFor } from './wait-for.ts'

type MadeSandbox = { readonly sandbox_id: string }

/** Creates a sandbox, and deletes it after `work`, because an account has few. */
async function withSandbox<Made extends MadeSandbox>(
  client: Client,
  work: (made: MadeSandbox) => Promise<Made>,
): Promise<Made> {
  const { id: sandbox_id } = await client.createSandbox({ body: { name: 'svc trigger' } })
  try {
    return await work({ sandbox_id })
  } finally {
    await client.deleteSandbox({ path: { sandbox_id } })
  }
}

/** Takes a snapshot of a sandbox, and waits until it is there. */
async function takeSnapshot(client: Client, made: MadeSandbox) {
  const { id } = await client.createSandboxSnapshot({ path: made, body: { name: 'svc trigger' } })
  const taken = { ...made, snapshot_id: id }
  await waitFor('the snapshot', async () => {
    const { status } = await client.getSandboxSnapshot({ path: taken })
    return status === 'done' || undefined
  })
  return taken
}

export const sandboxRecipes = {
  'sandbox.created': (client: Client) => withSandbox(client, async (made) => made),
  'sandbox.deleted': (client: Client) => withSandbox(client, async (made) => made),
  'sandbox_snapshot.completed': (client: Client) => withSandbox(client, (made) => takeSnapshot(client, made)),
  'sandbox.restored': (client: Client) =>
    withSandbox(client, async (made) => {
      const taken = await takeSnapshot(client, made)
      await client.restoreSandboxSnapshot({ path: taken, body: {} })
      await waitFor('the sandbox', async () => {
        const { status } = await client.getSandbox({ path: made })
        return status === 'ready' || undefined
      })
      return taken
    }),
}
