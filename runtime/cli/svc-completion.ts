/** `svc completion`: shell completion. */
import { Argument, type Command } from 'commander'
import { candidatesFor } from './completion-candidates.ts'
import type { Surroundings } from './svc-session.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** Each script calls `svc complete`, so that the candidates match the installed version. */
const SCRIPTS: { readonly [Shell in (typeof SHELLS)[number]]: string } = {
  bash: `_svc() {
  local IFS=$'\\n'
  COMPREPLY=($(svc complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  # After a slash, the path continues.
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace
}
complete -F _svc svc`,
  zsh: `#compdef svc
_svc() {
  local -a whole open
  local word
  for word in "\${(@f)$(svc complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    # After a slash, the path continues.
    if [[ $word == */ ]]; then open+=("$word"); elif [[ -n $word ]]; then whole+=("$word"); fi
  done
  (( $#whole )) && compadd -- $whole
  (( $#open )) && compadd -S '' -- $open
}
# As an autoloaded function, the file runs in place of the first completion.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _svc "$@"; else compdef _svc svc; fi`,
  fish: `function __svc
  set -l words (commandline -opc) (commandline -ct)
  svc complete -- $words[2..-1] 2>/dev/null
end
complete -c svc -f -a '(__svc)'`,
}

/** Adds the commands. Must be called last, because it completes all other commands. */
export function addCompletion(program: Command, { print }: Surroundings): void {
  program
    .command('completion')
    .description('print a shell completion script for commands, options, paths and event types')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(svc completion bash)                  # in ~/.bashrc
  source <(svc completion zsh)                   # in ~/.zshrc, after compinit
  svc completion fish | source                   # in ~/.config/fish/config.fish`,
    )
    .action((shell: (typeof SHELLS)[number]) => print(SCRIPTS[shell]))
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: readonly string[]) => {
      const candidates = candidatesFor(program, words)
      if (candidates.length > 0) print(candidates.join('\n'))
    })
}
