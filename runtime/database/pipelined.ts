/**
 * Leaves a statement of a transaction to travel with those that follow: nobody waits for it, and the COMMIT fails where it
 * failed.
 *
 * @param _statement the promise of `query` in a transaction, itself: the transaction has given it a handler, and what is
 * made of it (by `async` or `then`) has none. `test/promises.test.ts` holds every call to that.
 *
 * @example pipelined(insertPasses(db, space, rows))
 */
export function pipelined(_statement: Promise<unknown>): void {}
