import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { expand } from '../../../lib/http/openapi/schemas.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { textsOf } from '../../support/texts.ts'

// JSON Schema cannot express checks by code: a pattern describes what a check refuses, and these tests fail when the
// two disagree.

/** What the short patterns of texts that must be visible let through: their descriptions say that it is refused. */
const BEYOND_PATTERNS = [
  '\u2800',
  '\u3164',
  'a\ufe0f',
  '\u{E0001}a',
  '\u3000a',
  '\u00a0.',
  '€'.repeat(24),
  '😀'.repeat(18),
]

const SAMPLES = [
  '',
  ' ',
  '\t',
  'a',
  'a ',
  ' a',
  'ab',
  'a b',
  ' ab ',
  'a\u0000b',
  'a\nb',
  'a\u200bb',
  '\u200b',
  '\ufeffab',
  'a\u202eb',
  'a\u2028b',
  'é€😀',
  '😀',
  'ada@example.org',
  ' ada@example.org ',
  'a.b+c@x-y.example',
  'ada@example.org\n',
  'ada@-example.org',
  '.ada@example.org',
  '\uFF21da@example.org',
  '/',
  '/chat',
  '/chat/',
  '/a/../b?c=//d#e',
  '//evil.example',
  '/.//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'https://evil.example',
  'correct horse battery',
  'é'.repeat(36),
  'é'.repeat(37),
  'x'.repeat(72),
  'x'.repeat(73),
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(101),
  'x'.repeat(201),
  'x'.repeat(255),
  '0123456789_01890000-0000-7000-8000-000000000000',
  '1010',
  '10.',
  'key-1',
  '2026-11-22T10:00:00Z',
  '01890000-0000-7000-8000-000000000000',
  'E3E70682-C209-1CAC-A29F-6FBED82C07CD',
]

interface TextSchema {
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  description?: string
}

function allows({ pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: TextSchema, text: string): boolean {
  const { length } = [...text]
  return length >= minLength && length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(text))
}

const FIELDS = allRoutes.flatMap(([name, { query, body, headers }]) =>
  [query, body, headers].flatMap((whole) => (whole ? textsOf(whole) : []).map((field) => ({ name, ...field }))),
)

describe.each(FIELDS)('$path of $name', ({ schema, path }) => {
  const described = expand(schema) as TextSchema

  it('has a maximum length, or a format that implies one', () => {
    expect(described.maxLength ?? described.format ?? described.pattern).toBeDefined()
  })

  it('is described as it is refused', () => {
    if (described.format) return
    for (const text of SAMPLES) {
      const is_allowed = allows(described, text)
      // Passwords may have more than JSON Schema can say, but no cursor is refused here: its list does that.
      if (/password/.test(path) || /after|before|around|cursor/.test(path))
        expect(!is_allowed || v.is(schema, text), text).toBe(true)
      else expect(v.is(schema, text), JSON.stringify(text)).toBe(is_allowed)
    }
  })

  it('is described in words where its pattern lets more through', () => {
    if (described.format) return
    for (const text of BEYOND_PATTERNS) {
      const [is_accepted, is_allowed] = [v.is(schema, text), allows(described, text)]
      if (is_accepted)
        expect(is_allowed || /password|after|before|around|cursor/.test(path), JSON.stringify(text)).toBe(true)
      else if (is_allowed) expect(described.description).toMatch(/visible|emoji/i)
    }
  })
})
