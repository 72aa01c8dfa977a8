/** The page of objectives and alerts, in Markdown. */
import { ALERTS } from './alerts.ts'
import { BURN_RATES, OBJECTIVE_DAYS, OBJECTIVES } from './objectives.ts'

const HEAD = `# Objectives and alerts

\`npm run deploy:watch\` generates this page, \`deploy/prometheus\` and \`deploy/grafana\` from \`deploy/watch\`.
[monitoring.md](monitoring.md) describes how to install them.

## Objectives

Each objective is measured over ${OBJECTIVE_DAYS} days. The error budget is the share of bad events that the objective allows.

| objective | target | budget in ${OBJECTIVE_DAYS} days | good events |
|---|---|---|---|
`

const percent = (share: number) => `${Number((share * 100).toPrecision(6))} %`

function objectiveRows(): string {
  return OBJECTIVES.map(({ title, target, good }) => {
    const minutes = Math.round((1 - target) * OBJECTIVE_DAYS * 24 * 60)
    return `| ${title} | ${percent(target)} | ${percent(1 - target)}, or all events of ${minutes} min | ${good} |\n`
  }).join('')
}

function burnRows(): string {
  return BURN_RATES.map(({ suffix, rate, long, short }) => {
    const spent = percent((rate * Number.parseInt(long, 10)) / (OBJECTIVE_DAYS * 24))
    return `| \`…${suffix}\` | ${rate} | ${long} and ${short} | ${spent} in ${long} |\n`
  }).join('')
}

function entry(
  name: string,
  severity: string,
  { meaning, look, action }: Record<'meaning' | 'look' | 'action', string>,
) {
  const ended = (text: string) => (text.endsWith('.') ? text : `${text}.`)
  return `### ${name}

${ended(meaning)} Severity: ${severity}.

- First look: ${ended(look)}
- First action: ${ended(action)}

`
}

/** Writes the page. */
export function writeRunbook(): string {
  const burns = OBJECTIVES.map((objective) => {
    const names = BURN_RATES.map(({ suffix }) => `${objective.alert}${suffix}`)
    const anchors = names.map((name) => `<a id="${name.toLowerCase()}"></a>`).join('')
    return `${anchors}\n\n${entry(names.join(', '), 'page', objective)}`
  })
  const others = ALERTS.map((alert) => entry(alert.name, alert.severity, alert))
  return `${HEAD}${objectiveRows()}
## Burn rates

An alert fires if the budget is spent faster than the rate over both ranges. The long range avoids alerts for short
problems; the short range ends the alert soon after the problem ends. Source: Google SRE workbook, chapter 5.

| alert | rate | ranges | spends |
|---|---|---|---|
${burnRows()}
## Alerts

\`page\` means: act now. \`ticket\` means: act within a day.

${[...burns, ...others].join('').trimEnd()}
`
}
