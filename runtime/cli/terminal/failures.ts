/** Failures with a separate exit code. */

/** The command line or the environment is invalid: exit code 2. */
export class MisuseError extends Error {}

/** There is no credential, or it is no longer valid: exit code 3. */
export class SignInError extends Error {}

/** There was no response: exit code 4. */
export class UnreachableError extends Error {}

/** The user interrupted the command: exit code 130. */
export class InterruptedError extends Error {
  override readonly message = 'interrupted'
}

/** A command failed after its session was opened, so the API address is known. */
export class CommandError extends Error {
  readonly baseUrl: string

  constructor(baseUrl: string, cause: unknown) {
    super('the command failed', { cause })
    this.baseUrl = baseUrl
  }
}
