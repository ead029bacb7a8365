import { describe, expect, it } from 'vitest'
import { parseDocument } from '../../../examples/web-chat/src/markdown/document.ts'
import { foldedCount } from '../../../examples/web-chat/src/markdown/piece.ts'
import { piecesOf, type ShownPiece } from '../../../examples/web-chat/src/markdown/pieces.ts'
import { type Block, type Inline, textOf } from '../../../examples/web-chat/src/markdown/tokens.ts'
import { childrenOf, linesIn } from './blocks.ts'
import { HOSTILE_TEXTS } from './hostile-texts.ts'

/** What a step of the page lays out at most. */
const MAX = { elements: 1700, lines: 2100, others: 2600, letters: 120_100 }

describe('the pieces of a message', () => {
  it.each([...HOSTILE_TEXTS].flatMap(([name, text]) => worstOf(name, text)))('are bounded: %s', (_, text) => {
    const pieces = piecesOf(parseDocument(text).shown)
    for (const { parts } of pieces) {
      const size = sizeOf(parts)
      for (const [unit, max] of Object.entries(MAX))
        expect([unit, size[unit as keyof typeof MAX] <= max]).toEqual([unit, true])
    }
    const before = pieces.slice(0, foldedCount(pieces)).flatMap(({ parts }) => parts)
    expect(sizeOf(before).lines).toBeLessThanOrEqual(MAX.lines)
    // Nothing is lost.
    const letters = (from: string) => from.replace(/\s/g, '').length
    const whole = parseDocument(text).shown.map(toText).join('')
    expect(letters(pieces.flatMap(({ parts }) => withoutHeads(parts).map(toText)).join(''))).toBe(letters(whole))
  })

  it.each([
    ['64 KiB of prose', 'Lorem ipsum dolor sit amet, consectetur adipiscing elit. '.repeat(1150)],
    ['prose in many paragraphs', `${'Lorem ipsum dolor sit amet. '.repeat(20)}\n\n`.repeat(110)],
    ['a long program', `\`\`\`js\n${'\tconst value = compute(1, 2, 3) // it is\n'.repeat(1000)}\`\`\``],
    ['a long table', `|a|b|c|d|\n|-|-|-|-|\n${'|1|2|3|4|\n'.repeat(250)}`],
    ['a long list', '- an item with **bold** words and `code`\n'.repeat(300)],
    ['a long text in Chinese', `${'漢字かな交じり文。'.repeat(40)}\n\n`.repeat(6)],
    ['a long text in Russian', `${'Привет, мир! Это текст. '.repeat(40)}\n\n`.repeat(12)],
    ['a long text in Arabic', `${'مرحبا بالعالم، هذا نص. '.repeat(40)}\n\n`.repeat(8)],
  ])('are one, which is as it was, for %s', (_, text) => {
    const { shown } = parseDocument(text)
    const pieces = piecesOf(shown)
    expect(pieces).toHaveLength(1)
    expect(pieces[0]!.parts).toEqual(shown)
    expect(pieces[0]!.parts.every((part, index) => part === shown[index])).toBe(true)
  })

  it('go on with the numbers of a list', () => {
    const blocks = blocksOf('1. one\n'.repeat(1500))
    expect(blocks.length).toBeGreaterThan(1)
    let next = 1
    for (const block of blocks) {
      const { start, items } = block as Extract<Block, { type: 'list' }>
      expect(start).toBe(next)
      next += items.length
    }
    expect(next).toBe(1501)
  })

  it('have the head of a table each', () => {
    const blocks = blocksOf(`|a|b|c|d|\n|-|-|-|-|\n${'|1|2|3|4|\n'.repeat(600)}`)
    expect(blocks.length).toBeGreaterThan(1)
    const tables = blocks.map((block) => block as Extract<Block, { type: 'table' }>)
    expect(tables.map(({ header }) => header.length)).toEqual(tables.map(() => 4))
    expect(tables.reduce((sum, { rows }) => sum + rows.length, 0)).toBe(600)
  })

  it('have a code in parts of lines, of which the first one has all to be copied', () => {
    const code = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join('\n')
    const blocks = blocksOf(`\`\`\`\n${code}\n\`\`\``).map((block) => block as Extract<Block, { type: 'code' }>)
    expect(blocks.length).toBeGreaterThan(1)
    expect(blocks.map(({ text }) => text).join('')).toBe(code)
    expect(blocks.slice(0, -1).every(({ text }) => text.endsWith('\n'))).toBe(true)
    expect(blocks.map(({ whole }) => whole)).toEqual([code, ...blocks.slice(1).map(() => undefined)])
  })

  it('end behind a line of a paragraph, and keep its marks', () => {
    const blocks = blocksOf(`${'漢字かな交じり **文** \n'.repeat(400)}`)
    expect(blocks.length).toBeGreaterThan(1)
    for (const block of blocks.slice(0, -1))
      expect((block as Extract<Block, { type: 'paragraph' }>).lines.at(-1)).toMatchObject({ type: 'break' })
    expect(JSON.stringify(blocks).split('"strong"').length - 1).toBe(400)
  })

  it('do not cut a letter in two', () => {
    for (const before of ['', 'a', 'aa']) {
      const blocks = blocksOf(`${before}${'😀'.repeat(3000)}`)
      expect(blocks.length).toBeGreaterThan(1)
      for (const block of blocks) expect(() => encodeURIComponent(textOf(linesIn(block).flat()))).not.toThrow()
    }
  })

  it('stay the same while a text grows', () => {
    let grown = parseDocument('')
    let before: ShownPiece[] = []
    for (let line = 0; line < 6000; line += 500) {
      const text = Array.from({ length: line }, (_, index) => `- item ${index}\n`).join('')
      grown = parseDocument(text, grown)
      const parts = piecesOf(grown.shown).flatMap((piece) => piece.parts)
      const isPlain = before.every(({ block }) => block?.type === 'plain')
      if (isPlain) for (const [index, part] of before.slice(0, -1).entries()) expect(parts[index]!.text).toBe(part.text)
      before = parts
    }
    expect(before.length).toBeGreaterThan(3)
  })
})

