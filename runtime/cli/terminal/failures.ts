/** Failures that have an exit code of their own. */

/** The words or the surroundings make no sense: exit code 2. */
export class MisuseError extends Error {}

/** There is nothing to sign in with, or it counts no more: exit code 3. */
export class SignInError extends Error {}

/** No answer came: exit code 4. */
export class UnreachableError extends Error {}

/** The person wanted it to end: exit code 130. */
export class InterruptedError extends Error {
  override readonly message = 'interrupted'
}

/** A command failed that had got as far as knowing whom to call. */
export class CommandError extends Error {
  readonly baseUrl: string

  constructor(baseUrl: string, cause: unknown) {
    super('the command failed', { cause })
    this.baseUrl = baseUrl
  }
}
