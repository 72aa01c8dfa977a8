import type { Reporter, TestModule } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** What a proof has found out, for people. */
    found?: readonly string[]
  }
}

/** Closes a run with what the proofs have found out. */
export default class Table implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { found } = test.meta()
        if (found) console.log([`\n${test.name}`, ...found.map((line) => `  ${line}`)].join('\n'))
      }
    }
  }
}
