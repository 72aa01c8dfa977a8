import type { MerchantCategoriesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import type { Context } from '../../api/handler.ts'
import { CATEGORIES, labelOf } from './catalogue.ts'

type MerchantCategory = components['schemas']['MerchantCategory']

const CATALOGUE = CATEGORIES.map((code) => ({ code, label: labelOf(code) as MerchantCategory['label'] }))

export const merchantCategoriesHandlers = {
  async listMerchantCategories() {
    return { status: 200, body: { object: 'list', data: CATALOGUE } }
  },
} satisfies MerchantCategoriesHandlers<Context>
