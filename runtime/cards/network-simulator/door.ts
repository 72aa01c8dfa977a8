/** The network's end of the interface: HTTPS with a client certificate, and signed bodies (openapi/network). */
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { versions } from '../../../generated/network/versions.ts'
import { signBody } from '../../events/outbound/signing.ts'
import type { NetworkMessages } from '../network/network.ts'
import { findSignatureFault } from '../processor/signature.ts'
import type { SimulatedMessage } from './messages.ts'

export interface DoorSettings {
  /** Origin of the network listener, without a trailing slash. */
  readonly url: string
  /** PEM: the certificate and key of the processor, and the authority of the listener's certificate. */
  readonly cert: string
  readonly key: string
  readonly ca: string
  readonly signingKey: string
  /** How long the network waits for an answer, in milliseconds. */
  readonly answerMs: number
}

type Answers = NetworkMessages[keyof NetworkMessages][1]

/** What the network knows after it has sent a message. */
export type NetworkReply =
  | { readonly got: 'answer'; readonly answer: Answers }
  /** The service does not accept the message. */
  | { readonly got: 'refusal'; readonly status: number; readonly text: string }
  /** No answer in time, or none that counts. The service may know the message. */
  | { readonly got: 'nothing'; readonly why: string }

export interface Link {
  send(sent: SimulatedMessage): Promise<NetworkReply>
  close(): void
}

const MAX_ANSWER = 65_536

/** Opens connections to the listener when messages need them. */
export function openDoor(settings: DoorSettings): Link {
  const { cert, key, ca, url, signingKey, answerMs } = settings
  const agent = new Agent({ keepAlive: true, cert, key, ca })
  return {
    send: async ({ kind, message }) => {
      const body = JSON.stringify(message)
      const seconds = Math.floor(Date.now() / 1000)
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'Network-Signature': signBody([signingKey], body, seconds),
      }
      try {
        const target = new URL(url + pathOf(kind))
        const signal = AbortSignal.timeout(answerMs)
        const { response, text } = await exchange(target, { agent, headers, signal }, body)
        const status = response.statusCode ?? 0
        // An answer from anybody else must not approve anything.
        const signature = response.headers['network-signature']?.toString()
        if (findSignatureFault(signature, Buffer.from(text), [signingKey], Date.now()) !== undefined)
          return { got: 'nothing', why: `status ${status} without a valid signature` }
        if (status === 200) return { got: 'answer', answer: JSON.parse(text) }
        if (status < 500) return { got: 'refusal', status, text }
        return { got: 'nothing', why: `status ${status}` }
      } catch (error) {
        return { got: 'nothing', why: error instanceof Error ? error.message : String(error) }
      }
    },
    close: () => agent.destroy(),
  }
}

/** Sends a POST and reads the answer. */
function exchange(
  url: URL,
  options: Parameters<typeof request>[1] & object,
  body: string,
): Promise<{ readonly response: IncomingMessage; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, method: 'POST' }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > MAX_ANSWER) response.destroy(new Error(`the answer is longer than ${MAX_ANSWER}`))
      })
      response.once('end', () => resolve({ response, text }))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

/** Returns the path of an operation. */
export function pathOf(kind: keyof NetworkMessages): string {
  const operation = versions.at(-1)?.operations.find(({ id }) => id === kind)
  if (!operation) throw new Error(`The network document has no operation ${kind}.`)
  return operation.path
}
