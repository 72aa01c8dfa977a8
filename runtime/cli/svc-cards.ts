/** `svc cards simulate`: what merchants, networks and carriers would do, in the sandbox. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { type CardSimulation, SIMULATIONS, type SimulationOption } from './card-simulations.ts'
import { render } from './print.ts'
import { requireSandbox, type SvcRunner } from './svc-session.ts'

/** Adds a command for each simulation. */
export function addCards(program: Command, run: SvcRunner): void {
  const cards = program.command('cards').description('use cards as merchants would, in the sandbox')
  const simulate = cards
    .command('simulate')
    .description('make something happen to a card or a transaction, and print what became of it')
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
      // What it takes is what the table says, which is held against the document.
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
    throw new InvalidArgumentError('It is not a whole number of cents.')
  },
  boolean: (text: string): boolean => {
    if (text === 'yes' || text === 'no') return text === 'yes'
    throw new InvalidArgumentError('It is neither yes nor no.')
  },
}

/** The members that were given, each in its place. */
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
