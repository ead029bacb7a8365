import { expect, it } from 'vitest'
import { addonTrouble } from '../../../lib/storage/sqlite/driver.ts'

it.each([
  ['20.19.0', '12.11.1'],
  ['22.13.1', '12.11.1'],
  ['22.14.0', '13.2.0'],
  ['24.18.1', '12.11.1'],
  ['24.21.0', '13.2.0'],
  ['26.0.0', '20.0.0'],
])('Node %s runs better-sqlite3 %s', (node, addon) => {
  expect(addonTrouble(node, addon)).toBe(undefined)
})

it.each([
  ['20.20.2', '13.2.0', 'better-sqlite3 13.2.0 needs Node 22.14 or later: install better-sqlite3@12'],
  ['22.13.1', '13.2.0', 'better-sqlite3 13.2.0 needs Node 22.14 or later: install better-sqlite3@12'],
  ['24.19.0', '12.11.1', 'This Node needs better-sqlite3 13, not 12.11.1: install better-sqlite3@13'],
  ['26.0.0', '12.11.1', 'This Node needs better-sqlite3 13, not 12.11.1: install better-sqlite3@13'],
])('Node %s does not load better-sqlite3 %s, which would end the process', (node, addon, message) => {
  expect(addonTrouble(node, addon)).toBe(message)
})
