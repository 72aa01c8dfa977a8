/** The template of passes that a merchant creates. */
export const TEMPLATE = {
  name: 'Coffee loyalty',
  kind: 'loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [{ key: 'points', label: 'Points', value: '0' }],
}
