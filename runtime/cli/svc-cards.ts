/** `svc cards simulate`: simulates merchants, card networks and carriers in the sandbox. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { type CardSimulation, SIMULATIONS, type SimulationOption } from './card-simulations.ts'
import { render } from './print.ts'
import { requireSandbox, type SvcRunner } from './svc-session.ts'

export function addCards(program: Command, run: SvcRunner): void {
  const cards = program.command('cards').description('simulate card activity in the sandbox')
  const simulate = cards
    .command('simulate')
    .description('simulate an action on a card or a card transaction, and print the result')
    .addHelpText('after', `\nExamples:\n${Object.values(SIMULATIONS).map(exampleOf).join('\n')}`)
  for (const [name, simulation] of Object.entries(SIMULATIONS)) {
    simulate.addCommand(commandOf(name, simulation, run).copyInheritedSettings(program))
  }
}

const exampleOf = ({ example }: CardSimulation) => `  svc cards simulate ${example}`

function commandOf(name: string, simulation: CardSimulation, run: SvcRunner): Command {
  const { text, of, options } = simulation
  const id = of === 'card_id' ? 'a card (card_…)' : 'a card transaction (ctx_…)'
  const command = new Command(name)
    .description(text)
    .addArgument(new Argument('<id>', id))
    .addHelpText('after', `\nExample:\n${exampleOf(simulation)}`)
  for (const option of options) command.addOption(optionOf(option))
  return command.action((about: string, words: Readonly<Record<string, unknown>>, self: Command) =>
    run(self, async ({ client, ...session }, terminal) => {
      requireSandbox({ client, ...session }, 'cards simulate')
      const body = { [of]: about, ...bodyOf(options, words) }
      // A test checks that the table matches the operation's schema.
      const call = client[simulation.operation] as unknown as SimulationCall
      terminal.print(render(await call({ body }), terminal.json).trimEnd())
    }),
  )
}

type SimulationCall = (input: { readonly body: object }) => ReturnType<Client['simulateAuthorization']>

function optionOf({ flags, text, required, reads, ...given }: SimulationOption): Option {
  const option = new Option(flags, text)
  if (required) option.makeOptionMandatory()
  if (given.default !== undefined) option.default(given.default)
  if (reads) option.argParser<unknown>(READERS[reads])
  return option
}

const READERS = {
  number: (text: string): number => {
    if (/^\d{1,16}$/.test(text)) return Number(text)
    throw new InvalidArgumentError('Expected a whole number of cents.')
  },
  boolean: (text: string): boolean => {
    if (text === 'yes' || text === 'no') return text === 'yes'
    throw new InvalidArgumentError('Expected yes or no.')
  },
}

/** Builds the request body from the options that were given. */
function bodyOf(
  options: readonly SimulationOption[],
  words: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const option of options) {
    const value = words[optionOf(option).attributeName()]
    if (value === undefined) continue
    const [outer, inner] = option.field.split('.') as [string, string?]
    body[outer] = inner === undefined ? value : { ...(body[outer] as object), [inner]: value }
  }
  return body
}
