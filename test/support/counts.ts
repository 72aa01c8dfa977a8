import type { Reporter, TestModule } from 'vitest/node'

/** Prints the test counts in one plain line at the end of a run, for programs that read the log. */
export default class Counts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      if (module.errors().length > 0) counts.failed += 1
    }
    const skipped = counts.skipped + counts.pending
    console.log(
      `\n${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    )
  }
}
