/** What a command of the operator has around it: the process, or what a test passes. */
export interface CommandSurroundings {
  readonly env: NodeJS.ProcessEnv
  /** Prints text to stdout. */
  print(text: string): void
  /** Prints a line to stderr. */
  say(line: string): void
}

/** Returns the surroundings of this process. */
export function ofProcess(): CommandSurroundings {
  return {
    env: process.env,
    print: (text) => void process.stdout.write(text),
    say: (line) => void process.stderr.write(`${line}\n`),
  }
}
