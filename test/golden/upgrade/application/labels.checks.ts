import assert from 'node:assert/strict'
import test from 'node:test'
import { addGift, labelOf, labelsInBack, open } from './labels.ts'

const client = open(process.env.BASE_URL ?? '')

test('a gift has a label, and is found in the back', async () => {
  const book = await addGift(client, { title: 'Sky', author: 'Grace', born: 1906 })
  assert.equal(labelOf(book), 'Sky – Grace (1906), grey, Back')
  const [label = '', ...others] = await labelsInBack(client, [book.id])
  assert.match(label, /^Sky – Grace \(1906\), grey, Back, \d+ pages, \d+ letters$/)
  assert.deepEqual(others, [])
})

test('a book without a known shelf is elsewhere', async () => {
  const book = await addGift(client, { title: 'Sea', author: 'Ada', born: 1815 })
  assert.equal(labelOf({ ...book, shelf: 'attic' }), 'Sea – Ada (1815), grey, elsewhere')
  assert.equal(labelOf({ ...book, shelf: 'frontRoom' }), 'Sea – Ada (1815), grey, Front')
})
