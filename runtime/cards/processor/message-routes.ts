/** The messages of the network document by path, and how a body is read. */

import type { Detail } from 'dateline/runtime'
import { documents } from '../../../generated/network/documents.js'
import {
  AdviceMessage,
  AuthorizationMessage,
  BalanceInquiryMessage,
  ChargebackMessage,
  ClearingMessage,
  EchoMessage,
  IncrementMessage,
  RefundMessage,
  ReversalMessage,
  TokenMessage,
} from '../../../generated/network/validators.js'
import { current, versions } from '../../../generated/network/versions.ts'
import { inspectBody, parseJson } from '../../api/body.ts'
import { explainAll, findMisspelt } from '../../api/explanation.ts'
import { scanJson } from '../../platform/json/scan-json.ts'
import type { NetworkMessages } from '../network/network.ts'

export type NetworkKind = keyof NetworkMessages
export type NetworkMessage = NetworkMessages[NetworkKind][0]
export type NetworkAnswer = NetworkMessages[NetworkKind][1]

type Validator<Kind extends NetworkKind> = (value: unknown) => value is NetworkMessages[Kind][0]

/** Whether a value is a message of the network document. */
export const VALIDATORS: { readonly [Kind in NetworkKind]: Validator<Kind> } = {
  authorize: AuthorizationMessage,
  increment: IncrementMessage,
  inquireBalance: BalanceInquiryMessage,
  advise: AdviceMessage,
  reverse: ReversalMessage,
  clear: ClearingMessage,
  refund: RefundMessage,
  moveChargeback: ChargebackMessage,
  changeToken: TokenMessage,
  echo: EchoMessage,
}

export interface MessageRoute {
  readonly kind: NetworkKind
  readonly validate: Validator<NetworkKind>
  /** Location of the schema in the document. */
  readonly pointer: string
}

const isKind = (id: string): id is NetworkKind => Object.hasOwn(VALIDATORS, id)

/** Routes by path. All operations are POST, and their paths have no parameters. */
export const ROUTES: ReadonlyMap<string, MessageRoute> = new Map(
  versions
    .flatMap(({ operations }) => operations)
    .map(({ id, path, body }) => {
      if (!isKind(id) || !body)
        throw new Error(`${id}: the network document has an operation without a handler`)
      return [path, { kind: id, validate: VALIDATORS[id], pointer: body.pointer }]
    }),
)

export const outcomeOf = (answer: NetworkAnswer): string =>
  'decision' in answer ? answer.decision : answer.outcome

/** A body that is not a message of the document. */
export class InvalidMessage extends Error {
  override name = 'InvalidMessage'
  readonly details: readonly Detail[]

  constructor(details: readonly Detail[]) {
    super('The body does not match its schema.')
    // A name that is not in the schema comes from the sender, who may have put a card number there.
    this.details = details.map(({ field, issue }) => ({ field: field.replaceAll(/\d{12,}/g, '…'), issue }))
  }
}

/** Reads a message. @throws InvalidMessage, or ApiError `malformed_json`. */
export async function readMessage(
  { validate, pointer }: MessageRoute,
  bytes: Buffer,
): Promise<NetworkMessage> {
  const value = parseJson(bytes)
  const scan = scanJson(bytes)
  const forbidden = inspectBody(value, undefined, scan).whole
  if (forbidden) throw new InvalidMessage([forbidden])
  if (!validate(value)) {
    const version = { name: current, document: await loadDocument() }
    throw new InvalidMessage(explainAll({ version, pointer }, value))
  }
  if (scan.hasFractions) {
    const misspelt = findMisspelt(bytes, await loadDocument(), pointer)
    if (misspelt.length > 0) throw new InvalidMessage(misspelt)
  }
  return value
}

/** Loads the document when it is first needed. */
async function loadDocument() {
  const document = await documents[current]!()
  return { parsed: () => document }
}
