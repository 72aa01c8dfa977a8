/** How the samples of each language are run, where the language is installed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const HERE = import.meta.dirname

export const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** Programs that run all samples with a recorder in place of the network. */
export const RECORDERS = {
  Python: { program: 'python3', file: join(HERE, 'record.py'), fence: 'py Python' },
  Ruby: { program: 'ruby', file: join(HERE, 'record.rb'), fence: 'rb Ruby' },
  PHP: { program: 'php', file: join(HERE, 'record.php'), fence: 'php PHP' },
} as const

let pythonPath: string | undefined

/** The stand-in for `requests` is used only where the real one is not installed. */
function findPythonPath(): string {
  pythonPath ??= spawnSync('python3', ['-c', 'import requests']).status === 0 ? '' : HERE
  return pythonPath
}

/** The command that runs a sample, for each language. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  curl: { program: 'curl', run: (text) => ['sh', ['-ec', text.replace(/^curl /, 'curl --fail -sS ')]] },
  TypeScript: {
    program: 'node',
    run: (text, folder) => {
      const client = (_: string, version: string) =>
        `'${pathToFileURL(resolve('generated/client/src', version, 'index.ts')).href}'`
      const file = join(folder, 'sample.ts')
      // Prints JSON, as the others do.
      const printed = text.replace('console.log(answer)', 'console.log(JSON.stringify(answer))')
      writeFileSync(file, printed.replace(/'@dateline\/passes\/([^']+)'/, client))
      return [process.execPath, [file]]
    },
  },
  Python: { program: 'python3', run: (text) => ['python3', ['-c', text]] },
  Go: {
    program: 'go',
    slow: true,
    run: (text, folder) => {
      const file = join(folder, 'sample.go')
      writeFileSync(file, text)
      return ['go', ['run', file]]
    },
  },
  Ruby: { program: 'ruby', run: (text) => ['ruby', ['-e', text]] },
  PHP: { program: 'php', run: (text) => ['php', ['-r', text.replace(/^<\?php/, '')]] },
  Java: {
    program: 'javac',
    slow: true,
    run: (text, folder) => {
      const file = join(folder, 'Sample.java')
      writeFileSync(file, text)
      return ['java', [file]]
    },
  },
}

interface Runner {
  readonly program: string
  /** Whether it compiles, for seconds, so that only `npm run prove:samples` runs it. */
  readonly slow?: boolean
  /** @param folder inside the repository, so that the client's dependencies are found. */
  run(text: string, folder: string): readonly [string, readonly string[]]
}

/** The environment of a reader with a key. */
export const environmentOf = (key: string, folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  API_KEY: key,
  PYTHONPATH: findPythonPath(),
  GOCACHE: process.env.GOCACHE ?? resolve(folder, 'go-cache'),
})

/** Checks that Go's own tools take all samples, formatted as they print them. @returns what they complain of. */
export function checkGo(texts: readonly string[], folder: string): string {
  const files = texts.map((text, index) => {
    const at = join(folder, `go/${index}`)
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'main.go'), `${text}\n`)
    return join(at, 'main.go')
  })
  writeFileSync(join(folder, 'go/go.mod'), 'module samples\n')
  const unformatted = execFileSync('gofmt', ['-l', ...files], { encoding: 'utf8' })
  const { stderr } = spawnSync('go', ['vet', './...'], {
    cwd: join(folder, 'go'),
    encoding: 'utf8',
    env: environmentOf('', folder),
  })
  return unformatted + stderr
}

/** Compiles all samples in Java at once. @returns what the compiler complains of. */
export function checkJava(texts: readonly string[], folder: string): string {
  const files = texts.map((text, index) => {
    const file = join(folder, `Sample${index}.java`)
    writeFileSync(file, text.replace('class Sample', `class Sample${index}`))
    return file
  })
  return spawnSync('javac', ['-encoding', 'UTF-8', '-d', join(folder, 'classes'), ...files], {
    encoding: 'utf8',
  }).stderr
}
