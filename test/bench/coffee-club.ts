/** The template and the passes that benches create through the API. */

export const COFFEE_CLUB = {
  name: 'Coffee club',
  kind: 'loyalty',
  brand: { background_color: '#112233', foreground_color: '#ffffff' },
  fields: [
    { key: 'points', label: 'Points', value: '0' },
    { key: 'tier', label: 'Tier', value: 'Basic' },
  ],
}

/** Returns the body that issues a pass of the template. */
export const passOf = (template_id: unknown) => ({
  template_id,
  holder: { email: 'ada@example.com', name: 'Ada' },
  fields: { points: '12' },
})
