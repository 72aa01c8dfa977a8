/** Renders strict Handlebars templates: a missing view member is an error instead of an empty string. */
import Handlebars from 'handlebars'
import { listAssets, readAsset } from '../../assets/assets.ts'

const FOLDER = 'emit/templates'

const handlebars = Handlebars.create()
for (const file of listAssets(FOLDER).filter((name) => name.endsWith('.hbs'))) {
  handlebars.registerPartial(file.slice(0, -'.hbs'.length), readAsset(`${FOLDER}/${file}`))
}

const compiled = new Map<string, Handlebars.TemplateDelegate>()

/**
 * Renders a template.
 *
 * @param view must have every member that the template reads; optional ones are undefined, null or an empty list.
 */
export function render(template: string, view: object): string {
  const known = compiled.get(template) ?? compile(template)
  compiled.set(template, known)
  return known(view)
}

function compile(template: string): Handlebars.TemplateDelegate {
  const source = handlebars.partials[template]
  if (typeof source !== 'string') throw new Error(`template ${template} does not exist`)
  return handlebars.compile(source, { strict: true, preventIndent: true })
}
