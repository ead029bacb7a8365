import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDocument, type Shown } from '../../../examples/web-chat/src/markdown/document.ts'
import type { Block, Inline } from '../../../examples/web-chat/src/markdown/tokens.ts'
import { childrenOf, linesIn } from './blocks.ts'
import { commonmarkHtml } from './commonmark-html.ts'
import { HOSTILE_TEXTS } from './hostile-texts.ts'

/** An example of the specification, in which `→` is a tab. */
interface Example {
  number: number
  markdown: string
  html: string
}

const { tests: EXAMPLES } = createRequire(import.meta.url)('commonmark-spec') as { tests: Example[] }

/** The examples of CommonMark that the web chat shows otherwise, and why. */
const OTHERWISE: Record<number, string> = {
  25: 'Of the names of characters, it knows those of HTML 4: HTML 5 has two thousand, which take 12 kB.',
  602: 'An address is a link without angle brackets, as in the Markdown of GitHub.',
  608: 'An address is a link without angle brackets, as in the Markdown of GitHub.',
  611: 'An address is a link without angle brackets, as in the Markdown of GitHub.',
  612: 'An address of mail is a link without angle brackets, as in the Markdown of GitHub.',
}

describe('Markdown in the web chat', () => {
  it('is read as the examples of CommonMark are, but for a few by design', () => {
    expect(EXAMPLES.length).toBeGreaterThan(600)
    const others = EXAMPLES.filter(({ markdown, html }) => commonmarkHtml(tabs(markdown)) !== tabs(html))
    expect(others.map(({ number }) => number)).toEqual(Object.keys(OTHERWISE).map(Number))
  })

  it.each([
    ['@o`brien and @o`brien', ['@o`brien and @o`brien']],
    ['@o`brien, `@o`brien` and', ['@o`brien, ', { type: 'code', text: '@o`brien' }, ' and']],
    ['a `b` @_ada_ *c*', ['a ', { type: 'code', text: 'b' }, ' @_ada_ ', { type: 'em', inlines: ['c'] }]],
    ['mail@o`brien `', ['mail@o', { type: 'code', text: 'brien ' }]],
  ])('takes no mark from the name of a mention: %j', (text, inlines) => {
    const names = new Map([
      ['o`brien', false],
      ['_ada_', false],
    ])
    expect(parseDocument(text, undefined, names).shown.map(({ block }) => block)).toEqual([
      line(...(inlines as Inline[])),
    ])
  })

  it.each<[string, Block[]]>([
    ['0. zero', [list(0, ['zero'])]],
    ['7) seven\n8) eight', [list(7, ['seven', 'eight'])]],
    ['- [x] done\n- [ ] open', [list(undefined, ['done', 'open'], [true, false])]],
    ['~~gone~~ ~too~', [line({ type: 'del', inlines: ['gone'] }, ' ', { type: 'del', inlines: ['too'] })]],
    ['&copy; &hellip; &#x1F600; &nosuch;', [line('© … 😀 &nosuch;')]],
    [
      'see https://a.example/x_(y). Or (www.b.example)',
      [
        line(
          ...['see ', link('https://a.example/x_(y)'), '. Or (', link('www.b.example', 'http://www.b.example'), ')'],
        ),
      ],
    ],
    [
      'mail _ada@chat.example_',
      [line('mail ', { type: 'em', inlines: [link('ada@chat.example', 'mailto:ada@chat.example')] })],
    ],
    ['[https://a.example/](https://b.example/)', [line(link('https://a.example/', 'https://b.example/'))]],
    [
      'a | b\n:-: | -\n1 \\| 2 |',
      [{ type: 'table', aligns: ['center', undefined], header: [['a'], ['b']], rows: [[['1 | 2'], []]] }],
    ],
  ])('reads %j', (text, blocks) => {
    expect(parseDocument(text).shown.map(({ block }) => block)).toEqual(blocks)
  })

  it('parses a text that grows as it does one that is complete, and keeps what cannot have changed', () => {
    const text =
      'A [first] link\n\n- one\n\n- two [first]\n\n```js\nlet a\n\n# b\n```\n\n| a |\n|---|\n| *b* |\n\n> [first]: /a\nand\n' +
      '\n[first]: https://late.example\n[second]: https://x.example "T"\n\n[second] and [first]\n\nTitle\n=====\n\n[first]: /b\n'
    let grown = parseDocument('')
    for (let length = 1; length <= text.length; length++) {
      const before = grown
      grown = parseDocument(text.slice(0, length), before)
      expect(grown.shown).toEqual(parseDocument(text.slice(0, length)).shown)
      // Where no definition is another one, all but the last two parts are the same objects: they are not rendered again.
      if (JSON.stringify(grown.definitions) === JSON.stringify(before.definitions))
        expect(before.shown.slice(0, -2).every((part, index) => part === grown.shown[index])).toBe(true)
    }
    expect(linksOf(grown.shown)).toContain('/a')
  })

  it('parses any text that grows by pieces as it does one that is complete', () => {
    const MARKS = [
      'a',
      ' ',
      '\n',
      '\n\n',
      '> ',
      '- ',
      '1. ',
      '    ',
      '\t',
      '```',
      '# ',
      '=',
      '---',
      '|',
      '\n|-|\n',
      '*',
      '_',
    ]
    const OTHERS = [
      '[a]',
      '[a]: b',
      '[b]: <c> "d"',
      '](',
      ')',
      '<b>',
      '<!--',
      '-->',
      '\\',
      '&amp;',
      '~~',
      '`',
      'http://a.b',
      '\r\n',
    ]
    const pieces = fc.array(fc.array(fc.constantFrom(...MARKS, ...OTHERS), { maxLength: 8 }), { maxLength: 10 })
    fc.assert(
      fc.property(pieces, (all) => {
        let text = ''
        let grown = parseDocument('')
        for (const piece of all) {
          text += piece.join('')
          grown = parseDocument(text, grown)
          expect(grown.shown).toEqual(parseDocument(text).shown)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('renders what refers to a definition again when it comes, moves or changes', () => {
    const first = parseDocument('[a] is there\n\nplain')
    expect(linksOf(first.shown)).toEqual([])
    const later = parseDocument('[a] is there\n\nplain\n\n[a]: https://one.example', first)
    expect(linksOf(later.shown)).toEqual(['https://one.example'])
    expect([later.shown[0] === first.shown[0], later.shown[1]?.text]).toEqual([false, 'plain\n\n'])
    const moved = parseDocument('[a]: https://two.example\n\n[a] is there\n\nplain', later)
    expect(linksOf(moved.shown)).toEqual(['https://two.example'])
  })

  it.each([...HOSTILE_TEXTS])('shows %s within its budget of elements and depth, and all of the text', (_, text) => {
    const { shown } = parseDocument(text)
    const blocks = shown.flatMap(({ block }) => (block && block.type !== 'plain' ? [block] : []))
    expect(elementsIn(blocks)).toBeLessThan(4500)
    expect(depthOf(blocks)).toBeLessThan(100)
    const isWhole =
      shown
        .map((part) => part.text)
        .join('')
        .trim() === text.replaceAll('\r\n', '\n').trim()
    expect(isWhole).toBe(true)
    // Grown by a letter, it is not all parsed again where it was not the first time.
    expect(parseDocument(`${text}a`, parseDocument(text)).shown.length).toBeLessThan(4500)
  })

  it('shows what is behind the budget as the text it is', () => {
    const { shown } = parseDocument(`*first*\n\n${'- *a*\n'.repeat(8000)}`)
    expect(shown.map(({ block }) => block?.type)).toEqual(['paragraph', 'plain'])
    expect(shown[1]!.text).toBe('- *a*\n'.repeat(8000))
  })
})

function tabs(text: string): string {
  return text.replaceAll('→', '\t')
}

function line(...lines: Inline[]): Block {
  return { type: 'paragraph', lines }
}

function link(text: string, href = text): Inline {
  return { type: 'link', href, title: undefined, inlines: [text] }
}

function list(start: number | undefined, texts: string[], done: (boolean | undefined)[] = []): Block {
  const items = texts.map((text, index) => ({ isDone: done[index], blocks: [line(text)] }))
  return { type: 'list', start, isTight: true, items }
}

function linksOf(shown: readonly Shown[]): string[] {
  const inlines = shown.flatMap(({ block }) => (block && block.type !== 'plain' ? linesIn(block).flat() : []))
  return inlines.flatMap((inline) => (typeof inline !== 'string' && inline.type === 'link' ? inline.href : []))
}

function elementsIn(blocks: readonly Block[]): number {
  const inLines = (inlines: readonly Inline[]): number =>
    inlines.reduce(
      (sum, inline) => sum + (typeof inline === 'string' ? 0 : 1 + ('inlines' in inline ? inLines(inline.inlines) : 0)),
      0,
    )
  return blocks.reduce((sum, block) => {
    const children = childrenOf(block)
    const lines = children.length > 0 ? [] : linesIn(block)
    const own = block.type === 'code' ? 12 : block.type === 'table' ? lines.length : 1
    return sum + own + lines.reduce((all, inlines) => all + inLines(inlines), 0) + elementsIn(children)
  }, 0)
}

function depthOf(blocks: readonly Block[]): number {
  const ofLines = (inlines: readonly Inline[]): number =>
    Math.max(
      0,
      ...inlines.map((inline) => (typeof inline !== 'string' && 'inlines' in inline ? 1 + ofLines(inline.inlines) : 1)),
    )
  return Math.max(0, ...blocks.map((block) => 1 + Math.max(depthOf(childrenOf(block)), ...linesIn(block).map(ofLines))))
}
