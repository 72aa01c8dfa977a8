import type { CardRoom } from '../../database/open/card-room.ts'
import { type OpenDatabase, openDatabase } from '../../database/open/open-database.ts'
import { readSettings } from '../../platform/settings.ts'
import type { Operator } from '../../tenants/admin/change.ts'
import { createClock } from '../../tenants/clock/clock.ts'
import type { CommandSurroundings } from './surroundings.ts'

/** An action needs one connection, and another one for its transaction. */
const POOL_SIZE = 2

/**
 * Opens the database of the service, whether or not the service is running, runs one action and closes the database.
 *
 * @param surroundings whose `say` receives unusual events as text for people.
 */
export async function operate<T>(
  { env, say }: Pick<CommandSurroundings, 'env' | 'say'>,
  action: (
    operator: Operator,
    production: boolean,
    room: CardRoom | undefined,
    database: OpenDatabase,
  ) => Promise<T>,
): Promise<T> {
  const settings = readSettings(env)
  const database = await openDatabase({ ...settings, poolSize: POOL_SIZE }, say)
  try {
    const clock = createClock()
    await clock.refresh(database.control)
    const operator = { control: database.control, clock, pepper: database.pepper }
    return await action(operator, settings.production, database.cards, database)
  } finally {
    await database.close()
  }
}
