/**
 * Marks a statement of a transaction as pipelined: the caller does not await it, and the COMMIT fails if the statement
 * failed.
 *
 * @param _statement the promise that `query` of a transaction returned. The transaction has already attached a
 * rejection handler to it. A promise derived from it by `async` or `then` has none, so `test/promises.test.ts` checks
 * every call.
 *
 * @example pipelined(insertPasses(db, space, rows))
 */
export function pipelined(_statement: Promise<unknown>): void {}
