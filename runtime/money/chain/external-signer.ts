/** An external signer, called over HTTP (docs/payout-signer.md). `checked` verifies its results. */

import { type Address, getAddress, type Hex } from 'viem'
import { createOutbound, type PeerOutbound } from '../../events/outbound/outbound.ts'
import { parsePeerJson } from '../../platform/json/peer-json.ts'
import { parseNetworks } from '../../platform/networks.ts'
import { type Signer, SignerRefused, SignerUnavailable, typedData } from './signer.ts'

interface External {
  readonly url: string
  /** Sent as a bearer token. */
  readonly token?: string
}

/** The signer runs on this machine or in the operator's network. Addresses of cloud metadata services stay blocked. */
const OWN_NETWORKS = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fd00::/8']

/** Connects to the signer and reads its address. Throws `SignerUnavailable`. */
export async function openExternalSigner({ url, token }: External): Promise<Signer> {
  const allow = parseNetworks(OWN_NETWORKS)
  const outbound: PeerOutbound = createOutbound({
    allowPlainHttp: true,
    allow,
    userAgent: 'svc-payouts/1',
  })
  const headers = {
    'Content-Type': 'application/json',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  }
  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    member: string,
    body?: unknown,
  ): Promise<string> => {
    const text = body === undefined ? '' : JSON.stringify(body, bigintAsText)
    const outcome = await outbound.send({ method, url: `${url}${path}`, headers, body: text })
    if ('error' in outcome) throw new SignerUnavailable(`the signer cannot be reached: ${outcome.error}`)
    if (outcome.status === 422) throw new SignerRefused('the signer refused to sign')
    const value = outcome.status === 200 ? readMember(outcome.body, member) : undefined
    if (value !== undefined) return value
    throw new SignerUnavailable(
      `the signer returned ${outcome.status} for ${path}, without a valid ${member}`,
    )
  }
  const address = readAddress(await ask('GET', '/address', 'address'))
  return {
    address,
    authorize: async (domain, authorization, payout_id) => {
      const { primaryType, types, message } = typedData(domain, authorization)
      const body = { payout_id, domain, types, primary_type: primaryType, message }
      return (await ask('POST', '/authorizations', 'signature', body)) as Hex
    },
    sign: async (transaction, payout_id) =>
      (await ask('POST', '/transactions', 'raw', {
        payout_id,
        transaction: { ...transaction, type: 'eip1559' },
      })) as Hex,
  }
}

const bigintAsText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

function readMember(body: string, member: string): string | undefined {
  try {
    const value = (parsePeerJson(body) as Readonly<Record<string, unknown>>)[member]
    return typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? value : undefined
  } catch {
    return undefined
  }
}

function readAddress(text: string): Address {
  try {
    return getAddress(text)
  } catch {
    throw new SignerUnavailable('the signer returned an invalid address')
  }
}
