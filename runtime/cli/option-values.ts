/** Readers of option values that several commands use. Each throws the text that commander shows after the option's name. */
import { InvalidArgumentError } from 'commander'

export function readCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number greater than 0.')
}

export function readSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a number of seconds.')
}
