/** Shared parts of `admin` commands: common options, and functions that add and run verbs. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { CardRoom } from '../../database/open/card-room.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import type { Operator } from '../../tenants/admin/change.ts'

type OperatorAction = (
  operator: Operator,
  production: boolean,
  room: CardRoom | undefined,
  database: OpenDatabase,
) => Promise<object>

/** Adds a verb to a noun. */
export type AddVerb = (parent: Command, name: string, about: string) => Command
/** Returns the noun with that name. Several parts may add verbs to it. */
export type AddNoun = (name: string, about: string) => Command
/** Runs the action of a verb and prints its result. */
export type OperatorRunner = (command: Command, action: OperatorAction) => Promise<void>

/** @throws InvalidArgumentError unless the text is a number of 0 or more. */
export function readNumber(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(value)) return value
  throw new InvalidArgumentError('Expected a number of 0 or more.')
}

/** @throws InvalidArgumentError unless the text is a whole number of 0 or more. */
export function readWhole(text: string): number {
  const value = readNumber(text)
  if (Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('Expected a whole number of 0 or more.')
}

export const tenantOption = () => new Option('--tenant <id>', 'tenant ID (ten_…)').makeOptionMandatory()
export const environmentOption = () =>
  new Option('--env <environment>', 'the environment').choices(ENVIRONMENTS).makeOptionMandatory()
export const tenantArgument = () => new Argument('<tenant>', 'tenant ID (ten_…)')
export const keyArgument = () => new Argument('<key>', 'key ID (key_…)')
