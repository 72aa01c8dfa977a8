/** Commands for the card network's side: the processor, its certificates and signing keys. */
import type { AddNoun, AddVerb, OperatorRunner } from './admin-options.ts'

/** Adds the verbs of `admin network`. */
export function addNetwork(noun: AddNoun, _verb: AddVerb, _run: OperatorRunner): void {
  noun('network', 'the card network: processors and their messages')
}
