/** The Grafana dashboard. */
import { PANEL_ROWS, type WatchPanel } from './panels.ts'

const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** Grafana's grid is 24 columns wide. */
const COLUMNS = 3
const WIDTH = 24 / COLUMNS
const HEIGHT = 8

function panel({ title, unit, queries }: WatchPanel, id: number, x: number, y: number): object {
  return {
    id,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos: { x, y, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: queries.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  }
}

/** Writes the dashboard as JSON, for import into Grafana 10 or newer. */
export function writeDashboard(): string {
  const panels: object[] = []
  let y = 0
  for (const row of PANEL_ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    })
    y += 1
    row.panels.forEach((each, at) => {
      const top = y + Math.floor(at / COLUMNS) * HEIGHT
      panels.push(panel(each, panels.length + 1, (at % COLUMNS) * WIDTH, top))
    })
    y += Math.ceil(row.panels.length / COLUMNS) * HEIGHT
  }
  const dashboard = {
    uid: 'dateline',
    title: 'Wallet pass service',
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels,
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}
