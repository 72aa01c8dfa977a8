/** Issues a pass in a worker whose bundle should be small: it contains these two operations only. */
import { connect } from '@dateline/passes/2026-05-19'
import { createPass, getPass } from '@dateline/passes/2026-05-19/functions'

const connection = connect({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const { id } = await createPass(connection, { template_id: process.env.TEMPLATE_ID ?? '' })
const { status } = await getPass(connection, id, { timeout: 5_000 })
console.log(JSON.stringify({ status }))
