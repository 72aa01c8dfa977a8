/** Completion candidates for the word at the cursor, for `svc completion`. */
import type { Argument, Command, Option } from 'commander'
import * as functions from '../../generated/client/src/2026-05-19/functions.ts'
import { type ServiceConnection, service } from '../../generated/client/src/2026-05-19/index.ts'
import { EVENT_TYPES } from './event-types.ts'
import { GUIDES } from './guides.ts'
import { ownProfiles } from './svc-session.ts'
import { TRIGGERABLE } from './svc-trigger.ts'

const VERSIONS = /^\d{4}-\d{2}-\d{2}$/

/** Option values, by the option's long name. */
const VALUES: Readonly<Record<string, () => readonly string[]>> = {
  '--events': () => EVENT_TYPES,
  '--type': () => EVENT_TYPES,
  '--profile': () => ownProfiles().names(),
  '--version': () => [service.version].filter((version) => VERSIONS.test(version)),
}

/** Argument values, by the command's name. */
const ARGUMENTS: Readonly<Record<string, (typed: string) => readonly string[]>> = {
  trigger: () => TRIGGERABLE,
  open: () => ['dashboard', 'docs', ...GUIDES],
  get: (typed) => pathsFor('GET', typed),
  post: (typed) => pathsFor('POST', typed),
  put: (typed) => pathsFor('PUT', typed),
  patch: (typed) => pathsFor('PATCH', typed),
  delete: (typed) => pathsFor('DELETE', typed),
}

/**
 * Returns the sorted candidates for the last word. A candidate that ends with a slash can be completed further.
 * @param words the words after `svc`; the last one may be incomplete.
 */
export function candidatesFor(program: Command, words: readonly string[]): readonly string[] {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const command = commandOf(program, before)
  const option = optionOf(program, command, before.at(-1) ?? '')
  const all = option?.required
    ? valuesOf(option)
    : typed.startsWith('-')
      ? optionsOf(program, command)
      : argumentsOf(command, typed)
  return [...new Set(all)].filter((word) => word.startsWith(typed)).toSorted()
}

/** Returns the innermost command on the line. Skips words that are option values. */
function commandOf(program: Command, words: readonly string[]): Command {
  let command = program
  let skip = false
  for (const word of words) {
    if (skip) skip = false
    else if (word.startsWith('-')) skip = optionOf(program, command, word)?.required === true
    else command = command.commands.find((each) => each.name() === word) ?? command
  }
  return command
}

const allOptions = (program: Command, command: Command): readonly Option[] => [
  ...command.options,
  ...program.options,
]

function optionOf(program: Command, command: Command, word: string): Option | undefined {
  return allOptions(program, command).find(({ short, long }) => word === short || word === long)
}

function valuesOf(option: Option): readonly string[] {
  return option.argChoices ?? VALUES[option.long ?? '']?.() ?? []
}

function optionsOf(program: Command, command: Command): readonly string[] {
  return [...allOptions(program, command).flatMap(({ long }) => long ?? []), '--help']
}

function argumentsOf(command: Command, typed: string): readonly string[] {
  if (command.commands.length > 0) return command.commands.map((each) => each.name())
  const [argument] = command.registeredArguments as readonly Argument[]
  return argument?.argChoices ?? ARGUMENTS[command.name()]?.(typed) ?? []
}

/**
 * Returns the paths of a method. Path parameters take the identifiers already typed; a path ends at the first parameter that
 * is not typed.
 */
function pathsFor(method: string, typed: string): readonly string[] {
  const given = typed.split('/')
  return listOperations()
    .filter((operation) => operation.method === method && !operation.streamed)
    .flatMap(({ path }) => {
      const parts = path.split('/')
      const known = parts.map((part, place) =>
        part.startsWith('{') && place < given.length - 1 ? given[place] || part : part,
      )
      const open = known.findIndex((part) => part.startsWith('{'))
      return open === -1 ? known.join('/') : `${known.slice(0, open).join('/')}/`
    })
}

type Operation = Parameters<ServiceConnection['perform']>[0]

/**
 * Lists all operations of the client. Each client function passes its operation to the connection; this connection records
 * it and sends nothing.
 */
function listOperations(): readonly Operation[] {
  const operations: Operation[] = []
  const connection: ServiceConnection = {
    page: { items: '', more: '', next: '', after: '', before: '' },
    perform(operation) {
      operations.push(operation)
      return new Promise(() => undefined)
    },
  }
  for (const each of Object.values<(connection: ServiceConnection) => unknown>(functions as never))
    each(connection)
  return operations
}
