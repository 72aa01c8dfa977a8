/** What the search for a witness knows, and what it finds. */
import type { Api } from '../ir/model.ts'
import type { WitnessMessage } from './message.ts'
import type { Hidden, ValuePath } from './route.ts'
import type { Maker } from './simplest.ts'

export interface Witness {
  readonly message: WitnessMessage
  /** The version that accepts or sends the message. */
  readonly by: Api
  /** The version that refuses the message or reads it otherwise. */
  readonly against: Api
  /** Leads to the part of the body that shows the difference. */
  readonly focus: ValuePath
  /** What `against` does with the message: `refuses it: title is required`. */
  readonly reason: string
}

export interface JudgedPair {
  /** Makes the values of a version's messages. */
  readonly makerOf: (api: Api, hidden: Hidden) => Maker
  readonly old: Api
  readonly next: Api
  /** Ids of operations in the old version by their ids in the new one. */
  readonly formerId: ReadonlyMap<string, string>
}
