/** The entries of the menu, and the other pages that the search finds by title. */
import { records } from '../../../generated/canonical/records.ts'
import { current } from '../../../generated/versions.ts'
import type { OperationId } from '../../api/operate.ts'
import { PREFERENCES_PATH } from '../engine/header.ts'
import type { Menu } from '../engine/menu.ts'
import { roleFor } from '../engine/visit.ts'
import { RESET_PATH } from './account/reset.ts'
import { SECURITY_PATH } from './account/security.ts'
import { UPLOAD_TITLE } from './passes/upload.ts'
import { PROMOTE_PATH } from './promotions/promote.ts'
import { BALANCE_PATH } from './resources/balance.ts'
import { RESOURCES } from './resources/resources.ts'
import { SIMULATOR_PAGES, SIMULATOR_PATH } from './simulator/pages.ts'
import { REQUESTS_PATH } from './watch/requests.ts'

/** Icons of the resources' menu entries, by path. */
const ICONS: Readonly<Record<string, string>> = {
  'pass-templates': 'palette',
  passes: 'ticket',
  scans: 'scan-line',
  cardholders: 'users',
  'sanctions-alerts': 'shield-alert',
  'card-programs': 'layers',
  cards: 'credit-card',
  'card-transactions': 'receipt',
  disputes: 'gavel',
  'balance-entries': 'banknote',
  settlements: 'circle-dollar-sign',
  'payout-destinations': 'landmark',
  payouts: 'send',
  reports: 'file-text',
  events: 'activity',
  'webhook-endpoints': 'webhook',
  promotions: 'rocket',
  'audit-log': 'history',
}

/** Returns the page of the reference that describes an operation. The page has the name of the operation's tag. */
const referenceOf = (tag: string, operation: OperationId): string =>
  `${current}/${tag.replaceAll('_', '-')}#${operation}`

function referenceOfList(operation: OperationId): string | undefined {
  const record = Object.values(records).find((each) => 'list' in each && each.list === operation)
  return record && 'tag' in record ? referenceOf(record.tag, operation) : undefined
}

const hasEntry = ({ menu }: { readonly menu?: string }) => menu === undefined

export const MENU: Menu = [
  { group: '', title: 'Home', icon: 'house', path: '', needs: 'viewer' },
  ...Object.entries(RESOURCES).flatMap(([group, resources]) =>
    resources.filter(hasEntry).map(({ title, path, list, environment }) => ({
      group,
      title,
      path,
      needs: roleFor(list.operation),
      docs: referenceOfList(list.operation),
      ...(ICONS[path] !== undefined && { icon: ICONS[path] }),
      ...(environment && { environment }),
    })),
  ),
  {
    group: 'Money',
    title: 'Balance',
    icon: 'wallet',
    path: BALANCE_PATH,
    needs: roleFor('getBalance'),
    docs: referenceOf('balance', 'getBalance'),
  },
  {
    group: 'Developers',
    title: 'Simulator',
    icon: 'flask-conical',
    path: SIMULATOR_PATH,
    needs: 'developer',
    docs: 'testing',
    environment: 'sandbox',
  },
  {
    group: 'Developers',
    title: 'Request log',
    icon: 'terminal',
    path: REQUESTS_PATH,
    needs: 'developer',
    docs: referenceOfList('listRequestLogs'),
  },
  {
    group: 'Developers',
    title: 'API keys',
    icon: 'key-round',
    path: 'keys',
    needs: 'developer',
    docs: 'authentication',
  },
  {
    group: 'Developers',
    title: 'API version',
    icon: 'git-branch',
    path: 'version',
    needs: 'viewer',
    docs: 'upgrading',
  },
  { group: 'Account', title: 'Members', icon: 'user-cog', path: 'members', needs: 'viewer' },
  {
    group: 'Account',
    title: 'Connected apps',
    icon: 'plug',
    path: 'connected-apps',
    needs: 'viewer',
    docs: 'oauth',
  },
  { group: 'Account', title: 'Usage', icon: 'gauge', path: 'usage', needs: 'viewer', docs: 'limits' },
]

/** Pages that other pages link to. */
export const LINKED: Menu = [
  ...Object.entries(RESOURCES).flatMap(([group, resources]) =>
    resources
      .filter((each) => !hasEntry(each))
      .map(({ title, path, list }) => ({
        group,
        title,
        path,
        needs: roleFor(list.operation),
        docs: referenceOfList(list.operation),
      })),
  ),
  { group: 'Account', title: 'Sign-in and security', path: SECURITY_PATH, needs: 'viewer' },
  { group: 'Account', title: 'Preferences', path: PREFERENCES_PATH, needs: 'viewer' },
  { group: 'Account', title: 'Sessions', path: 'sessions', needs: 'viewer' },
  {
    group: 'Account',
    title: 'Promote to live',
    path: PROMOTE_PATH,
    needs: roleFor('createPromotion'),
    docs: referenceOf('promotions', 'createPromotion'),
    environment: 'sandbox',
  },
  {
    group: 'Account',
    title: 'Reset sandbox',
    path: RESET_PATH,
    needs: roleFor('wipeSandbox'),
    environment: 'sandbox',
  },
]

/** Pages with a form, which the search finds by title. */
export const FORM_PAGES: Menu = [
  ...Object.entries(RESOURCES).flatMap(([group, resources]) =>
    resources.flatMap(({ path, create, environment }) =>
      create
        ? [
            {
              group,
              title: create.title,
              path: `${path}/new`,
              needs: roleFor(create.operation),
              ...(environment && { environment }),
            },
          ]
        : [],
    ),
  ),
  { group: 'Passes', title: UPLOAD_TITLE, path: 'passes/upload', needs: roleFor('createPassBatch') },
  { group: 'Developers', title: 'Create API key', path: 'keys/new', needs: 'owner' },
  { group: 'Account', title: 'Invite member', path: 'members/invite', needs: 'owner' },
  ...SIMULATOR_PAGES,
]
