/** Prints the command reference from the definitions of the commands. */
import type { Command, Option } from 'commander'
import { listCommands } from '../../../generators/cli.ts'

const HEAD = `# Commands

Every command takes \`--config FILE\` (default: \`dateline.config.json\`), \`--json\` and \`--format text|json|github|sarif\`.
\`dateline COMMAND --help\` prints this reference.

| Exit code | Meaning |
|---|---|
| 0 | Success. |
| 1 | Findings. |
| 2 | The command line is wrong. |
| 3 | A document or the configuration cannot be read. |
| 70 | An internal error of dateline. |
`

/** Options of every command. */
const SHARED = new Set(['--json', '--format'])

/** Returns the page in Markdown, in the order of `dateline --help`. */
export function printCommandReference(): string {
  return `${HEAD}${listCommands().map(sectionOf).join('')}`
}

function sectionOf(command: Command): string {
  const own = command.options.filter(({ long }) => !SHARED.has(long ?? ''))
  const usage = command.registeredArguments.map(
    (each) =>
      `${each.required ? '' : '['}${each.name().toUpperCase()}${each.variadic ? '…' : ''}${each.required ? '' : ']'}`,
  )
  return [
    `\n## ${command.name()}\n`,
    `\`dateline ${[command.name(), ...usage].join(' ')}\`\n`,
    `${sentence(command.description())}\n`,
    ...(own.length > 0 ? [`| Option | Meaning |\n|---|---|\n${own.map(rowOf).join('\n')}\n`] : []),
  ].join('\n')
}

function rowOf(option: Option): string {
  const facts = [
    ...(option.argChoices ? [`One of ${option.argChoices.map((each) => `\`${each}\``).join(', ')}.`] : []),
    ...(option.defaultValue === undefined ? [] : [`Default: \`${option.defaultValue}\`.`]),
    ...(option.mandatory ? ['Required.'] : []),
  ]
  return `| \`${option.flags}\` | ${[sentence(option.description), ...facts].join(' ').replaceAll('|', '\\|')} |`
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
