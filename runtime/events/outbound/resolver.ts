import dns from 'node:dns/promises'

/** The name has no address, or it cannot be resolved now. The message is for the tenant. */
export class Unresolved extends Error {
  override name = 'Unresolved'
}

/** Resolves names through DNS servers, never through the machine's hosts file. */
export interface Resolver {
  /** Returns all addresses of the name, IPv4 first. Rejects with `Unresolved`, after at most 5 s. */
  resolve(name: string): Promise<readonly string[]>
  /** Cancels all lookups in progress. */
  close(): void
}

/** Milliseconds before trying the next name server, and the number of rounds over all of them. */
const SERVER_TIMEOUT_MS = 1500
const TRIES = 2

/** Time limit of a whole lookup, for any number of name servers. */
const LOOKUP_TIMEOUT_MS = 5000

const PROSE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name does not exist',
  ENODATA: 'the host name has no address',
  EBADNAME: 'the host name is not valid',
  ETIMEOUT: 'the name servers did not respond in time',
}

/** Errors that mean that the name has no address of this family. They are answers, not failures. */
const EMPTY = new Set(['ENODATA', 'ENOTFOUND'])

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * Combines the answers for IPv4 and IPv6. If one family fails and the other has addresses, the failure does not
 * matter.
 */
function combine(answers: readonly PromiseSettledResult<string[]>[]): readonly string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? [codeOf(answer.reason)] : []))
  const code = codes.find((each) => !EMPTY.has(each)) ?? codes[0] ?? 'ENODATA'
  throw new Unresolved(PROSE[code] ?? 'the host name could not be resolved')
}

/**
 * Creates a resolver over c-ares, whose lookups do not occupy a thread of the process. Results are not cached, but
 * concurrent lookups of one name share a query.
 *
 * @param servers as `address` or `address:port`. Default: the name servers of the machine.
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
