/** Store and forward: messages that the network repeats until they are acknowledged. */
import type { NetworkReply } from './door.ts'
import type { SimulatedMessage } from './messages.ts'

export interface StoreAndForward {
  readonly waiting: number
  add(sent: SimulatedMessage): void
  /** Whether messages of the transaction wait. Later ones wait behind them. */
  has(transactionId: string | undefined): boolean
  /** Sends the waiting messages, oldest first, until one is not acknowledged. */
  drain(): Promise<void>
}

export const transactionOf = ({ message }: SimulatedMessage): string | undefined =>
  'transaction_id' in message ? message.transaction_id : undefined

/** Returns whether the network must send the message again. */
export const isUnsettled = (reply: NetworkReply): boolean =>
  reply.got === 'nothing' ||
  (reply.got === 'answer' && 'outcome' in reply.answer && reply.answer.outcome === 'unavailable')

/** @param transmit sends a message once. */
export function createStoreAndForward(
  transmit: (sent: SimulatedMessage) => Promise<NetworkReply>,
): StoreAndForward {
  const queue: SimulatedMessage[] = []
  return {
    get waiting() {
      return queue.length
    },
    add: (sent) => void queue.push(sent),
    has: (transactionId) => queue.some((each) => transactionOf(each) === transactionId),
    drain: async () => {
      for (let [first] = queue; first; [first] = queue) {
        if (isUnsettled(await transmit(first))) return
        queue.shift()
      }
    },
  }
}
