/** The page `/design`, which shows the components of the console in both color schemes. */
import { contrast } from '../passes/wallets/render/page/colors.ts'
import { type Html, html } from '../platform/html.ts'
import { writeToast } from './engine/frame.ts'
import { linkIn } from './engine/links.ts'
import { writeTable } from './engine/list-page.ts'
import { code, json, money, state, when } from './engine/values.ts'
import { COLOR_SCHEMES } from './html/assets.ts'
import { drawChart } from './html/chart.ts'
import { choice, facts, field, notice, textArea } from './html/components.ts'
import { ICON_NAMES, icon } from './html/icons.ts'
import { writePage } from './html/layout.ts'
import { figures, meter, panel, timeline } from './html/records.ts'

/** Pairs of text and background, with the contrast that WCAG 2.2 requires (1.4.3 and 1.4.11). */
const PAIRS: readonly (readonly [text: string, ground: string, required: number])[] = [
  ['text', 'ground', 4.5],
  ['text', 'raised', 4.5],
  ['text', 'sunken', 4.5],
  ['quiet', 'ground', 4.5],
  ['quiet', 'raised', 4.5],
  ['quiet', 'sunken', 4.5],
  ['accent', 'raised', 4.5],
  ['accent', 'accent-ground', 4.5],
  ['on-accent', 'accent', 4.5],
  ['danger', 'raised', 4.5],
  ['danger', 'danger-ground', 4.5],
  ['good', 'good-ground', 4.5],
  ['warn', 'warn-ground', 4.5],
  ['field-line', 'raised', 3],
]

type ColorScheme = (typeof COLOR_SCHEMES)[number]

/** Writes the page. Every component is the one that the pages use. */
export async function writeDesign(): Promise<Html> {
  const shown = await Promise.all(COLOR_SCHEMES.map(writeScheme))
  return writePage({
    title: 'Design',
    styles: ['design.css'],
    scripts: ['console.js'],
    content: html`<p class="quiet">The components of the console in both color schemes. Pages use only these components and the tokens of <code>tokens.css</code>.</p>
<div class="design">${shown}</div>`,
  })
}

async function writeScheme(scheme: ColorScheme): Promise<Html> {
  const { name } = scheme
  const parts: readonly (readonly [title: string, content: Html])[] = [
    ['Colors', writeColors(scheme)],
    ['Type', writeType(scheme)],
    ['Spacing', writeSizes(scheme, 'space-')],
    ['Buttons', BUTTONS],
    ['Forms', writeFields(name)],
    ['Badges', html`<p>${['active', 'pending', 'failed', 'draft'].map((each) => html`${state(each)} `)}</p>`],
    ['Notices', writeNotices()],
    ['Table', writeSampleTable(name)],
    ['Figures and meters', writeNumbers()],
    ['Chart', await writeSampleChart(name)],
    ['Record', writeRecord()],
    ['Empty state', html`<p class="empty">No cards yet. Add a cardholder, and then issue a card.</p>`],
    ['Toast', writeToast('Card frozen')],
    ['Dialog', writeDialog(name)],
    [
      'Icons',
      html`<p class="icons">${[...ICON_NAMES].map((each) => html`<span>${icon(each)} ${each}</span>`)}</p>`,
    ],
  ]
  return html`<section class="scheme-${name}" aria-label="${name} colors">${parts.map(([title, content]) => html`<h2>${title}</h2>\n${content}\n`)}</section>\n`
}

const sample = (token: string): Html =>
  html`<svg class="sample" aria-hidden="true"><rect width="100%" height="100%" fill="var(--${token})"/></svg>`

function writeColors({ name, tokens }: ColorScheme): Html {
  const columns = [
    { title: 'Text', show: ([text]: (typeof PAIRS)[number]) => html`${sample(text)} ${text}` },
    { title: 'Background', show: ([, ground]: (typeof PAIRS)[number]) => html`${sample(ground)} ${ground}` },
    {
      title: 'Contrast',
      isAmount: true,
      show: ([text, ground, required]: (typeof PAIRS)[number]) => {
        const ratio = contrast(tokens.get(text)!, tokens.get(ground)!)
        return html`${ratio.toFixed(2)} ${ratio < required && state('failed')}`
      },
    },
  ]
  return writeTable(`Contrasts of ${name} colors`, columns, PAIRS, NO_LINKS)
}

const NO_LINKS = linkIn({ environment: 'sandbox', pageOf: () => undefined })

