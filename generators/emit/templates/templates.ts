/** Handlebars with strict templates: a member that a view lacks is an error, not an empty string. */
import Handlebars from 'handlebars'
import { listAssets, readAsset } from '../../assets/assets.ts'

const FOLDER = 'emit/templates'

const handlebars = Handlebars.create()
for (const file of listAssets(FOLDER).filter((name) => name.endsWith('.hbs'))) {
  handlebars.registerPartial(file.slice(0, -'.hbs'.length), readAsset(`${FOLDER}/${file}`))
}

const compiled = new Map<string, Handlebars.TemplateDelegate>()

/** @param view everything the template reads; what may be absent is there as undefined, null or an empty list. */
export function render(template: string, view: object): string {
  const known = compiled.get(template) ?? compile(template)
  compiled.set(template, known)
  return known(view)
}

function compile(template: string): Handlebars.TemplateDelegate {
  const source = handlebars.partials[template]
  if (typeof source !== 'string') throw new Error(`There is no template ${template}`)
  return handlebars.compile(source, { strict: true, preventIndent: true })
}
