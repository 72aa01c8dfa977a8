/**
 * The compiler holds the order of the pipeline and the wiring of operations: each line below that must not compile is marked,
 * and tsc fails where one of them does compile.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { versions } from '../../../generated/versions.ts'
import { authenticate, authorize, checkHolder, requireFactor } from '../../../runtime/api/access.ts'
import { answer } from '../../../runtime/api/answer.ts'
import { limitTransport, readBody } from '../../../runtime/api/body.ts'
import { countUse, shedLoad, shedTenant, takeAllowance, takeTurn } from '../../../runtime/api/capacity.ts'
import {
  type Accepted,
  type AnsweredExchange,
  createStages,
  type Exchange,
  pass,
  type Stage,
  type Stages,
  type Trusted,
  type VersionedExchange,
  type WrittenReply,
} from '../../../runtime/api/exchange.ts'
import { readParameters } from '../../../runtime/api/parameters.ts'
import { perform } from '../../../runtime/api/perform.ts'
import { matchRoute, resolveVersion } from '../../../runtime/api/routing.ts'
import { handlers, NOT_WRITTEN_YET, type NotWritten } from '../../../runtime/process/handlers.ts'

test('no stage can be left out, nor come before another', () => {
  const received = createStages()
  // @ts-expect-error the process may have too much to do
  received.step(limitTransport)
  const accepted = received.step(shedLoad)
  // @ts-expect-error its body may be of any size
  accepted.step(authenticate)
  const bounded = accepted.step(limitTransport)
  // @ts-expect-error whose requests they are is not known
  bounded.step(shedTenant)
  const authenticated = bounded.step(authenticate)
  // @ts-expect-error too many of the tenant's may wait already
  authenticated.step(checkHolder)
  const uncrowded = authenticated.step(shedTenant)
  // @ts-expect-error the key may be used from elsewhere, or by somebody who may not develop
  uncrowded.step(resolveVersion)
  const trusted = uncrowded.step(checkHolder)
  // @ts-expect-error operations are those of a version
  trusted.step(matchRoute)
  const versioned = trusted.step(resolveVersion)
  // @ts-expect-error the operation says which bucket is asked
  versioned.step(takeAllowance)
  const routed = versioned.step(matchRoute)
  // @ts-expect-error what is not allowed is not counted
  routed.step(countUse)
  const allowed = routed.step(takeAllowance)
  // @ts-expect-error what is refused here is counted too
  allowed.step(authorize)
  const counted = allowed.step(countUse)
  // @ts-expect-error the key may not call the operation
  counted.step(readParameters)
  const authorized = counted.step(authorize)
  // @ts-expect-error parameters are refused before the body
  authorized.step(readBody)
  const addressed = authorized.step(readParameters)
  // @ts-expect-error the factor is for a whole request
  addressed.step(requireFactor)
  const parsed = addressed.step(readBody)
  // @ts-expect-error a turn would be held while the factor is checked
  parsed.step(takeTurn)
  const confirmed = parsed.step(requireFactor)
  // @ts-expect-error others of the tenant come first
  confirmed.step(perform)
  const admitted = confirmed.step(takeTurn)
  // @ts-expect-error there is nothing to answer with
  admitted.step(answer)
  const performed = admitted.step(perform)
  // @ts-expect-error nobody answers
  const unanswered: Stages<AnsweredExchange> = performed
  const whole: Stages<AnsweredExchange> = performed.step(answer)
  expect(whole.list).toHaveLength(unanswered.list.length + 1)
})

test('no stage runs a second time, after more is known than it gives', () => {
  const trusted = createStages()
    .step(shedLoad)
    .step(limitTransport)
    .step(authenticate)
    .step(shedTenant)
    .step(checkHolder)
  // @ts-expect-error what is known of the holder would be forgotten
  expect(trusted.step(authenticate).list).toHaveLength(6)
  const routed = trusted.step(resolveVersion).step(matchRoute)
  // @ts-expect-error the operation would be forgotten
  expect(routed.step(resolveVersion).list).toHaveLength(8)
})

test('no stage gives what it has not found', () => {
  // @ts-expect-error which version that is stands nowhere
  const forgetful: Stage<Trusted, VersionedExchange> = (exchange) => exchange
  // @ts-expect-error another check was passed
  const mistaken: Stage<Exchange, Accepted> = (exchange) => pass(exchange, 'transport')
  const direct = (exchange: Exchange, reply: WrittenReply) => {
    // @ts-expect-error what was found is written by the functions that say so
    exchange.reply = reply
  }
  expect([forgetful, mistaken, direct]).toHaveLength(3)
  const casts = readdirSync('runtime/api')
    .filter((file) => file.endsWith('.ts') && file !== 'exchange.ts')
    .flatMap((file) =>
      [...readFileSync(`runtime/api/${file}`, 'utf8').matchAll(/^.*\bexchange as .*$/gm)].map(
        ([line]) => line,
      ),
    )
  expect(casts).toEqual([])
})

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
