import { type PublicKeysParts, readPublicKeys } from '../events/webhook-endpoints/public-keys.ts'
import { type HolderRoute, nothingHere, requireMethod } from '../passes/wallets/pages/holders.ts'

/**
 * `/webhooks/{account}/{endpoint}/jwks.json`: the public keys of an endpoint. A rotated key stays for 24 hours, so a copy
 * that is 5 minutes old has one of the keys that sign.
 */
export function publicKeysRoute(parts: PublicKeysParts): HolderRoute {
  return (visit) => {
    requireMethod(visit, 'GET', 'HEAD')
    return send(parts, visit)
  }
}

async function send(parts: PublicKeysParts, { request, response, rest, now }: Parameters<HolderRoute>[0]) {
  const keys = await readPublicKeys(parts, rest, now)
  if (!keys) throw nothingHere()
  const body = JSON.stringify(keys)
  response.writeHead(200, [
    ...['Content-Type', 'application/jwk-set+json'],
    ...['Content-Length', String(Buffer.byteLength(body))],
    ...['Cache-Control', 'public, max-age=300'],
    ...['X-Content-Type-Options', 'nosniff'],
  ])
  response.end(request.method === 'HEAD' ? undefined : body)
}
