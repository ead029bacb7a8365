import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../cli/config/load.ts'
import { ConfigError, parseConfig } from '../../lib/config/parse.ts'

const ENTRY = { path: 'security.txt', content_type: 'text/plain; charset=utf-8', body: 'Contact: x' }

describe('well_known.entries', () => {
  it.each([
    ['a table of texts', { 'security.txt': 'Contact: x' }],
    ['a table of tables', { 'security.txt': { body: 'Contact: x' } }],
    ['a list', [{ path: 'security.txt', body: 'Contact: x' }]],
    ['what it makes of them', [ENTRY]],
  ])('accepts %s', (_, entries) => {
    expect(parseConfig({ well_known: { entries } }).well_known.entries).toEqual([ENTRY])
  })

  it('is empty by default', () => {
    expect(parseConfig().well_known.entries).toEqual([])
  })

  it.each([
    [5, 'must be a table of paths'],
    ['text', 'must be a table of paths'],
    [null, 'must be a table of paths'],
    [new Map(), 'must be a table of paths'],
    [{ '': 'x' }, '"" has a path that is none'],
    [{ '/security.txt': 'x' }, '"/security.txt" has a path that is none'],
    [{ 'security.txt/': 'x' }, 'has a path that is none'],
    [{ 'a//b': 'x' }, 'has a path that is none'],
    [{ '../x': 'x' }, '"../x" has a path with . or .. in it'],
    [{ 'a/./b': 'x' }, 'has a path with . or .. in it'],
    [{ 'a\nb': 'x' }, '"a\\nb" has a path that is none'],
    [{ 'a\u0000': 'x' }, 'has a path that is none'],
    [{ 'a b': 'x' }, 'has a path that is none'],
    [{ 'a%20b': 'x' }, 'has a path that is none'],
    [{ 'a?b': 'x' }, 'has a path that is none'],
    [{ 'a#b': 'x' }, 'has a path that is none'],
    [{ ünï: 'x' }, 'has a path that is none'],
    [{ ['x'.repeat(256)]: 'x' }, 'has a path of more than 255 characters'],
    [JSON.parse('{ "__proto__": "x" }'), '"__proto__" has a path with __proto__, constructor, prototype in it'],
    [JSON.parse('{ "__proto__": { "body": "x" } }'), '"__proto__" has a path with'],
    [JSON.parse('{ "a/__proto__": "x" }'), '"a/__proto__" has a path with'],
    [{ constructor: 'x' }, '"constructor" has a path with'],
    [[{ path: '__proto__', body: 'x' }], 'entry 1 has a path with'],
    [
      [
        { path: 'a', body: 'x' },
        { path: 'a', body: 'y' },
      ],
      'entry 2 has a path that another entry has',
    ],
    [[{ body: 'x' }], 'entry 1 must have a path'],
    [['text'], 'entry 1 must be a text, or a table with body'],
    [{ a: 5 }, '"a" must be a text, or a table with body'],
    [{ a: ['x'] }, '"a" must be a text, or a table with body'],
    [{ a: {} }, '"a" must have a text for a body'],
    [{ a: { body: 5 } }, '"a" must have a text for a body'],
    [{ a: '\uD800' }, '"a" must have a text for a body, without NUL and lone surrogates'],
    [{ a: { body: 'x', content_type: 'text' } }, '"a" has a content_type that is none'],
    [{ a: { body: 'x', content_type: 'text/plain\r\nx: y' } }, '"a" has a content_type that is none'],
    [{ a: { body: 'x', content_type: '' } }, '"a" has a content_type that is none'],
    [{ a: { body: 'x', type: 'text/plain' } }, '"a" has a key that is none of content_type, body'],
    [{ a: { body: 'x', path: 'b' } }, '"a" has a key that is none of content_type, body'],
    // In TOML, a path without quotes: `security.txt = "…"`.
    [{ security: { txt: 'x' } }, '"security" has no body; a path with a dot in it is written in quotes'],
    [{ 'a b': 'x', c: 5 }, '"a b" has a path that is none'],
    [{ 'a b': 'x', c: 5 }, '; "c" must be a text'],
  ])('refuses %j', (entries, message) => {
    const error = errorOf(() => parseConfig({ well_known: { entries } }))
    expect(error.problems).toEqual([{ key: 'well_known.entries', message: expect.stringContaining(message) }])
    expect('body' in {}).toBe(false)
  })

  it('never repeats a body', () => {
    const entries = { a: { body: 'hunter2', content_type: 'hunter2' }, b: { hunter2: 'hunter2', body: 'hunter2' } }
    expect(errorOf(() => parseConfig({ well_known: { entries } })).message).not.toContain('hunter2')
  })

  it.each([
    ['toml', '[well_known.entries]\n"security.txt" = "Contact: x"\n'],
    ['toml', '[well_known.entries."security.txt"]\nbody = "Contact: x"\n'],
    ['toml', '[[well_known.entries]]\npath = "security.txt"\nbody = "Contact: x"\n'],
    ['yaml', 'well_known:\n  entries:\n    security.txt: "Contact: x"\n'],
    ['json', '{ "well_known": { "entries": { "security.txt": "Contact: x" } } }'],
  ])('comes from a file in %s: %s', (format, text) => {
    expect(loadConfig({ config: fileWith(format, text) }, {}).config.well_known.entries).toEqual([ENTRY])
  })

  it.each([
    ['toml', '[well_known.entries]\n"__proto__" = "x"\n'],
    ['toml', '[well_known.entries.__proto__]\nbody = "x"\n'],
    ['toml', '[[well_known.entries]]\npath = "__proto__"\nbody = "x"\n'],
    ['yaml', 'well_known:\n  entries:\n    __proto__: x\n'],
    ['json', '{ "well_known": { "entries": { "__proto__": { "body": "x" } } } }'],
  ])('refuses __proto__ in %s: %s', (format, text) => {
    const file = fileWith(format, text)
    const { message } = errorOf(() => loadConfig({ config: file }, {}))
    expect(message).toMatch(/^well_known\.entries: .*__proto__.* \(.*, line [12]\)$/)
    expect('body' in {}).toBe(false)
  })

  it('comes from the environment as JSON', () => {
    const load = (text: string) => loadConfig({}, { CHAT_WELL_KNOWN__ENTRIES: text })
    expect(load('{"security.txt": "Contact: x"}').config.well_known.entries).toEqual([ENTRY])
    expect(load('[{"path": "security.txt", "body": "Contact: x"}]').config.well_known.entries).toEqual([ENTRY])
    for (const text of ['', 'security.txt', '5', '{"a":'])
      expect(errorOf(() => load(text)).message).toMatch(/^well_known\.entries: must be .*\(CHAT_WELL_KNOWN__ENTRIES\)$/)
  })
})

function fileWith(format: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-well-known-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, `chat-server.${format}`)
  writeFileSync(path, text)
  return path
}

function errorOf(load: () => unknown): ConfigError {
  try {
    load()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('It should have been refused')
}
