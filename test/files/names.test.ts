import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { contentDisposition } from '../../lib/files/names.ts'
import { FileName, MediaType } from '../../lib/files/schema.ts'

describe('the name of a file', () => {
  it.each(['a', 'Bericht (1).pdf', '.htaccess', '...', 'x'.repeat(255), 'é日本語👍.png', 'CON', 'a:b'])(
    'may be %j',
    (name) => {
      expect(v.is(FileName, name)).toBe(true)
    },
  )

  it.each([
    '',
    ' ',
    '.',
    '..',
    'a/b',
    'a\\b',
    'a\0',
    'a\n',
    '\x7F',
    '\x85',
    '\u2028',
    '\uD800',
    'x'.repeat(256),
    7,
    null,
  ])('may not be %j', (name) => {
    expect(v.is(FileName, name)).toBe(false)
  })
})

describe('the media type of a file', () => {
  it.each(['image/png', 'application/vnd.api+json', 'text/plain; charset=utf-8', 'a/b;c="d e;\\"f"', 'TEXT/HTML'])(
    'may be %j',
    (type) => {
      expect(v.is(MediaType, type)).toBe(true)
    },
  )

  it.each(['', 'png', 'image/', '/png', 'image/png\n', 'image/png;', 'a/b;c', 'a b/c', 'é/a', `a/${'b'.repeat(126)}`])(
    'may not be %j',
    (type) => {
      expect(v.is(MediaType, type)).toBe(false)
    },
  )
})

describe('a disposition', () => {
  it.each([
    ['a b.pdf', 'a b.pdf', 'a%20b.pdf'],
    ['Rätsel.pdf', 'Ratsel.pdf', 'R%C3%A4tsel.pdf'],
    ['日本.png', '__.png', '%E6%97%A5%E6%9C%AC.png'],
    ['a"; x="b.html', 'a_; x=_b.html', 'a%22%3B%20x%3D%22b.html'],
    ["it's (1)*.txt", "it's (1)*.txt", 'it%27s%20%281%29%2A.txt'],
    ['100%41.txt', '100_41.txt', '100%2541.txt'],
    ['．．／etc／＼x', '.._etc__x', '%EF%BC%8E%EF%BC%8E%EF%BC%8Fetc%EF%BC%8F%EF%BC%BCx'],
    ['．．', '_', '%EF%BC%8E%EF%BC%8E'],
  ])('of %j', (name, plain, extended) => {
    expect(contentDisposition('attachment', name)).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${extended}`)
  })

  it('is one header line from which the name is read again, whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const header = contentDisposition('inline', name)
        const [, plain, extended] = /^inline; filename="([\x20-\x7E]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(
          header,
        )!
        expect(plain).not.toMatch(/["\\%/]|^\.{1,2}$/)
        expect(decodeURIComponent(extended!)).toBe(name)
        expect(new Headers({ 'content-disposition': header }).get('content-disposition')).toBe(header)
      }),
    )
    expect(contentDisposition('attachment', '\uD800')).toContain('%EF%BF%BD')
  })
})
