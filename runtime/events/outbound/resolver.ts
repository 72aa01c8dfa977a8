import dns from 'node:dns/promises'

/** The name has no address, or none can be had now. The message is for the tenant. */
export class Unresolved extends Error {
  override name = 'Unresolved'
}

/** Asks name servers, never the machine's own files. */
export interface Resolver {
  /** All addresses of the name, those of IPv4 first. Rejects with `Unresolved`, after 5 s at the latest. */
  resolve(name: string): Promise<readonly string[]>
  /** Ends all lookups under way. */
  close(): void
}

/** Milliseconds until one name server is given up, and how often all of them are asked. */
const SERVER_TIMEOUT_MS = 1500
const TRIES = 2

/** Whatever number of name servers the machine has. */
const LOOKUP_TIMEOUT_MS = 5000

const PROSE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name does not exist',
  ENODATA: 'the host name has no address',
  EBADNAME: 'the host name is not valid',
  ETIMEOUT: 'the name servers did not answer in time',
}

/** The name exists without an address of this family, or not at all: an answer, not a failure. */
const EMPTY = new Set(['ENODATA', 'ENOTFOUND'])

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** What both families came to. One that failed while the other has addresses does not count: nothing of it is dialled. */
function combine(answers: readonly PromiseSettledResult<string[]>[]): readonly string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? [codeOf(answer.reason)] : []))
  const code = codes.find((each) => !EMPTY.has(each)) ?? codes[0] ?? 'ENODATA'
  throw new Unresolved(PROSE[code] ?? 'the name servers could not answer')
}

/**
 * A resolver over c-ares, whose lookups take no thread of the process. Nothing is kept: who asks while the same name is being looked
 * up shares that lookup, later ones ask again.
 *
 * @param servers as `address` or `address:port`, instead of the machine’s own; none: those
 */
export function createResolver(servers?: readonly string[]): Resolver {
  const ares = new dns.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES, maxTimeout: SERVER_TIMEOUT_MS })
  if (servers?.length) ares.setServers(servers)
  const underWay = new Map<string, Promise<readonly string[]>>()

  const look = async (name: string) => {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Unresolved(PROSE.ETIMEOUT)), LOOKUP_TIMEOUT_MS)
    try {
      const answers = Promise.allSettled([ares.resolve4(name), ares.resolve6(name)])
      return combine(await Promise.race([answers, late.promise]))
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    resolve: (name) => {
      const known = underWay.get(name)
      if (known) return known
      const lookup = look(name).finally(() => underWay.delete(name))
      underWay.set(name, lookup)
      return lookup
    },
    close: () => ares.cancel(),
  }
}
