import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { hrefOf, parseHash } from '../../examples/web-chat/src/app/route.ts'
import { cutName } from '../../examples/web-chat/src/files/cut-name.ts'
import { decodeText } from '../../examples/web-chat/src/markdown/entities.ts'
import { safeHref } from '../../examples/web-chat/src/markdown/links.ts'
import { plainExcerpt, plainOf } from '../../examples/web-chat/src/markdown/plain.ts'
import { texts as answers } from '../../examples/web-chat/src/texts/answers-en.ts'
import { texts as compose } from '../../examples/web-chat/src/texts/compose-en.ts'
import { directionOf } from '../../examples/web-chat/src/texts/direction.ts'
import { texts as entry } from '../../examples/web-chat/src/texts/entry-en.ts'
import { texts as integrations } from '../../examples/web-chat/src/texts/integrations-en.ts'
import { texts as first } from '../../examples/web-chat/src/texts/languages/en.ts'
import { texts as room } from '../../examples/web-chat/src/texts/room-en.ts'
import { texts as settings } from '../../examples/web-chat/src/texts/settings-en.ts'

it.each([
  ['https://example.org/a?b#c', 'https://example.org/a?b#c'],
  ['HTTP://example.org', 'http://example.org/'],
  ['mailto:ada@example.org', 'mailto:ada@example.org'],
  ...[
    'javascript:alert(1)',
    'JavaScript:x',
    ' java\nscript:x',
    'data:text/html,x',
    'vbscript:x',
    'blob:x',
    'file:///x',
  ].map((href) => [href, undefined]),
  ...['//example.org', '/path', '#anchor', '', 'example.org'].map((href) => [href, undefined]),
])('a link to %j leads to %j', (href, address) => {
  expect(safeHref(href!)).toBe(address)
})

it.each([
  ['a &amp; b &lt;i&gt; &quot;&apos;', 'a & b <i> "\''],
  ['&#65;&#x42;&#128077;', 'AB👍'],
  ['&copy; &constructor; &;&#;&#x;&#0;&#9999999;&#xD800;', '© &constructor; &;&#;&#x;\ufffd\ufffd\ufffd'],
  ['&EURO; &euro; \\&amp;', '&EURO; € &amp;'],
  ['&amp;lt;', '&lt;'],
])('resolves the references in %j once', (text, resolved) => {
  expect(decodeText(text)).toBe(resolved)
})

it.each([
  ['```ts\nconst a = 1\n```', 'const a = 1'],
  ['Look:\n~~~\nplain\n~~~ and', 'Look:\n\nplain\n and'],
  ['# A **bold** and ~~wrong~~ `word`', 'A bold and wrong word'],
  ['| Name | Age |\n|---|---:|\n| Ada | 36 |', 'Name | Age\nAda | 36'],
  ['Ages:\n\na | b\n--- | ---\n1 | 2', 'Ages:\n\na | b\n1 | 2'],
  ['a | b, --- and |x| ---', 'a | b, --- and |x| ---'],
  ['> quoted\n- one\n* two', 'quoted\none\ntwo'],
  ['[a link](https://example.org) ![picture](x.png)', 'a link picture'],
  ['*one*, _two_ and (*three*)', 'one, two and (three)'],
  ['2*3*4 \\*a* _b', '2*3*4 \\*a* _b'],
  ['a - b * c, 2 ** 3 ** 4, snake_case_name, <b>', 'a - b * c, 2 ** 3 ** 4, snake_case_name, <b>'],
  ['- [ ] four\n- [x] five', 'four\nfive'],
  ['```', '```'],
  ['', ''],
])('the excerpt %j is shown as %j', (excerpt, plain) => {
  expect(plainOf(excerpt)).toBe(plain)
})

/** An excerpt from a text in which `[` and `]` mark what was found. */
function marked(text: string) {
  const plain = text.replace(/[[\]]/g, '')
  const starts = Array.from(text.matchAll(/\[/g), ({ index }, n) => index - 2 * n)
  const ends = Array.from(text.matchAll(/\]/g), ({ index }, n) => index - 2 * n - 1)
  return { text: plain, ranges: starts.map((start, n) => [start, ends[n]!]) }
}

