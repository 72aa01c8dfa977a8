/** HTML components that show what a record is: panels, figures, meters, timelines, and waterfalls. */
import { type Html, html } from '../../platform/html.ts'
import { icon } from './icons.ts'

/** Colors that repeat the meaning of a text. */
export type Mood = 'good' | 'bad' | 'warn'

/** Writes a titled box. */
export function panel(title: string, content: Html): Html {
  return html`<section class="panel"><h2>${title}</h2>
${content}</section>`
}

export interface Figure {
  readonly name: string
  /** The number with its unit, such as `12.50 USD`. */
  readonly value: Html | string
  /** A comparison or a link. */
  readonly more?: Html | string | undefined
}

/** Writes numbers that answer a question at a glance. */
export function figures(each: readonly Figure[]): Html {
  return html`<div class="figures">${each.map(
    ({ name, value, more }) =>
      html`<div class="panel"><p class="name">${name}</p><p class="value">${value}</p>${more && html`<p class="name">${more}</p>`}</div>`,
  )}</div>`
}

export interface LimitMeter {
  readonly name: Html | string
  /** Text of both amounts, such as `120.00 of 500.00 USD`. */
  readonly text: string
  /** Part that is used, from 0 to 1. Greater values fill the bar. Absent if nothing adds up, so there is no bar. */
  readonly part?: number
  /** What is left, and when the limit starts again. */
  readonly more?: Html | string
}

/** Writes a bar that shows how much of a limit is used: amber from 80 %, red at 100 %. */
export function meter({ name, text, part, more }: LimitMeter): Html {
  const percent = Math.round(Math.min(Math.max(part ?? 0, 0), 1) * 1000) / 10
  const mood = percent === 100 ? ' bad' : percent >= 80 ? ' warn' : ''
  return html`<div class="meter${mood}"><p><span>${name}</span><span class="number">${text}</span></p>
${part !== undefined && html`<svg aria-hidden="true"><rect width="${String(percent)}%" height="100%"/></svg>`}${
  more && html`<p class="quiet">${more}</p>`
}</div>`
}

export interface TimelineEntry {
  /** What happened, such as "Authorized". */
  readonly what: Html | string
  /** Time, or a text such as "Next". */
  readonly at?: Html | string | undefined
  /** Amount, at the end of the line. */
  readonly amount?: Html | undefined
  /** Further information. */
  readonly more?: Html | undefined
  /** Absent if the entry is neither success nor failure. */
  readonly mood?: Mood | undefined
  /** Name of an icon. Absent for an icon that repeats the mood. */
  readonly icon?: string | undefined
}

const MOOD_ICONS = { good: 'check', bad: 'x', warn: 'clock' } as const

/** Writes events in the given order. */
export function timeline(entries: readonly TimelineEntry[]): Html {
  return html`<ol class="timeline">${entries.map(
    ({ what, amount, at, more, mood, icon: name = mood ? MOOD_ICONS[mood] : 'circle-dashed' }) =>
      html`<li${mood && html` class="${mood}"`}><span class="dot">${icon(name)}</span><span class="what">${what}</span><span class="amount">${amount}</span><span class="quiet">${at}</span>${more && html`<div class="more">${more}</div>`}</li>`,
  )}</ol>`
}

export interface WaterfallStep {
  readonly name: string
  /** Cents. */
  readonly amount: number
  /** The amount with its currency. */
  readonly text: Html | string
}

/** Writes how steps add up to a total. Each row has its number, so the bars only repeat what the text says. */
export function waterfall(steps: readonly WaterfallStep[], total: WaterfallStep): Html {
  let sum = 0
  const bars = steps.map((step) => {
    const from = sum
    sum += step.amount
    return { ...step, from, to: sum, mood: step.amount < 0 ? 'bad' : 'good' }
  })
  const rows = [...bars, { ...total, from: 0, to: total.amount, mood: 'total' }]
  const ends = rows.flatMap(({ from, to }) => [from, to])
  const [low, high] = [Math.min(...ends), Math.max(...ends)]
  const at = (value: number) => (high === low ? 0 : ((value - low) / (high - low)) * 100)
  return html`<ul class="waterfall">${rows.map(({ name, text, from, to, mood }) => {
    const [left, right] = [at(Math.min(from, to)), at(Math.max(from, to))]
    const width = Math.max(right - left, 0.5)
    return html`<li class="${mood}"><span>${name}</span><svg aria-hidden="true"><rect x="${percent(Math.min(left, 100 - width))}" width="${percent(width)}" height="100%"/><rect class="zero" x="${percent(Math.min(at(0), 99.75))}" width="1" height="100%"/></svg><span class="number">${text}</span></li>`
  })}</ul>`
}

const percent = (value: number) => `${value.toFixed(2)}%`
