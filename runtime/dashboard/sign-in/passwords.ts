/** NIST SP 800-63B requires at least 8 characters and advises against composition rules. */
export const MIN_PASSWORD = 12

/** Sign-in ignores further characters. */
export const MAX_PASSWORD = 1000

/** Returns the error message for a new password, or undefined if it is acceptable. */
export function faultOfPassword(password: string, email: string): string | undefined {
  if (password.length < MIN_PASSWORD) return `The password must have at least ${MIN_PASSWORD} characters.`
  if (password.length > MAX_PASSWORD) return `The password must have at most ${MAX_PASSWORD} characters.`
  if (new Set(password).size < 4) return 'The password must contain at least 4 different characters.'
  if (password.toLowerCase().includes(email.toLowerCase()))
    return 'The password must not contain your email address.'
  return undefined
}
