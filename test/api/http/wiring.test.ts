/**
 * The compiler holds the wiring of operations: each line below that must not compile is marked, and tsc fails where one of
 * them does compile.
 */
import { expect, test } from 'vitest'
import { versions } from '../../../generated/versions.ts'
import { handlers, NOT_WRITTEN_YET, type NotWritten } from '../../../runtime/process/handlers.ts'

test('each operation either has a handler or is listed as not written', () => {
  const wanted = new Set(versions.flatMap(({ operations }) => operations.map(({ id }) => id)))
  expect([...Object.keys(handlers), ...Object.keys(NOT_WRITTEN_YET)].sort()).toEqual([...wanted].sort())
  type Fewer = Omit<typeof handlers, 'createPromotion'>
  const listed: NotWritten<Fewer> = { ...NOT_WRITTEN_YET, createPromotion: true }
  // @ts-expect-error createPromotion is neither written nor listed
  const missing: NotWritten<Fewer> = NOT_WRITTEN_YET
  // @ts-expect-error getMe is written
  const both: NotWritten<Fewer> = { ...listed, getMe: true }
  // @ts-expect-error there is no such operation
  const unknown: NotWritten<Fewer> = { ...listed, getNothing: true }
  expect([listed, missing, both, unknown].map((list) => Object.keys(list).length)).toEqual(
    [1, 0, 2, 2].map((more) => Object.keys(NOT_WRITTEN_YET).length + more),
  )
})
