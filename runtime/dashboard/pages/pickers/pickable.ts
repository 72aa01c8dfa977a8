/** The kinds of records that forms refer to. */
import { records } from '../../../../generated/canonical/records.ts'
import type { Pickable } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import type { PickerOption } from '../../html/picker.ts'
import { CATEGORY, COUNTRY } from './lists.ts'
import { findPickable, type PickablePrefix, type PickableRow, readPickable } from './pickable-queries.ts'

const shown = ({ id, name, about, status }: PickableRow): PickerOption => ({
  id,
  name,
  about: [about, status && words(status)].filter((each) => each !== '').join(', '),
})

function recordsOf(prefix: PickablePrefix, path: string, noun: string): Pickable {
  return {
    path,
    noun,
    prefix,
    operation: records[prefix].list,
    async find(visit, text, status = '') {
      const { db, space } = await visit.place()
      return (await findPickable(db, space, prefix, text, status, visit.findNamed)).map(shown)
    },
    async read(visit, ids) {
      const { db, space } = await visit.place()
      return (await readPickable(db, space, prefix, ids)).map(shown)
    },
  }
}

export const CARDHOLDER = recordsOf('chd', 'cardholders', 'cardholder')
export const CARD_PROGRAM = recordsOf('cprg', 'card-programs', 'card program')
export const CARD = recordsOf('card', 'cards', 'card')
export const TRANSACTION = recordsOf('ctx', 'card-transactions', 'transaction')
export const DISPUTE = recordsOf('dsp', 'disputes', 'dispute')
export const TEMPLATE = recordsOf('tpl', 'pass-templates', 'pass template')
export const PASS = recordsOf('pass', 'passes', 'pass')
export const DESTINATION = recordsOf('pod', 'payout-destinations', 'payout destination')
export const SETTLEMENT = recordsOf('stl', 'settlements', 'settlement')
export const PAYOUT = recordsOf('po', 'payouts', 'payout')

/** Everything that the lookup of the pickers finds. */
export const PICKABLE: readonly Pickable[] = [
  CATEGORY,
  COUNTRY,
  CARDHOLDER,
  CARD_PROGRAM,
  CARD,
  TRANSACTION,
  DISPUTE,
  TEMPLATE,
  PASS,
  DESTINATION,
  SETTLEMENT,
  PAYOUT,
]
