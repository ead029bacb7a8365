import { expect, it } from 'vitest'
import { hasWords, matching } from '../../../examples/web-chat/src/switch/matching.ts'

const NAMES = ['Steam engines', 'Engines', 'Étude', 'Search-engine team', 'nonengine', 'x']

it.each([
  ['engine', ['Engines', 'Steam engines', 'Search-engine team', 'nonengine']],
  ['  ENGINE  search ', ['Search-engine team']],
  ['etu', ['Étude']],
  ['absent', []],
  ['', NAMES],
])('for %j it offers %j', (query, found) => {
  expect(matching(NAMES, query, (name) => name)).toEqual(found)
})

it('offers eight at most, and keeps the order of those that match alike', () => {
  const names = Array.from({ length: 20 }, (_, index) => `room ${index}`)
  expect(matching(names, 'room', (name) => name)).toEqual(names.slice(0, 8))
})

it.each([
  ['ada.byron Ada Lovelace', 'love', true],
  ['ada.byron Ada Lovelace', 'LO ad', true],
  ['paul Paul von Höhenheim', 'hohen', true],
  ['ada Ada Lovelace', 'lace', false],
  ['ada Ada Lovelace', 'ada grace', false],
])('in %j the words %j are found: %j', (name, query, found) => {
  expect(hasWords(name, query)).toBe(found)
})
