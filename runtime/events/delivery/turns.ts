/** Makes sends at one endpoint follow each other. */
export interface SendTurns {
  /** Resolves when the last send at the endpoint has ended; undefined if none is in progress. */
  last(endpointId: string): Promise<void> | undefined
  /** Adds a send, after which the next one begins. It may fail. */
  follow(endpointId: string, sending: Promise<unknown>): void
}

export function createTurns(): SendTurns {
  const turns = new Map<string, Promise<void>>()
  return {
    last: (endpointId) => turns.get(endpointId),
    follow(endpointId, sending) {
      const settled = Promise.allSettled([sending])
      const ended = settled.then(() => {
        if (turns.get(endpointId) === ended) turns.delete(endpointId)
      })
      turns.set(endpointId, ended)
    },
  }
}
