/** Bar charts as server-rendered SVG, without scripts. Pages also show the numbers in a table. */
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
  /** The series, stacked in this order. */
  readonly bars: readonly ChartSeries[]
  /** Suffix of the numbers on the vertical axis. */
  readonly unit?: string
}

const SIZE = { width: 640, height: 180 }
const MARGIN = { top: 8, right: 8, bottom: 22, left: 64 }

/** Maximum number of labels that fit below the chart. */
const MAX_LABELS = 8

/** Draws the chart. The first chart of a process loads the scale library. */
export async function drawChart({ title, labels, bars, unit = '' }: Chart): Promise<Html> {
  const { scaleBand, scaleLinear } = await import('d3-scale')
  const heapOf = (at: number, series: readonly ChartSeries[]) =>
    series.reduce((sum, { values }) => sum + values[at]!, 0)
  const most = Math.max(1, ...labels.map((_, at) => heapOf(at, bars)))
  const right = SIZE.width - MARGIN.right
  const x = scaleBand([...labels.keys()], [MARGIN.left, right]).padding(0.2)
  const y = scaleLinear([0, most], [SIZE.height - MARGIN.bottom, MARGIN.top]).nice(4)
  const grid = y.ticks(4).filter(Number.isInteger)
  const every = Math.ceil(labels.length / MAX_LABELS)
  const rectangle = (series: ChartSeries, order: number, at: number) => {
    const below = heapOf(at, bars.slice(0, order))
    const top = y(below + series.values[at]!)
    return html`<rect class="${series.kind}" x="${round(x(at)!)}" y="${round(top)}" width="${round(x.bandwidth())}" height="${round(y(below) - top)}"/>\n`
  }
  return html`<figure class="chart">
<figcaption>${title} ${bars.map(({ name, kind }) => html`<span class="key ${kind}">${name}</span> `)}</figcaption>
<svg viewBox="0 0 ${String(SIZE.width)} ${String(SIZE.height)}" role="img" aria-label="${title}">
${grid.map(
  (
    tick,
  ) => html`<line x1="${String(MARGIN.left)}" x2="${String(right)}" y1="${round(y(tick))}" y2="${round(y(tick))}"/>
<text class="value" x="${String(MARGIN.left - 6)}" y="${round(y(tick) + 4)}">${tick.toLocaleString('en')}${unit}</text>
`,
)}${bars.map((series, order) => labels.map((_, at) => series.values[at]! > 0 && rectangle(series, order, at)))}${labels.map(
  (label, at) =>
    at % every === 0 &&
    html`<text class="label" x="${round(x(at)! + x.bandwidth() / 2)}" y="${String(SIZE.height - 6)}">${label}</text>\n`,
)}</svg>
</figure>`
}

const round = (pixels: number): string => String(Math.round(pixels * 10) / 10)
