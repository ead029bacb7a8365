import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accentTokens, contrast, type Rgb } from '../../examples/web-chat/src/app/palette.ts'

const STYLES = new URL('../../examples/web-chat/src/styles/', import.meta.url)

/** Each declaration of the style sheets. */
const declarations = readdirSync(STYLES).flatMap((file) => {
  const text = readFileSync(new URL(file, STYLES), 'utf8').replace(/\/\*.*?\*\//gs, '')
  return [...text.matchAll(/([\w-]+):\s+([^;{}]+);/g)].map(([, name, value]) => ({
    file,
    name: name!,
    value: value!.replace(/url\("[^"]*"\)/g, '').replace(/\s+/g, ' '),
  }))
})
const isToken = ({ name }: { name: string }) => name.startsWith('--chat-')
const tokens = new Map(
  declarations
    .filter(isToken)
    .map(({ name, value }) => [name, value] as const)
    .reverse(),
)
const rules = declarations.filter((each) => !isToken(each))

/** What a value still states once its tokens are taken out. */
const ownValue = (value: string) => value.replace(/var\(--chat-[\w-]+\)/g, '').trim()

const KEYWORDS = /^(inherit|none|0|transparent|currentcolor|Highlight|dashed|solid|collapse|[123]px|\s)*$/

/** What a declaration may say besides tokens. */
const ALLOWED: [properties: RegExp, own: RegExp][] = [
  [/^(color|background(-color)?|border(-\w+)*|outline(-color)?|accent-color|fill|stroke)$/, KEYWORDS],
  [/^(font-size|border-radius|box-shadow)$/, /^(inherit|none|0|\s)*$/],
  [/^font$/, /^(inherit|600|\s|\/ [\d.]+)*$/],
  [
    /^((padding|margin)(-\w+)*|(row-|column-)?gap)$/,
    /^((calc|min|max|clamp)\(|\)|,|\*|-?1|auto|0|-?[12]px|5vw|\+|1ch|env\([\w-]+\)|var\(--level, 0\)|var\(--indent\)|var\(--digits, 1\)|\s)*$/,
  ],
  [/^(animation|transition)$/, /^(?!.*\d(ms|s)\b)/],
]

describe('the style sheets', () => {
  it('have at most 60 tokens, each of which is declared in one place and used', () => {
    expect(tokens.size).toBeLessThanOrEqual(60)
    expect([...new Set(declarations.filter(isToken).map(({ file }) => file))]).toEqual(['base.css'])
    const used = new Set(declarations.flatMap(({ value }) => value.match(/--chat-[\w-]+/g) ?? []))
    expect([...used].filter((name) => !tokens.has(name))).toEqual([])
    expect([...tokens.keys()].filter((name) => !used.has(name))).toEqual([])
  })

  it('state no color, size of text, space, radius, shadow or duration but by a token', () => {
    const wrong = rules.filter(({ name, value }) => {
      const own = ownValue(value)
      if (/#[\da-f]{3,8}\b|\b(rgb|hsl|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark)\(/i.test(own)) return true
      const isGradient = /^background/.test(name) && own.includes('gradient(')
      return !isGradient && ALLOWED.some(([properties, allowed]) => properties.test(name) && !allowed.test(own))
    })
    expect(wrong).toEqual([])
    expect(rules.length).toBeGreaterThan(500)
  })

  it('have the sizes of text, the space and the durations of the design', () => {
    const values = (part: string) => [...tokens].filter(([name]) => name.startsWith(part)).map(([, value]) => value)
    const pixels = (part: string) => values(part).map((value) => Number(/^([\d.]+)rem$/.exec(value)?.[1]) * 16)
    expect(pixels('--chat-text-').sort((a, b) => a - b)).toEqual([12, 13, 15, 17, 22])
    for (const space of pixels('--chat-space-')) expect(space % 4).toBe(0)
    expect(values('--chat-motion')).toEqual(expect.arrayContaining(['120ms', '200ms']))
  })
})

const SCHEMES = ['light', 'dark'] as const

/** A token as a color of a scheme. */
function colorOf(name: string, scheme: (typeof SCHEMES)[number]): Rgb {
  const value = tokens.get(name)!
  const [light, dark = light] = value.match(/#[\da-f]{6}/g)!
  const hex = (scheme === 'light' ? light : dark)!
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb
}

const SURFACES = ['--chat-surface', '--chat-sunken', '--chat-raised', '--chat-hover']
const TEXTS = ['--chat-text', '--chat-quiet']

/** Every contrast that is too low: of texts on all surfaces, of lines, and of what stands on the accent. */
function faultsOf(accent: Record<string, Rgb>, scheme: (typeof SCHEMES)[number]): string[] {
  const color = (name: string) => accent[name] ?? colorOf(name, scheme)
  const pairs: [text: string, below: string, min: number][] = [
    ...[...SURFACES, '--chat-accent-soft'].flatMap((below): [string, string, number][] => [
      ...[...TEXTS, '--chat-accent-text'].map((text): [string, string, number] => [text, below, 4.5]),
      ['--chat-control-line', below, 3],
    ]),
    ['--chat-on-accent', '--chat-accent', 4.5],
    ['--chat-on-accent', '--chat-accent-hover', 4.5],
  ]
  return pairs
    .filter(([text, below, min]) => contrast(color(text), color(below)) < min)
    .map(([text, below]) => `${text} on ${below}: ${contrast(color(text), color(below))}`)
}

describe.each(SCHEMES)('the %s colors', (scheme) => {
  it('are readable', () => {
    expect(faultsOf({}, scheme)).toEqual([])
    for (const below of SURFACES) {
      for (const text of ['danger', 'code-keyword', 'code-string', 'code-number', 'code-title', 'code-type'])
        if (below !== '--chat-hover')
          expect([text, below, contrast(colorOf(`--chat-${text}`, scheme), colorOf(below, scheme)) >= 4.5]).toEqual([
            text,
            below,
            true,
          ])
    }
    for (const [text, below] of [
      ['danger', 'danger-soft'],
      ['text', 'marked'],
      ['on-badge', 'badge'],
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((n) => ['on-avatar', `avatar-${n}`]),
    ])
      expect([
        text,
        below,
        contrast(colorOf(`--chat-${text}`, scheme), colorOf(`--chat-${below}`, scheme)) >= 4.5,
      ]).toEqual([text, below, true])
  })

  it('of the default brand are those that follow from its color', () => {
    for (const [name, value] of Object.entries(accentTokens(colorOf('--chat-accent', scheme), scheme)))
      expect([name, colorOf(name, scheme)]).toEqual([name, value])
  })

  it('stay readable with 500 brands', () => {
    // The same colors at every run, and those that are hard: yellow, the reds between black and white, both ends.
    let seed = scheme === 'light' ? 1 : 2
    const part = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % 256
    }
    const brands: Rgb[] = Array.from({ length: 500 }, () => [part(), part(), part()])
    brands.push([255, 214, 0], [229, 57, 53], [0, 0, 0], [255, 255, 255], [128, 128, 128])
    for (const brand of brands) expect([brand, faultsOf(accentTokens(brand, scheme), scheme)]).toEqual([brand, []])
  })
})
