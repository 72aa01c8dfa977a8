/** Charts as server-rendered SVG, without scripts: stacked bars, or a line over its area. Their values are also in a table. */
import { type Html, html } from '../../platform/html.ts'

/** One series, with one value for each label of the chart. */
export interface ChartSeries {
  readonly name: string
  /** Determines the color. */
  readonly kind: 'plain' | 'good' | 'warn' | 'bad'
  readonly values: readonly number[]
}

export interface Chart {
  /** Caption, also the text alternative for screen readers. */
  readonly title: string
  /** Labels of the horizontal axis, such as days or hours. */
  readonly labels: readonly string[]
  /** The series, stacked in this order. Values are not negative. */
  readonly bars?: readonly ChartSeries[]
  /** A series drawn as a line over its area. Values can be negative. */
  readonly line?: ChartSeries
  /** Suffix of the values. */
  readonly unit?: string
  /** Decimal places of the values. Default: 0. */
  readonly digits?: number
  /** Title of the labels in the table of values. Absent if the page has such a table of its own. */
  readonly table?: string
}

const SIZE = { width: 640, height: 200 }
const MARGIN = { top: 10, right: 4, bottom: 28, left: 52 }

/** Maximum number of labels that fit below the chart; on narrow screens, half as many. */
const MAX_LABELS = 8

const axisFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Draws the chart. The first chart of a process loads the scale library. */
export async function drawChart(chart: Chart): Promise<Html> {
  const { title, labels, bars = [], line, unit = '', digits = 0 } = chart
  const { scaleBand, scaleLinear } = await import('d3-scale')
  const series = line ? [line, ...bars] : bars
  const heapOf = (at: number, part: readonly ChartSeries[]) =>
    part.reduce((sum, { values }) => sum + values[at]!, 0)
  const heights = [...labels.keys()].map((at) => heapOf(at, bars))
  const right = SIZE.width - MARGIN.right
  const bottom = SIZE.height - MARGIN.bottom
  const x = scaleBand([...labels.keys()], [MARGIN.left, right]).padding(0.25)
  const y = scaleLinear(
    [Math.min(0, ...(line?.values ?? [])), Math.max(1, ...heights, ...(line?.values ?? []))],
    [bottom, MARGIN.top],
  ).nice(4)
  const middle = (at: number) => x(at)! + x.bandwidth() / 2
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const write = (value: number) => `${format.format(value).replace('-', '−')}${unit}`
  const described = (at: number) => series.map(({ name, values }) => `${name}: ${write(values[at]!)}`)
  const rectangle = ({ kind, values }: ChartSeries, order: number, at: number) => {
    const below = heapOf(at, bars.slice(0, order))
    const top = y(below + values[at]!)
    return html`<rect class="${kind}" x="${round(x(at)!)}" y="${round(top)}" width="${round(x.bandwidth())}" height="${round(y(below) - top)}"/>`
  }
  const path = line?.values.map(
    (value, at) => `${at === 0 ? 'M' : 'L'}${round(middle(at))} ${round(y(value))}`,
  )
  const every = Math.ceil(labels.length / MAX_LABELS)
  return html`<figure class="chart">
<figcaption>${title} ${series.length > 1 && series.map(({ name, kind }) => html`<span class="key ${kind}">${name}</span> `)}</figcaption>
<svg viewBox="0 0 ${String(SIZE.width)} ${String(SIZE.height)}" role="img" aria-label="${title}">
${y
  .ticks(4)
  .filter(Number.isInteger)
  .map(
    (
      tick,
    ) => html`<line${tick === 0 && html` class="zero"`} x1="${String(MARGIN.left)}" x2="${String(right)}" y1="${round(y(tick))}" y2="${round(y(tick))}"/>
<text class="value" x="${String(MARGIN.left - 8)}" y="${round(y(tick))}">${axisFormat.format(tick).replace('-', '−')}</text>
`,
  )}${
  line &&
  path &&
  html`<path class="area ${line.kind}" d="${path.join('')}L${round(middle(labels.length - 1))} ${round(y(0))}L${round(middle(0))} ${round(y(0))}Z"/>
<path class="line ${line.kind}" d="${path.join('')}"/>
`
}${labels.map(
  (label, at) =>
    html`<g><title>${[label, ...described(at)].join('\n')}</title><rect class="room" x="${round(x(at)! - (x.step() - x.bandwidth()) / 2)}" y="${String(MARGIN.top)}" width="${round(x.step())}" height="${String(bottom - MARGIN.top)}"/>${bars.map(
      (each, order) => each.values[at]! > 0 && rectangle(each, order, at),
    )}${line && html`<circle class="${line.kind}" cx="${round(middle(at))}" cy="${round(y(line.values[at]!))}" r="4"/>`}</g>
`,
)}${labels.map(
  (label, at) =>
    at % every === 0 &&
    html`<text class="label${(at / every) % 2 === 1 && ' between'}" x="${round(middle(at))}" y="${String(SIZE.height - 6)}">${label}</text>\n`,
)}</svg>
${chart.table !== undefined && writeValues(chart.table, labels, series, write)}</figure>`
}

function writeValues(
  heading: string,
  labels: readonly string[],
  series: readonly ChartSeries[],
  write: (value: number) => string,
): Html {
  return html`<details><summary>Values</summary>
<table><thead><tr><th scope="col">${heading}</th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${labels.map(
    (label, at) =>
      html`<tr><th scope="row">${label}</th>${series.map(({ values }) => html`<td>${write(values[at]!)}</td>`)}</tr>\n`,
  )}</tbody></table></details>
`
}

const round = (pixels: number): string => String(Math.round(pixels * 10) / 10)
