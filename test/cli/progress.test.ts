import { expect, it } from 'vitest'
import { describeProgress } from '../../cli/progress.ts'

it.each([
  [{ done: 1200, total: 4800, unit: 'rows' }, 'messages: 1200 of about 4800 rows (25 %), 600 rows/s'],
  [{ done: 12, unit: 'MiB' }, 'messages: 12 MiB, 600 rows/s'],
  // An estimate may be too low.
  [{ done: 30, total: 20, unit: 'MiB' }, 'messages: 30 of about 20 MiB (100 %), 600 rows/s'],
])('the progress %j is shown as %j', (howFar, text) => {
  expect(describeProgress('messages', howFar, { rows: 1200, seconds: 2 })).toBe(text)
})
