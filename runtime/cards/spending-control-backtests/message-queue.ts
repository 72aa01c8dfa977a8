/** A queue of messages by the time of their arrival: a binary heap. Messages of one instant keep the order of insertion. */

export interface QueuedMessage<Of> {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly of: Of
  /** Place among the messages of the transaction. */
  readonly index: number
}

export interface MessageQueue<Of> {
  add(message: QueuedMessage<Of>): void
  /** Removes and yields the messages up to and including an instant, the earliest first. */
  takeUntil(at: number): Iterable<QueuedMessage<Of>>
}

export function createMessageQueue<Of>(): MessageQueue<Of> {
  const heap: { readonly message: QueuedMessage<Of>; readonly order: number }[] = []
  let added = 0
  const isBefore = (one: number, other: number) => {
    const [a, b] = [heap[one]!, heap[other]!]
    return a.message.at < b.message.at || (a.message.at === b.message.at && a.order < b.order)
  }
  const swap = (one: number, other: number) => {
    const kept = heap[one]!
    heap[one] = heap[other]!
    heap[other] = kept
  }
  function takeFirst(): QueuedMessage<Of> {
    const { message } = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return message
    heap[0] = last
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      if (left >= heap.length) return message
      const least = left + 1 < heap.length && isBefore(left + 1, left) ? left + 1 : left
      if (!isBefore(least, at)) return message
      swap(least, at)
      at = least
    }
  }
  return {
    add(message) {
      heap.push({ message, order: added })
      added += 1
      for (let at = heap.length - 1; at > 0; ) {
        const above = (at - 1) >> 1
        if (!isBefore(at, above)) return
        swap(at, above)
        at = above
      }
    },
    *takeUntil(at) {
      while (heap.length > 0 && heap[0]!.message.at <= at) yield takeFirst()
    },
  }
}
