/** Prints manual pages (man(7)) from the commands of a program. */
import type { Command } from 'commander'
import { type CommandEntry, listEntries } from './programs.ts'

/** Escapes text for roff: backslashes, and characters that start a request at the beginning of a line. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')

function optionLines(command: Command): readonly string[] {
  const help = command.createHelp()
  return help
    .visibleOptions(command)
    .flatMap((option) => ['.TP', `.B ${roff(help.optionTerm(option))}`, roff(help.optionDescription(option))])
}

function argumentLines(command: Command): readonly string[] {
  const help = command.createHelp()
  return command.registeredArguments
    .filter(({ description }) => description !== '')
    .flatMap((each) => ['.TP', `.I ${roff(help.argumentTerm(each))}`, roff(help.argumentDescription(each))])
}

function commandLines(program: string, { path, command }: CommandEntry): readonly string[] {
  const usage = [program, ...path, command.usage()].join(' ')
  return [
    `.SS ${roff([program, ...path].join(' '))}`,
    `${roff(command.description())}.`,
    '.PP',
    `.B ${roff(usage)}`,
    ...argumentLines(command),
    ...optionLines(command),
  ]
}

/** Returns the page. It has no date, so that the same commands give the same page. */
export function printManual(name: string, program: Command, version: string): string {
  const [, ...commands] = listEntries(program)
  const summary = program.description().replace(/\.$/, '')
  return `${[
    `.TH ${name.toUpperCase()} 1 "" "dateline ${version}" "User Commands"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary.charAt(0).toLowerCase() + summary.slice(1))}`,
    '.SH SYNOPSIS',
    `.B ${roff(name)}`,
    roff(program.usage()),
    '.SH OPTIONS',
    ...optionLines(program),
    '.SH COMMANDS',
    // A command that only has others below it does nothing itself.
    ...commands
      .filter(({ command }) => command.commands.length === 0)
      .flatMap((each) => commandLines(name, each)),
  ].join('\n')}\n`
}
