/**
 * Leaves a statement of a transaction to travel with those that follow: nobody waits for it, and the COMMIT fails where it
 * failed.
 *
 * @example enqueue(insertPasses(db, space, rows))
 */
export function enqueue(_statement: Promise<unknown>): void {}
