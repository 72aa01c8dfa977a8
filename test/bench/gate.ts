/**
 * `npm run bench:gate`: how many breaks the gate names, how many of what it names are breaks, and which are not.
 * `npm run bench:gate -- FOLDER…`: how many breaks of real families, one in each folder, lenses carry.
 */
import { askOracle } from '../toolkit/battery/oracle.ts'
import { scoreGate } from '../toolkit/battery/pairs.ts'
import { judgeBattery } from '../toolkit/battery/witnesses.ts'
import { printCarried } from './carried.ts'

const print = (line = '') => void process.stdout.write(`${line}\n`)

function printScore(): void {
  const score = scoreGate()
  print(`pairs with one difference each: ${score.pairs}`)
  print(`recall ${score.recall.toFixed(3)} (1.000), precision ${score.precision.toFixed(3)} (at least 0.980)`)
  print(`class exact: ${score.exact.toFixed(3)}`)
  for (const [title, list] of [
    ['missed', score.missed],
    ['false alarms', score.falseAlarms],
    ['additive or none', score.inexact],
  ] as const) {
    print(`${title}: ${list.length}`)
    for (const each of list) print(`  ${each}`)
  }

  const { pairs, missed } = askOracle()
  print(
    `pairs of schemas of which the second refuses a value of the first: ${pairs}, unnamed: ${missed.length}`,
  )
  for (const each of missed) print(`  ${each}`)
}

/** Prints how many breaks of the battery have a witness, and whether ajv agrees with those. */
function printWitnesses(): void {
  const { breaks, proven, disproven, unproven, checked, wrong } = judgeBattery()
  const share = (list: readonly string[]) => `${((100 * list.length) / breaks).toFixed(1)} %`
  print(
    `breaks: ${breaks}, with a witness: ${proven}, disproven: ${share(disproven)}, unproven: ${share(unproven)} (at most 2 %)`,
  )
  for (const each of [...disproven, ...unproven]) print(`  ${each}`)
  print(`witnesses that ajv checked too: ${checked}, and disagrees with: ${wrong.length}`)
  for (const each of wrong) print(`  ${each}`)
}

const folders = process.argv.slice(2)
if (folders.length > 0) printCarried(folders, print)
else {
  printScore()
  printWitnesses()
}
