/**
 * Messages between a process that lacks the keys of card numbers and one with the role `reveal`. Both directions are sealed
 * with a key that the pepper derives. So only processes of the deployment can ask and read a number, even without TLS.
 */
import { randomUUID } from 'node:crypto'
import { deriveSecret, seal, unseal } from '../../platform/secrets.ts'
import type { CardPlace, CardSecrets } from './card-keys.ts'
import type { ProposedNumber } from './vault.ts'

/** Questions by method of the vault, and their answers. */
interface Answers {
  propose: readonly (Omit<ProposedNumber, 'sealed' | 'digest'> & {
    /** Base64. */
    readonly sealed: string
    /** Base64. */
    readonly digest: string
  })[]
  /** Null if no number is stored for the card. */
  reveal: CardSecrets | null
}

export type RevealMethod = keyof Answers

export interface RevealQuestion {
  /** Only the answer to this question has the same ID. */
  readonly id: string
  readonly method: RevealMethod
  readonly place: CardPlace
  /** Machine time, milliseconds since the epoch. */
  readonly at: number
}

/** The longest question, in bytes. */
export const MAX_QUESTION_BYTES = 4096

const QUESTION = 'question about a card number'

const answerTo = ({ id }: RevealQuestion) => `answer to ${id} about a card number`

/** Seals and opens messages. All `open` methods throw `UnsealError`. */
export interface RevealSeals {
  ask(method: RevealMethod, place: CardPlace, at: number): { question: RevealQuestion; sealed: Buffer }
  openQuestion(sealed: Buffer): RevealQuestion
  answer<M extends RevealMethod>(
    question: RevealQuestion & { readonly method: M },
    answer: Answers[M],
  ): Buffer
  openAnswer<M extends RevealMethod>(question: RevealQuestion, sealed: Buffer): Answers[M]
}

export function createRevealSeals(pepper: string): RevealSeals {
  const secret = deriveSecret(pepper, 'questions about card numbers')
  return {
    ask(method, place, at) {
      const question = { id: randomUUID(), method, place, at }
      return { question, sealed: seal(secret, JSON.stringify(question), QUESTION) }
    },
    openQuestion: (sealed) => JSON.parse(unseal(secret, sealed, QUESTION)),
    answer: (question, answer) => seal(secret, JSON.stringify(answer), answerTo(question)),
    openAnswer: (question, sealed) => JSON.parse(unseal(secret, sealed, answerTo(question))),
  }
}
