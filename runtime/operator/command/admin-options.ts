/** What verbs of `admin` are made with: the options that several take, and how a verb is added and run. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import type { Operator } from '../../tenants/admin/change.ts'

type OperatorAction = (operator: Operator, production: boolean) => Promise<object>

/** Adds a verb to a noun. */
export type AddVerb = (parent: Command, name: string, about: string) => Command
/** @returns the noun of that name, which several parts may add verbs to. */
export type AddNoun = (name: string, about: string) => Command
/** Does what a verb is for, and prints what comes back. */
export type OperatorRunner = (command: Command, action: OperatorAction) => Promise<void>

/** @throws InvalidArgumentError for what is not a number of 0 or more. */
export function readNumber(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(value)) return value
  throw new InvalidArgumentError('It is not a number.')
}

/** @throws InvalidArgumentError for what is not a whole number of 0 or more. */
export function readWhole(text: string): number {
  const value = readNumber(text)
  if (Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('It is not a whole number.')
}

export const tenantOption = () => new Option('--tenant <id>', 'the tenant (ten_…)').makeOptionMandatory()
export const environmentOption = () =>
  new Option('--env <environment>', 'the environment').choices(ENVIRONMENTS).makeOptionMandatory()
export const tenantArgument = () => new Argument('<tenant>', 'the tenant (ten_…)')
export const keyArgument = () => new Argument('<key>', 'the key’s identifier (key_…)')
