/** Charts as server-rendered SVG, without scripts: stacked bars, or lines. Their values are also in a table. */
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
  /** Series drawn as lines; a single one over its area. Values can be negative. */
  readonly lines?: readonly ChartSeries[]
  /** Suffix of the values. */
  readonly unit?: string
  /** Decimal places of the values. Default: 0. */
  readonly digits?: number
  /** Title of the labels in the table of values. Absent if the page has such a table of its own. */
  readonly table?: string
}

const SIZE = { width: 640, height: 210 }
const MARGIN = { top: 12, right: 4, bottom: 36, left: 52 }
const RIGHT = SIZE.width - MARGIN.right
const BOTTOM = SIZE.height - MARGIN.bottom

/** Width of a label on narrow screens, where text is largest. */
const LABEL_WIDTH = 80

/** Maximum number of labels that fit below the chart; on narrow screens, half as many. */
const MAX_LABELS = 8

const axisFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Draws the chart. The first chart of a process loads the scale library. */
export async function drawChart(chart: Chart): Promise<Html> {
  const { title, labels, bars = [], lines = [], unit = '', digits = 0 } = chart
  const { scaleBand, scaleLinear } = await import('d3-scale')
  const series = [...lines, ...bars]
  const heights = [...labels.keys()].map((at) => heapOf(at, bars))
  const points = lines.flatMap(({ values }) => values)
  const x = scaleBand([...labels.keys()], [MARGIN.left, RIGHT]).padding(0.25)
  const y = scaleLinear(
    [Math.min(0, ...points), Math.max(1, ...heights, ...points)],
    [BOTTOM, MARGIN.top],
  ).nice(4)
  const place = { left: (at: number) => x(at)!, width: x.bandwidth(), step: x.step(), y }
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const write = (value: number) => `${format.format(value).replace('-', '−')}${unit}`
  const describe = (at: number) => series.map(({ name, values }) => `${name}: ${write(values[at]!)}`)
  return html`<figure class="chart">
<figcaption>${title} ${series.length > 1 && series.map(({ name, kind }) => html`<span class="key ${kind}">${name}</span> `)}</figcaption>
<svg viewBox="0 0 ${String(SIZE.width)} ${String(SIZE.height)}" role="img" aria-label="${title}">
${y
  .ticks(4)
  .filter(Number.isInteger)
  .map((tick) => writeTick(tick, y(tick)))}${lines.map((line) =>
  writeLine(line, place, lines.length === 1),
)}${labels.map(
  (label, at) =>
    html`<g><title>${[label, ...describe(at)].join('\n')}</title>${writeMarks(at, place, bars, lines)}</g>\n`,
)}${writeLabels(labels, place)}</svg>
${chart.table !== undefined && writeValues(chart.table, labels, series, write)}</figure>`
}

/** Sum of the series at a label. */
const heapOf = (at: number, series: readonly ChartSeries[]): number =>
  series.reduce((sum, { values }) => sum + values[at]!, 0)

/** Positions in the drawing. */
interface ChartPlace {
  /** Left end of a label's bar. */
  readonly left: (at: number) => number
  readonly width: number
  /** Distance from one label to the next. */
  readonly step: number
  readonly y: (value: number) => number
}

const middleOf = ({ left, width }: ChartPlace, at: number): number => left(at) + width / 2

function writeTick(tick: number, at: number): Html {
  return html`<line${tick === 0 && html` class="zero"`} x1="${String(MARGIN.left)}" x2="${String(RIGHT)}" y1="${round(at)}" y2="${round(at)}"/>
<text class="value" x="${String(MARGIN.left - 8)}" y="${round(at)}">${axisFormat.format(tick).replace('-', '−')}</text>
`
}

function writeLine({ kind, values }: ChartSeries, place: ChartPlace, hasArea: boolean): Html {
  const points = values.map((value, at) => `${round(middleOf(place, at))} ${round(place.y(value))}`)
  const path = `M${points.join('L')}`
  const [first, last] = [0, values.length - 1].map(
    (at) => `${round(middleOf(place, at))} ${round(place.y(0))}`,
  )
  return html`${hasArea && html`<path class="area ${kind}" d="${path}L${last}L${first}Z"/>\n`}<path class="line ${kind}" d="${path}"/>\n`
}

/** Writes what belongs to a label: room for the pointer, bars, and the points of the lines. */
function writeMarks(
  at: number,
  place: ChartPlace,
  bars: readonly ChartSeries[],
  lines: readonly ChartSeries[],
): Html {
  const { left, width, step, y } = place
  return html`<rect class="room" x="${round(left(at) - (step - width) / 2)}" y="${String(MARGIN.top)}" width="${round(step)}" height="${String(BOTTOM - MARGIN.top)}"/>${bars.map(
    ({ kind, values }, order) => {
      const below = heapOf(at, bars.slice(0, order))
      const top = y(below + values[at]!)
      return (
        values[at]! > 0 &&
        html`<rect class="${kind}" x="${round(left(at))}" y="${round(top)}" width="${round(width)}" height="${round(y(below) - top)}"/>`
      )
    },
  )}${lines.map(
    ({ kind, values }) =>
      html`<circle class="${kind}" cx="${round(middleOf(place, at))}" cy="${round(y(values[at]!))}" r="4"/>`,
  )}`
}

/** Writes the labels that fit. The last one stays within the drawing. */
function writeLabels(labels: readonly string[], place: ChartPlace): Html {
  const every = Math.ceil(labels.length / MAX_LABELS)
  return html`${labels.map((label, at) => {
    if (at % every !== 0) return false
    const middle = middleOf(place, at)
    const [end, x] = RIGHT - middle < LABEL_WIDTH / 2 ? [' end', RIGHT] : ['', middle]
    const between = (at / every) % 2 === 1 && ' between'
    return html`<text class="label${end}${between}" x="${round(x)}" y="${String(SIZE.height - 8)}">${label}</text>\n`
  })}`
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
