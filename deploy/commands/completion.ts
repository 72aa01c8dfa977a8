/** Prints shell completion scripts from the commands of a program. They start no program, so they answer at once. */
import type { Command, Option } from 'commander'
import { listEntries } from './programs.ts'

/** Words to offer, by place: the path of a command, or the path and an option that has a fixed set of values. */
function wordsByPlace(program: Command): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, readonly string[]>()
  for (const { path, command } of listEntries(program)) {
    const place = path.map((word) => `/${word}`).join('')
    const options = command.createHelp().visibleOptions(command)
    const values = command.registeredArguments[0]?.argChoices ?? []
    const below = command.createHelp().visibleCommands(command)
    words.set(place, [...below.map((each) => each.name()), ...values, ...options.flatMap(namesOf)])
    for (const option of options)
      for (const name of option.argChoices ? namesOf(option) : [])
        words.set(`${place} ${name}`, option.argChoices!)
  }
  return words
}

const namesOf = ({ long, short }: Option): readonly string[] =>
  [long, short].filter((name) => name !== undefined)

const functionOf = (name: string) => `_${name.replaceAll('-', '_')}`

/** A function for bash and zsh that prints the words of a place, and fails if there is no such place. */
function shellWords(name: string, program: Command): string {
  const cases = [...wordsByPlace(program)].map(
    ([place, words]) => `    '${place}') echo '${words.join(' ')}' ;;`,
  )
  return `${functionOf(name)}_words() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}`
}

function bash(name: string, program: Command): string {
  const own = functionOf(name)
  return `# bash completion for ${name}
${shellWords(name, program)}
${own}() {
  local place= word previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${own}_words "$place/$word" >/dev/null && place+="/$word"
  done
  COMPREPLY=($(compgen -W "$(${own}_words "$place $previous" || ${own}_words "$place")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F ${own} ${name}
`
}

function zsh(name: string, program: Command): string {
  const own = functionOf(name)
  return `#compdef ${name}
${shellWords(name, program)}
${own}() {
  local place= word previous="$words[CURRENT-1]"
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${own}_words "$place/$word" >/dev/null && place+="/$word"
  done
  compadd -- \${=:-$(${own}_words "$place $previous" || ${own}_words "$place")}
}
# As an autoloaded function, the file runs in place of the first completion.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then ${own} "$@"; else compdef ${own} ${name}; fi
`
}

function fish(name: string, program: Command): string {
  const own = functionOf(name)
  const cases = [...wordsByPlace(program)].map(
    ([place, words]) => `    case '${place}'\n      printf '%s\\n' ${words.join(' ')}`,
  )
  return `# fish completion for ${name}
function ${own}_words
  switch $argv[1]
${cases.join('\n')}
    case '*'
      return 1
  end
end
function ${own}
  set -l typed (commandline -opc)
  set -l place ''
  for word in $typed[2..-1]
    ${own}_words "$place/$word" >/dev/null; and set place "$place/$word"
  end
  ${own}_words "$place $typed[-1]"; or ${own}_words "$place"
end
complete -c ${name} -f -a '(${own})'
`
}

/** Returns the scripts of a program, by shell. */
export const printCompletions = (name: string, program: Command): Readonly<Record<string, string>> => ({
  bash: bash(name, program),
  zsh: zsh(name, program),
  fish: fish(name, program),
})
