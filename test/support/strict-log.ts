import { pino } from 'pino'

const ERROR = 50

/** A log for workers in tests: an error that a worker would log and continue after fails the test instead. */
export const strictLog = pino({
  level: 'error',
  hooks: {
    logMethod(args, _method, level) {
      const [about, words] = args as unknown as [{ err?: unknown }?, string?]
      if (level >= ERROR) throw new Error(words ?? 'an error was logged', { cause: about?.err })
    },
  },
})
