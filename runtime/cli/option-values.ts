/** Values of options that several commands take. Each reader throws what commander shows beside the option's name. */
import { InvalidArgumentError } from 'commander'

export function readCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is not a whole number above 0.')
}

export function readSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is not a number of seconds.')
}
