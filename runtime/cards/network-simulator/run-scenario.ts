/** Plays a scenario against a service, as the network: retries, stand-in decisions, advices and reversals included. */
import { setTimeout as wait } from 'node:timers/promises'
import type { FiledMessage } from './clearing-file.ts'
import type { Link, NetworkReply } from './door.ts'
import { createStoreAndForward, isUnsettled, transactionOf } from './forwarding.ts'
import { adviceOf, reversalOf, type SimulatedMessage } from './messages.ts'
import type { PlannedMessage } from './plan.ts'
import { createStandIn } from './stand-in.ts'

/** One transmission, or a decision of the network. */
export interface Happening {
  readonly sent: SimulatedMessage
  readonly outcome: string
  /** What the network did besides: repeated the message, decided on its own, … */
  readonly note?: string
}

/** Counts of a run. */
export interface RunTally {
  /** Transmissions, repetitions included. */
  sent: number
  approved: number
  declined: number
  /** Requests on which the network decided. */
  stand_in: number
  /** Messages that could not take effect. */
  exceptions: number
  /** Messages that the service did not accept. */
  refused: number
  /** Repetitions that got another answer. */
  contradicted: number
  /** Messages that were never acknowledged. */
  unacknowledged: number
}

export interface RunOptions {
  /** Messages per second; absent: without a pause. */
  readonly rate?: number
  /** How long messages are repeated at the end, in milliseconds. */
  readonly patienceMs: number
  /** Takes the clearings and refunds that go into the clearing file; absent: they are sent. */
  readonly file?: (sent: FiledMessage) => void
  /** Receives each clearing and refund once, sent or filed. */
  readonly settle?: (sent: FiledMessage) => void
  /** Prepares the tenant's dispute before the first stage of its chargeback. */
  readonly dispute?: (of: Extract<SimulatedMessage, { kind: 'moveChargeback' }>) => Promise<void>
  report(happening: Happening): void
}

/** Pause between repetitions at the end, in milliseconds. */
const RETRY_MS = 200

type Request = Extract<SimulatedMessage, { kind: 'authorize' | 'increment' }>

/** What a merchant knows of a use. */
interface UseState {
  /** Declined or given up: nothing follows. */
  ended: boolean
  /** Requested, but not approved. */
  missing: number
  cleared: number
}

/**
 * Plays the messages one after the other. A merchant continues only after an approval, and collects no more than was
 * approved.
 */