it.each([
  ['the **[steam]** engine', 'the [steam] engine'],
  ['# [One] and [two]', '[One] and [two]'],
  ['**a [b] c** `[d]`', 'a [b] c [d]'],
  ['`a` **b**', 'a b'],
  ['😀 [😀] ~~[x]~~', '😀 [😀] [x]'],
  ['\ufdd0 a [b\ufdd1]', 'a [b]'],
])('of the excerpt %j the words found stay marked: %j', (excerpt, plain) => {
  expect(plainExcerpt(marked(excerpt))).toEqual(marked(plain))
})

it('an excerpt marks nothing in what is left out of it', () => {
  expect(plainExcerpt({ text: '[a](https://steam.example) b', ranges: [[12, 17]] })).toEqual({
    text: 'a b',
    ranges: [],
  })
})

it.each([
  ['short-name.pdf', 'short-name.pdf', ''],
  ['a-report-of-the-whole-year-v2.pdf', 'a-report-of-the-whole-yea', 'r-v2.pdf'],
  ['a-name-that-is-long-and-has-none', 'a-name-that-is-long-and-has-', 'none'],
  ['a.sentence with a dot and many words', 'a.sentence with a dot and many w', 'ords'],
  ['.a-hidden-file-with-a-long-name', '.a-hidden-file-with-a-long-', 'name'],
  [
    'families-👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧.tar.gz',
    'families-👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧',
    '.tar.gz',
  ],
])('the name of a file %j is cut behind %j', (name, beginning, end) => {
  expect(cutName(name)).toEqual([beginning, end])
})

it.each([
  ['', { name: 'home' }],
  ['#/', { name: 'home' }],
  ['#/elsewhere/1', { name: 'home' }],
  ['#/c/1', { name: 'conversation', conversation_id: '1' }],
  ['#/c/1/x/2', { name: 'conversation', conversation_id: '1' }],
  ['#/c/1/t/2', { name: 'thread', conversation_id: '1', root_id: '2' }],
  ['#/c/1/t/2/m/', { name: 'thread', conversation_id: '1', root_id: '2' }],
  ['#/c/1/t/2/m/3', { name: 'thread', conversation_id: '1', root_id: '2', message_id: '3' }],
  ['#/c/1/details/people', { name: 'details', conversation_id: '1', tab: 'people' }],
  ['#/c/1/details', { name: 'details', conversation_id: '1', tab: '' }],
  ['#/account/bots', { name: 'account', tab: 'bots' }],
  ['#/account/bots/1', { name: 'account', tab: 'bots', id: '1' }],
  ['#/administration/users/1', { name: 'administration', tab: 'users', id: '1' }],
  ['#/join/abc', { name: 'join', token: 'abc' }],
  ['#/welcome/abc', { name: 'welcome', token: 'abc' }],
  ['#/change-email/abc', { name: 'change-email', token: 'abc' }],
  ['#/reset/', { name: 'home' }],
])('the address %j is a route', (hash, route) => {
  expect(parseHash(hash)).toEqual(route)
  expect(parseHash(hrefOf(parseHash(hash)))).toEqual(route)
})

it.each([
  ['en', 'ltr'],
  ['de', 'ltr'],
  ['ar', 'rtl'],
  ['he', 'rtl'],
])('%s is written %s', (language, direction) => {
  expect(directionOf(language)).toBe(direction)
})

const LANGUAGES = fileURLToPath(new URL('../../examples/web-chat/src/texts/languages/', import.meta.url))

/** The place and the kind of each text. */
function placesOf(texts: object, above = ''): string[] {
  return Object.entries(texts).flatMap(([key, text]) =>
    typeof text === 'object' ? placesOf(text, `${above}${key}.`) : [`${above}${key}: ${typeof text}`],
  )
}

it.each(readdirSync(LANGUAGES).map((name) => name.replace(/\.ts$/, '')))(
  'the language %s has every text',
  async (code) => {
    const { texts } = await import(`${LANGUAGES}${code}.ts`)
    const wanted =
      code === 'en' ? first : { ...first, ...answers, ...compose, ...entry, ...room, ...settings, ...integrations }
    expect(placesOf(texts).sort()).toEqual(placesOf(wanted).sort())
    expect(new Intl.DisplayNames([code], { type: 'language', fallback: 'none' }).of(code)).toBeTruthy()
  },
)
