/** A signer elsewhere, as docs/payout-signer.md describes it: a real server with a key, which refuses what it should. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import {
  type Hex,
  numberToHex,
  parseSignature,
  parseTransaction,
  serializeSignature,
  serializeTransaction,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

interface Behavior {
  readonly status?: number
  readonly key?: Hex
  readonly nonce?: number
  /** Signs with the other s (EIP-2), which recovers to the same account. */
  readonly highS?: boolean
}

/** Half of the order of secp256k1 is the most that EIP-2 allows. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function withHighS(signature: Hex): { r: Hex; s: Hex; yParity: number } {
  const { r, s, yParity } = parseSignature(signature)
  return { r, s: numberToHex(ORDER - BigInt(s), { size: 32 }), yParity: 1 - yParity }
}

export interface SignerServer {
  readonly url: string
  /** What it was asked to sign, by path. */
  readonly asked: { readonly path: string; readonly payout_id: string }[]
  /** Answers so from now on, instead of signing. */
  behave(how: Behavior): void
  close(): void
}

const numbers = (value: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, names.includes(name) ? BigInt(text) : text]),
  )

/** @param token that callers have to carry. */
export async function startSigner(key: Hex, token: string): Promise<SignerServer> {
  let how: Behavior = {}
  const asked: { path: string; payout_id: string }[] = []
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${token}`) return answer(401, {})
    if (request.url === '/address') return answer(200, { address: privateKeyToAccount(key).address })
    // biome-ignore lint/suspicious/noExplicitAny: what it is stands in the page
    const body = (await json(request)) as any
    asked.push({ path: request.url!, payout_id: body.payout_id })
    if (how.status !== undefined) return answer(how.status, {})
    const account = privateKeyToAccount(how.key ?? key)
    if (request.url === '/authorizations') {
      const message = numbers(body.message, ['value', 'validAfter', 'validBefore'])
      const { domain, types, primary_type: primaryType } = body
      const signature = await account.signTypedData({ domain, types, primaryType, message })
      return answer(200, { signature: how.highS ? serializeSignature(withHighS(signature)) : signature })
    }
    const fees = numbers(body.transaction, ['gas', 'maxFeePerGas', 'maxPriorityFeePerGas'])
    const nonce = how.nonce ?? body.transaction.nonce
    const unsigned = { ...body.transaction, ...fees, nonce }
    const raw = await account.signTransaction(unsigned)
    if (!how.highS) return answer(200, { raw })
    const { r, s, yParity } = parseTransaction(raw)
    const high = withHighS(serializeSignature({ r: r!, s: s!, yParity: yParity! }))
    answer(200, { raw: serializeTransaction(unsigned, high) })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    behave: (next) => {
      how = next
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
