import { origin, type Read, secretText, whole } from './setting-readers.ts'

/** Settings of processes that open card numbers, and of processes that ask them. */
export interface CardRoomSettings {
  /** Seals the keys of card numbers. Absent: the embedded database has its own, and elsewhere the pepper replaces it. */
  readonly cardSecret?: string
  /** The secret before, while it is replaced. */
  readonly previousCardSecret?: string
  /** Absent if the port is closed. */
  readonly revealPort?: number
  readonly revealHost: string
  /** Origin of a process with the role `reveal`, without a trailing slash. */
  readonly revealUrl?: string
}

const DEFAULT_PORT = 4040

export interface CardRoomPlace {
  readonly production: boolean
  /** Roles named on the command line. */
  readonly roles: readonly string[]
  readonly isEmbedded: boolean
}

export function readCardRoom(read: Read, { production, roles, isEmbedded }: CardRoomPlace): CardRoomSettings {
  const isRequired =
    production && !isEmbedded && roles.some((role) => role === 'network' || role === 'reveal')
  const cardSecret = read('SVC_CARD_SECRET', (text) => {
    if (text === undefined && isRequired)
      throw new Error('is required for the roles network and reveal. Create one with openssl rand -hex 32')
    return secretText(production)(text)
  })
  const previousCardSecret = read('SVC_CARD_SECRET_PREVIOUS', (text) => text)
  const revealPort = read('REVEAL_PORT', (text) =>
    text === undefined && !roles.includes('reveal') ? undefined : whole(DEFAULT_PORT, 0, 65_535)(text),
  )
  const revealUrl = read('REVEAL_URL', (text) => {
    const url = origin(text)
    const isHere = url !== undefined && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
    if (production && url?.startsWith('http:') && !isHere)
      throw new Error(`${url} is not encrypted: expected https, because details of cards pass there`)
    return url
  })
  return {
    revealHost: read('REVEAL_HOST', (text) => text ?? '127.0.0.1') ?? '127.0.0.1',
    ...(cardSecret !== undefined && { cardSecret }),
    ...(previousCardSecret !== undefined && { previousCardSecret }),
    ...(revealPort !== undefined && { revealPort }),
    ...(revealUrl !== undefined && { revealUrl }),
  }
}
