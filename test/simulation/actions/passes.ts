/** What a merchant and its customers do with passes. */
import { mustEqual } from '../checks/must.ts'
import type { Answer } from '../client.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, must, one } from './action.ts'

/** Notes a new pass. */
export function passMade({ passes, files, changes }: Merchant, { status, body }: Answer): void {
  mustEqual(status, 201, 'the answer to a new pass')
  passes.push(body.id)
  files.set(body.id, body.download.apple_url)
  changes.push({ environment: 'live', type: 'pass.created', body })
}

export const PASS_ACTIONS: Actions = {
  pass: {
    times: 2,
    async act(merchant) {
      const { live, known } = merchant
      passMade(merchant, await live.post('/v1/passes', { template_id: known.template }))
    },
  },
  update_pass: {
    times: 2,
    async act({ live, passes }, { amount, pick }) {
      const pass = one(passes, pick)
      if (!pass) return
      const fields = { points: String(amount) }
      must(await live.send('PATCH', `/v1/passes/${pass}`, { fields }), 200, 'an update')
    },
  },
  install_pass: {
    times: 2,
    async act({ devices, passes, files }, { pick }) {
      const pass = one(passes, pick)
      if (pass) await one(devices, pick)!.install(files.get(pass)!)
    },
  },
  remove_pass: { times: 1, act: ({ devices }, { pick }) => one(devices, pick)!.remove(pick) },
}
