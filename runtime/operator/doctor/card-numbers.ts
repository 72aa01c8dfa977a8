/** Checks who can open card numbers, and whether the directory has all of them. */
import type pg from 'pg'
import { messageOf } from '../../database/errors.ts'
import type { Roles } from '../../database/migrate/roles.ts'
import { ROOM_ROLES } from '../../database/open/card-room.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

type CardSettings = Pick<Settings, 'roles' | 'databaseUrl' | 'cardSecret' | 'revealUrl' | 'production'>

interface RoomRow {
  readonly closed: boolean
  /** Whether the secret of card numbers, not the pepper, seals the newest key; null if there is no key yet. */
  readonly newest_is_own: boolean | null
  /** Number of keys that the pepper seals and that are not retired. */
  readonly with_pepper: number
}

const READ_ROOM = `
  SELECT r.closed, (SELECT count(*)::int FROM control.card_keys WHERE sealed IS NOT NULL AND NOT has_own_secret) AS with_pepper,
         (SELECT has_own_secret FROM control.card_keys ORDER BY version DESC LIMIT 1) AS newest_is_own
    FROM control.card_room r`

/** Reports nothing before the tables exist. */
export async function checkCardNumbers(
  client: pg.Client,
  settings: CardSettings,
  roles: Roles,
): Promise<Finding[]> {
  const { rows: found } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('control.card_room') IS NOT NULL AND to_regclass('live.card_numbers') IS NOT NULL AS made`,
  )
  if (!found[0]?.made) return []
  const { rows } = await client.query<RoomRow>(READ_ROOM)
  const room = rows[0]!
  return [
    checkSecret(settings, room),
    ...(await checkProcess(settings)),
    await checkReaders(client, roles, room),
    await checkDirectory(client),
  ]
}

const SEPARATE =
  'set SVC_CARD_SECRET for the roles network and reveal, and REVEAL_URL for the other processes, then run `admin card-keys rotate`'

/** What seals the keys of card numbers. */
function checkSecret({ databaseUrl, cardSecret, production }: CardSettings, room: RoomRow): Finding {
  const check = 'card keys'
  const { newest_is_own, with_pepper } = room
  const hasSecret = cardSecret !== undefined || databaseUrl === undefined
  if (newest_is_own ?? hasSecret) {
    const rest = with_pepper > 0 ? `; ${with_pepper} older ones are retired an hour after the rotation` : ''
    return ok(check, `are sealed with a secret of their own${rest}`)
  }
  const words = 'are sealed with the pepper, so every process can open card numbers'
  if (hasSecret)
    return warn(check, `${words}: when all processes run this version, run \`admin card-keys rotate\``)
  return production ? warn(check, `${words}: ${SEPARATE}`) : ok(check, words)
}

const ASK_TIMEOUT_MS = 2000

/** Whether this process opens card numbers, or whom it asks. */
async function checkProcess(settings: CardSettings): Promise<Finding[]> {
  const { roles, cardSecret, revealUrl } = settings
  const check = 'card numbers'
  if (ROOM_ROLES.some((role) => roles.has(role)))
    return [ok(check, 'this process opens them, with the role network or reveal')]
  const findings = cardSecret
    ? [
        warn(
          check,
          'this process has SVC_CARD_SECRET but neither the role network nor reveal: remove it here',
        ),
      ]
    : []
  if (revealUrl === undefined)
    return [...findings, ok(check, 'this process opens them, because REVEAL_URL is not set')]
  try {
    const { status } = await fetch(`${revealUrl}/readyz`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    if (status !== 200) return [...findings, fail(check, `REVEAL_URL: ${revealUrl} responds ${status}`)]
    return [...findings, ok(check, `${revealUrl} opens them for this process`)]
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return [...findings, fail(check, `REVEAL_URL: ${revealUrl} cannot be reached: ${messageOf(cause)}`)]
  }
}

/** Whether a role that must not read sealed numbers can. */
async function checkReaders(client: pg.Client, roles: Roles, { closed }: RoomRow): Promise<Finding> {
  const check = 'sealed card numbers'
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT rolname AS name FROM pg_roles, unnest(ARRAY['sandbox', 'live']) AS environment
      WHERE rolname = ANY ($1) AND has_column_privilege(rolname, environment || '.card_numbers', 'sealed', 'SELECT')
      ORDER BY 1`,
    [ENVIRONMENTS.map((environment) => roles[environment])],
  )
  const names = rows.map(({ name }) => name).join(', ')
  if (rows.length === 0) return ok(check, 'only the role svc_cards_… and the database owner can read them')
  if (closed) return fail(check, `${names} can read them: revoke SELECT on card_numbers`)
  return warn(
    check,
    `${names} can read them, as the version before needs: when all processes run this version, run \`admin card-keys rotate\``,
  )
}

/** The largest number of cards to count. */
const MOST = 10_000

async function checkDirectory(client: pg.Client): Promise<Finding> {
  const check = 'card directory'
  const counts = { pending: 0, unlisted: 0 }
  for (const environment of ENVIRONMENTS) {
    const { rows } = await client.query<{ pending: number; unlisted: number }>(
      `SELECT count(*) FILTER (WHERE listed IS NULL)::int AS pending, count(listed)::int AS unlisted
         FROM (SELECT listed FROM ${environment}.card_numbers WHERE listed IS NOT TRUE LIMIT $1) AS found`,
      [MOST],
    )
    counts.pending += rows[0]!.pending
    counts.unlisted += rows[0]!.unlisted
  }
  const { pending, unlisted } = counts
  if (pending > 0)
    return warn(
      check,
      `${pending >= MOST ? `at least ${MOST}` : pending} cards are not in it yet: a process with the role reveal or worker enters them`,
    )
  if (unlisted > 0)
    return warn(
      check,
      `${unlisted} cards have the number of an older card: replace them, so that a network can use them`,
    )
  return ok(check, 'has every card')
}
