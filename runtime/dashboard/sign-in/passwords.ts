/** NIST SP 800-63B asks for eight at least; with a second factor beside it no kinds of characters are asked for. */
export const MIN_PASSWORD = 12

/** Of longer ones the rest would be looked at by nobody. */
export const MAX_PASSWORD = 1000

/** @returns what is wrong with a password that somebody chooses; undefined for a good one. */
export function faultOfPassword(password: string, email: string): string | undefined {
  if (password.length < MIN_PASSWORD) return `At least ${MIN_PASSWORD} characters, please.`
  if (password.length > MAX_PASSWORD) return `At most ${MAX_PASSWORD} characters, please.`
  if (new Set(password).size < 4) return 'It has too few different characters.'
  if (password.toLowerCase().includes(email.toLowerCase())) return 'It must not hold your e-mail address.'
  return undefined
}
