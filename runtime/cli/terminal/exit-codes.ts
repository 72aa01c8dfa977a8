/** What the exit code of `svc` says. The table stands in `svc --help` and in the README of the package. */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  misused: 2,
  notSignedIn: 3,
  unreachable: 4,
  interrupted: 130,
} as const

const MEANINGS: { readonly [Name in keyof typeof EXIT_CODES]: string } = {
  done: 'done; `svc listen` and `svc logs tail` when they are interrupted, too',
  failed: 'the service refused, or something went wrong',
  misused: 'the command was not understood, and nothing was done',
  notSignedIn: 'there is no key and no sign-in, or the service does not take it (401)',
  unreachable: 'the service gave no answer: trying again later may help',
  interrupted: 'interrupted (Ctrl-C)',
}

/** Codes and meanings, in the order of the codes. */
export const EXIT_TABLE: readonly (readonly [code: number, meaning: string])[] = Object.entries(
  EXIT_CODES,
).map(([name, code]) => [code, MEANINGS[name as keyof typeof EXIT_CODES]])
