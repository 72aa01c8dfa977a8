/** The exit codes of `svc`. The table appears in `svc --help` and in the README of the package. */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  misused: 2,
  notSignedIn: 3,
  unreachable: 4,
  interrupted: 130,
} as const

const MEANINGS: { readonly [Name in keyof typeof EXIT_CODES]: string } = {
  done: 'success; also if `svc listen` or `svc logs tail` is interrupted',
  failed: 'the API refused the request, or the command failed',
  misused: 'the command line is invalid, and nothing was done',
  notSignedIn: 'there is no API key and no sign-in, or the API does not accept it (401)',
  unreachable: 'the API did not respond; try again later',
  interrupted: 'interrupted (Ctrl-C)',
}

/** Exit codes and their meanings, in order. */
export const EXIT_TABLE: readonly (readonly [code: number, meaning: string])[] = Object.entries(
  EXIT_CODES,
).map(([name, code]) => [code, MEANINGS[name as keyof typeof EXIT_CODES]])