export async function runScenario(
  planned: readonly PlannedMessage[],
  link: Link,
  options: RunOptions,
): Promise<RunTally> {
  const tally: RunTally = {
    ...{ sent: 0, approved: 0, declined: 0, stand_in: 0 },
    ...{ exceptions: 0, refused: 0, contradicted: 0, unacknowledged: 0 },
  }
  const standIn = createStandIn()
  const uses = new Map<number, UseState>()
  const stateOf = (of: number): UseState => {
    const known = uses.get(of) ?? { ended: false, missing: 0, cleared: 0 }
    uses.set(of, known)
    return known
  }

  const transmit = async (sent: SimulatedMessage, note?: string): Promise<NetworkReply> => {
    tally.sent += 1
    const reply = await link.send(sent)
    if (reply.got === 'refusal') tally.refused += 1
    if (reply.got === 'answer' && 'outcome' in reply.answer && reply.answer.outcome === 'exception')
      tally.exceptions += 1
    options.report({ sent, outcome: describe(reply), ...(note !== undefined && { note }) })
    return reply
  }
  const forwarding = createStoreAndForward((sent) => transmit(sent, 'repeated until acknowledged'))

  /** Sends a message and, if its answer gets lost or it is sent twice, its repetition. */
  const deliver = async ({ sent, trouble }: PlannedMessage): Promise<NetworkReply> => {
    if (trouble !== 'duplicate' && trouble !== 'lost_answer')
      return transmit(sent, trouble === 'late' ? 'late' : undefined)
    const [first, second] =
      trouble === 'duplicate'
        ? await Promise.all([transmit(sent), transmit(sent, 'sent twice')])
        : [await transmit(sent, 'answer lost'), await transmit(sent, 'repeated')]
    // `waiting` can have become `applied` meanwhile. A decision never changes.
    const isContradiction =
      decisionOf(first) !== undefined &&
      decisionOf(second) !== undefined &&
      JSON.stringify(first) !== JSON.stringify(second)
    if (isContradiction) {
      tally.contradicted += 1
      options.report({ sent, outcome: 'CONTRADICTED', note: 'the repetition got another answer' })
    }
    return isUnsettled(second) || decisionOf(first) ? first : second
  }

  const decideAlone = (request: Request, { use }: PlannedMessage, state: UseState, why: string) => {
    const approved = standIn.approves(request)
    tally.stand_in += 1
    options.report({ sent: request, outcome: approved ? 'approved' : 'declined', note: `stand-in: ${why}` })
    // The advice of the final amount replaces this decision, too.
    const isReported = approved && request.kind === 'authorize' && use.completion !== undefined
    if (!isReported) forwarding.add(adviceOf(request, approved))
    return conclude(request, state, approved ? request.message.amount : undefined)
  }

  const conclude = (request: Request, state: UseState, approved: number | undefined) => {
    tally[approved === undefined ? 'declined' : 'approved'] += 1
    state.missing += request.message.amount - (approved ?? 0)
    if (approved === undefined && request.kind === 'authorize') state.ended = true
  }

  const ask = async (request: Request, planned: PlannedMessage, state: UseState) => {
    if (planned.trouble === 'stand_in') return decideAlone(request, planned, state, 'the issuer is not asked')
    if (forwarding.has(request.message.transaction_id))
      return decideAlone(request, planned, state, 'an advice is not acknowledged')
    if (planned.trouble === 'given_up') {
      await transmit(request, 'answer lost')
      state.ended = true
      const at = new Date(Date.parse(request.message.sent_at) + 1).toISOString()
      return forwarding.add(reversalOf(request, at))
    }
    const reply = await deliver(planned)
    if (reply.got === 'refusal') {
      state.ended = true
      return
    }
    if (reply.got === 'nothing') return decideAlone(request, planned, state, reply.why)
    const decision = decisionOf(reply)
    if (!decision) return decideAlone(request, planned, state, 'the issuer is unavailable')
    const { amount } = request.message
    conclude(request, state, decision.decision === 'approved' ? (decision.amount ?? amount) : undefined)
  }

  const tell = async (sent: SimulatedMessage, planned: PlannedMessage) => {
    if (sent.kind === 'clear' || sent.kind === 'refund') {
      options.settle?.(sent)
      if (options.file) return options.file(sent)
    }
    if (sent.kind === 'moveChargeback' && sent.message.stage === planned.use.chargeback[0])
      await options.dispute?.(sent)
    const transaction = transactionOf(sent)
    if (transaction !== undefined && forwarding.has(transaction)) return forwarding.add(sent)
    if (isUnsettled(await deliver({ ...planned, sent }))) forwarding.add(sent)
  }

  for (const each of planned) {
    const due = options.rate === undefined ? undefined : wait(1000 / options.rate)
    await forwarding.drain()
    const state = stateOf(each.of)
    const sent = adapt(each.sent, state)
    if (sent?.kind === 'authorize' || sent?.kind === 'increment') await ask(sent, each, state)
    else if (sent) await tell(sent, each)
    await due
  }
  const end = performance.now() + options.patienceMs
  for (await forwarding.drain(); forwarding.waiting > 0 && performance.now() < end; ) {
    await wait(RETRY_MS)
    await forwarding.drain()
  }
  tally.unacknowledged = forwarding.waiting
  return tally
}

/** Returns the message as the merchant sends it after what was approved; undefined if it sends none. */
function adapt(sent: SimulatedMessage, state: UseState): SimulatedMessage | undefined {
  if (state.ended && sent.kind !== 'changeToken') return undefined
  if (sent.kind === 'clear') {
    const less = Math.min(state.missing, sent.message.amount)
    state.missing -= less
    const amount = sent.message.amount - less
    state.cleared += amount
    return amount === 0 ? undefined : { ...sent, message: { ...sent.message, amount } }
  }
  if (sent.kind === 'refund') {
    const amount = Math.min(sent.message.amount, state.cleared)
    state.cleared -= amount
    return amount === 0 ? undefined : { ...sent, message: { ...sent.message, amount } }
  }
  if (sent.kind === 'moveChargeback' && state.cleared === 0) return undefined
  return sent
}

/** Returns the decision of the service; undefined if it has none, or cannot decide. */
function decisionOf(reply: NetworkReply) {
  const isDecision = reply.got === 'answer' && 'decision' in reply.answer
  return isDecision && reply.answer.decision !== 'unavailable' ? reply.answer : undefined
}

function describe(reply: NetworkReply): string {
  if (reply.got === 'nothing') return `no answer: ${reply.why}`
  if (reply.got === 'refusal') return `refused (${reply.status}): ${reply.text}`
  const { answer } = reply
  if ('outcome' in answer)
    return answer.reason === undefined ? answer.outcome : `${answer.outcome}: ${answer.reason}`
  return answer.decline_reason === undefined
    ? answer.decision
    : `${answer.decision}: ${answer.decline_reason}`
}

/** Whether every message was accepted, and none contradicted. */
export const isSound = ({ refused, contradicted, unacknowledged }: RunTally): boolean =>
  refused + contradicted + unacknowledged === 0
