/** Seals card numbers for a different installation. */
import {
  type CardKeys,
  type CardPlace,
  type CardSecrets,
  createCardKeys,
} from '../../cards/card-keys/card-keys.ts'
import type { RoomSecrets } from '../../database/migrate/card-role.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { seal, unseal } from '../../platform/secrets.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { Resealing } from './copy.ts'
import type { TextRow } from './rows.ts'
import type { MovedTable } from './tables.ts'

const indexOf = (table: MovedTable, name: string) => table.columns.findIndex((column) => column.name === name)

const asBytes = (bytes: Buffer) => `\\x${bytes.toString('hex')}`

/** Opens the keys of card numbers of an installation. @throws ControlError if the process does not have their secret. */
export function openCardKeys(
  { cards }: Pick<OpenDatabase, 'cards'>,
  clock: Clock,
  where: 'this installation' | 'the target',
): CardKeys {
  if (cards) return createCardKeys(cards, clock)
  throw new ControlError(
    'refused',
    `the card numbers of ${where} are sealed with SVC_CARD_SECRET, which is missing: set it for this command`,
  )
}

/** Row of a card number, by its columns. */
function readCardRow(table: MovedTable, row: TextRow) {
  const textOf = (name: string) => row[indexOf(table, name)]!
  return {
    place: {
      environment: table.schema === 'live' ? ('live' as const) : ('sandbox' as const),
      space: textOf('tenant_id'),
      cardId: textOf('card_id'),
    },
    number: {
      key_version: Number(textOf('key_version')),
      sealed: Buffer.from(textOf('sealed').slice(2), 'hex'),
    },
  }
}

const exportContext = ({ environment, space, cardId }: CardPlace) =>
  `export of card_numbers.sealed ${environment} ${space} ${cardId}`

/** Seals a card number for an export, with the secret of card numbers, or with the pepper without it. */
export async function sealForExport(
  { cards }: Pick<OpenDatabase, 'cards'>,
  keys: CardKeys,
  table: MovedTable,
  row: TextRow,
): Promise<string> {
  const { place, number } = readCardRow(table, row)
  const secrets = await keys.open(number, place)
  const { ownSecret, pepper } = cards!
  return asBytes(seal(ownSecret ?? pepper, JSON.stringify(secrets), exportContext(place)))
}

/** Opens a card number of an export with the secrets of this installation. */
function openFromExport(secrets: RoomSecrets, sealed: Buffer, place: CardPlace): CardSecrets {
  const { ownSecret, previousSecret, pepper } = secrets
  let failure: unknown
  for (const secret of [ownSecret, previousSecret, pepper]) {
    if (secret === undefined) continue
    try {
      return JSON.parse(unseal(secret, sealed, exportContext(place))) as CardSecrets
    } catch (error) {
      failure = error
    }
  }
  throw new ControlError(
    'refused',
    'the card numbers of the export are sealed with a different SVC_CARD_SECRET: set SVC_CARD_SECRET_PREVIOUS to that of the source for this command',
    { cause: failure },
  )
}

/** Creates the function that seals the card numbers of an export with the keys of this installation. */
export function resealImported(database: Pick<OpenDatabase, 'cards'>, clock: Clock): Resealing {
  return async (table, rows) => {
    if (table.name !== 'card_numbers' || rows.length === 0) return rows
    const keys = openCardKeys(database, clock, 'this installation')
    return resealCardNumbers({
      source: () => ({
        ...keys,
        open: async ({ sealed }, place) => openFromExport(database.cards!, sealed, place),
      }),
      target: () => keys,
    })(table, rows)
  }
}

/**
 * Creates the function that seals card numbers with the keys of the target. Other rows stay as they are.
 *
 * @param open opens the keys of the source and of the target, when the first card number is found.
 */
export function resealCardNumbers(open: {
  readonly source: () => CardKeys
  readonly target: () => CardKeys
}): Resealing {
  return async (table, rows) => {
    if (table.name !== 'card_numbers' || table.schema === 'control' || rows.length === 0) return rows
    const [source, target] = [open.source(), open.target()]
    const sealer = await target.sealer()
    return Promise.all(
      rows.map(async (row) => {
        const { place, number } = readCardRow(table, row)
        const secrets = await source.open(number, place)
        const { key_version, sealed } = sealer.seal(secrets, place)
        const resealed = [...row]
        resealed[indexOf(table, 'key_version')] = String(key_version)
        resealed[indexOf(table, 'sealed')] = asBytes(sealed)
        resealed[indexOf(table, 'fingerprint')] = asBytes(await target.digest(secrets.number))
        return resealed
      }),
    )
  }
}