function writeType(scheme: ColorScheme): Html {
  return html`<h3>Heading of a part</h3>
<p>Text of a page, with <a href="/docs">a link</a>, ${code('code')}, and a number: ${money(1234567, 'usd')}.</p>
<p class="quiet">Quiet text adds to what is above it.</p>
${writeSizes(scheme, 'text-')}`
}

/** Writes the tokens with a prefix and their values, each as a line of its length. */
function writeSizes({ tokens }: ColorScheme, prefix: string): Html {
  const sizes = [...tokens].filter(([name, value]) => name.startsWith(prefix) && value.endsWith('rem'))
  return facts(
    sizes.map(([name, value]) => [
      name,
      html`<svg class="size" aria-hidden="true"><rect width="${value}" height="100%" fill="var(--accent)"/></svg> ${value}`,
    ]),
  )
}

const BUTTONS = html`<p class="samples"><button type="button">Primary</button> <button class="second" type="button">Secondary</button> <button class="danger" type="button">Destructive</button> <button class="second small" type="button">Small</button> <a class="button" href="/docs">Link</a> <button class="icon-button" type="button" aria-label="Menu">${icon('menu')}</button></p>`

function writeFields(name: string): Html {
  const id = (part: string) => `${name}-${part}`
  return html`<form>${field({ name: 'name', id: id('name'), label: 'Name', value: 'Ada Moreau', hint: 'As on the card.' })}
${field({ name: 'amount', id: id('amount'), label: 'Amount', optional: true, value: '12,5', fault: 'Enter an amount, such as 12.50.' })}
${choice({ name: id('type'), label: 'Type', options: [['virtual', 'Virtual']] })}
${textArea({ name: id('note'), label: 'Note', rows: 2 })}</form>`
}

function writeNotices(): Html {
  return html`${notice('good', 'The password was changed.')}${notice('warn', 'This secret is shown only once.')}${notice('bad', 'Check the highlighted fields.')}`
}

const ROWS = [
  { merchant: 'Harbor Grocer', status: 'approved', at: '2026-11-26T09:30:00Z', amount: 1250 },
  { merchant: 'Night Bakery', status: 'declined', at: '2026-11-25T23:05:00Z', amount: 480 },
] as const

function writeSampleTable(name: string): Html {
  const columns = [
    { title: 'Merchant', show: (row: (typeof ROWS)[number]) => row.merchant },
    { title: 'Status', show: (row: (typeof ROWS)[number]) => state(row.status) },
    { title: 'Created', show: (row: (typeof ROWS)[number]) => when(row.at) },
    { title: 'Amount', isAmount: true, show: (row: (typeof ROWS)[number]) => money(row.amount, 'usd') },
  ]
  return writeTable(`Transactions in ${name} colors`, columns, ROWS, NO_LINKS)
}

function writeNumbers(): Html {
  return html`${figures([
    { name: 'Balance', value: '12,480.00 USD', more: 'Up 3 % in 30 days' },
    { name: 'Passes installed', value: '1,204' },
  ])}
${[0.4, 0.85, 1].map((part) => meter({ name: 'Monthly limit', text: `${part * 500} of 500 USD`, part }))}`
}

function writeSampleChart(name: string): Promise<Html> {
  return drawChart({
    title: `Authorizations in ${name} colors`,
    labels: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'],
    bars: [
      { name: 'approved', kind: 'good', values: [12, 18, 9, 14, 22] },
      { name: 'held', kind: 'warn', values: [1, 2, 1, 0, 3] },
      { name: 'declined', kind: 'bad', values: [2, 1, 0, 3, 1] },
      { name: 'other', kind: 'plain', values: [3, 2, 4, 2, 5] },
    ],
  })
}

function writeRecord(): Html {
  return panel(
    'Life of a transaction',
    html`${timeline([
      { what: 'Authorized', at: when('2026-11-26T09:30:00Z'), mood: 'good' },
      {
        what: 'Increment declined',
        at: when('2026-11-26T09:45:00Z'),
        mood: 'bad',
        more: html`Limit exceeded`,
      },
      { what: 'Clearing', at: 'Next', mood: 'warn' },
      { what: 'Settlement' },
    ])}
${json({ object: 'card_transaction', amount: 1250 })}`,
  )
}

function writeDialog(name: string): Html {
  return html`<dialog open aria-label="Dialog in ${name} colors"><h3>Freeze this card?</h3>
<p>The card declines all authorizations until you unfreeze it.</p>
<p class="samples"><button type="button">Freeze card</button> <button class="second" type="button">Cancel</button></p></dialog>`
}