/** A text, and as much of it as is not shown as it was typed: there the most elements are. */
function worstOf(name: string, text: string): [name: string, text: string][] {
  if (text.trim() === '') return []
  const isPlain = (length: number) =>
    parseDocument(text.slice(0, length)).shown.some(({ block }) => block?.type === 'plain')
  if (!isPlain(text.length)) return [[name, text]]
  let [shortest, longest] = [0, text.length]
  while (longest - shortest > 1) {
    const length = Math.floor((shortest + longest) / 2)
    if (isPlain(length)) longest = length
    else shortest = length
  }
  return [
    [name, text],
    [`${name}, parsed`, text.slice(0, shortest)],
  ]
}

function blocksOf(text: string): Block[] {
  const { shown } = parseDocument(text)
  expect(shown).toHaveLength(1)
  return piecesOf(shown).flatMap(({ parts }) => parts.map(({ block }) => block as Block))
}

function toText({ block, text }: ShownPiece): string {
  if (!block) return ''
  return block.type === 'plain' ? text : 'text' in block ? block.text : textOf(linesIn(block).flat())
}

/** Without the heads of tables that go on. */
function withoutHeads(parts: readonly ShownPiece[]): ShownPiece[] {
  return parts.map((part) =>
    part.isContinued && part.block?.type === 'table' ? { ...part, block: { ...part.block, header: [] } } : part,
  )
}

function sizeOf(parts: readonly ShownPiece[]): typeof MAX {
  const text = parts.map(toText).join('')
  const elements = parts.reduce(
    (sum, { block }) => sum + (!block ? 0 : block.type === 'plain' ? 1 : elementsIn(block)),
    0,
  )
  const others = text.match(/[\u0080-\u{10ffff}]/gu)?.filter((letter) => isOther(letter)).length ?? 0
  return { elements, lines: text.split('\n').length - 1, others, letters: text.length }
}

function isOther(letter: string): boolean {
  return !/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{P}\p{Mn}\u00a0\u2190-\u25ff]/u.test(
    letter,
  )
}

function elementsIn(block: Block): number {
  const inLines = (inlines: readonly Inline[]): number =>
    inlines.reduce(
      (sum, inline) =>
        sum +
        (typeof inline === 'string' || inline.type === 'break'
          ? 0
          : 1 + ('inlines' in inline ? inLines(inline.inlines) : 0)),
      0,
    )
  const children = childrenOf(block)
  const own = block.type === 'code' ? 16 : block.type === 'list' ? block.items.length : 1
  const cells = block.type === 'table' ? linesIn(block).length + block.rows.length : 0
  const inOwn = children.length > 0 ? 0 : linesIn(block).reduce((sum, lines) => sum + inLines(lines), 0)
  return own + cells + inOwn + children.reduce((sum, child) => sum + elementsIn(child), 0)
}
