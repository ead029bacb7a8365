import { describe, expect, it } from 'vitest'
import { durationText } from '../../../examples/web-chat/src/answers/duration-text.ts'
import { filesOf } from '../../../examples/web-chat/src/answers/files-of.ts'
import { sourcesOf } from '../../../examples/web-chat/src/answers/sources-of.ts'
import { valueText } from '../../../examples/web-chat/src/answers/visible-text.ts'
import type { StoreMessage } from '../../../lib/client/store/index.ts'

describe('a value of a tool', () => {
  it.each([
    ['a string', 'two\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['a direction override', 'pay \u202Eeva', 'pay \\u{202e}eva'],
    ['isolates', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
    ['characters without a width', 'a\u200Bb\u00ADc\uFEFF', 'a\\u{200b}b\\u{ad}c\\u{feff}'],
    ['fillers and blanks that are no spaces', '\u3164\u2800', '\\u{3164}\\u{2800}'],
    ['tags beyond the first plane', '\u{E0041}', '\\u{e0041}'],
    ['controls and separators', 'a\u0007\u2028b\r', 'a\\u{7}\\u{2028}b\\u{d}'],
    ['HTML, which stays text', '<b>&amp;</b>', '<b>&amp;</b>'],
    ['an object', { to: 'a\u202Eb', amount: 5 }, '{\n  "to": "a\\u{202e}b",\n  "amount": 5\n}'],
    ['a key', { 'a\u202Eb': 1 }, '{\n  "a\\u{202e}b": 1\n}'],
    ['null', null, 'null'],
    ['an empty string', '', ''],
  ])('shows %s', (_, value, text) => {
    expect(valueText(value)).toBe(text)
  })
})

describe('the sources of an answer', () => {
  const source = (fields: object) => ({ id: 0, type: 'source' as const, ...fields })

  it('are numbered in their order, each page and each file once', () => {
    expect(
      sourcesOf([
        source({ url: 'https://one.example/a', title: 'One' }),
        { id: 1, type: 'text', text: 'in between' },
        source({ url: 'http://two.example:8080/b' }),
        source({ url: 'https://one.example/a', title: 'One again' }),
        source({ filename: 'report.pdf', media_type: 'application/pdf' }),
        source({ filename: 'report.pdf', media_type: 'application/pdf' }),
      ]).map(({ href, host, title }) => [href, host, title]),
    ).toEqual([
      ['https://one.example/a', 'one.example', 'One'],
      ['http://two.example:8080/b', 'two.example:8080', 'two.example:8080'],
      [undefined, undefined, 'report.pdf'],
    ])
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'ftp://one.example', '//one.example', 'one.example', ''])(
    'have no link to %j, even with a title',
    (url) => {
      expect(sourcesOf([source({ url, title: 'A page' })])).toEqual([])
    },
  )

  it('show the characters of a name that are not seen', () => {
    const [{ title } = {}] = sourcesOf([source({ filename: 'a\u202Efdp.exe', media_type: 'text/plain' })])
    expect(title).toBe('a\\u{202e}fdp.exe')
  })
})

it.each([
  [0, '0 s'],
  [7.6, '8 s'],
  [59.6, '1 min'],
  [65, '1 min 5 s'],
  [3_600, '1 h'],
  [11_400, '3 h 10 min'],
  [90_000, '25 h'],
  [-3, '0 s'],
])('%s seconds are read as %j', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})

describe('the files of an answer', () => {
  const part = { id: 3, type: 'file' as const, attachment_id: 'f1', name: 'a.csv', media_type: 'text/csv', size: 9 }
  const created_at = '2026-01-01T00:00:00.000Z'
  const file = { id: 'f1', name: 'a.csv', type: 'text/csv', size: 9, status: 'ready' as const, created_at }
  const answer = (fields: object) => ({ created_at, ...fields }) as StoreMessage

  it('are those of its parts while it is written', () => {
    expect(filesOf(answer({ parts: [part] }))).toEqual([file])
  })

  it('are its attachments once it has them, each once', () => {
    const thumbnail = { ...file, thumbnail: true as const }
    expect(filesOf(answer({ parts: [part], attachments: [thumbnail] }))).toEqual([thumbnail])
  })
})
