import { type Budget, OverBudget } from './budget.ts'
import { type Part, parseBlocks } from './parse-blocks.ts'
import type { Definition } from './references.ts'
import { resolveBlock } from './resolve.ts'
import type { MentionedNames } from './split-mentions.ts'
import type { Block, References } from './tokens.ts'

/** How many lines and blocks a message may have: about 40 ms of work, with all else, on a slow laptop. */
const MAX_BLOCK_STEPS = 8000

/** How many parts of lines, and elements, in steps of `resolveBlock`. */
const MAX_INLINE_STEPS = 16_000

/** What is shown of a part of a message: the same object as long as it looks the same. */
export interface Shown {
  /** Without one there are only definitions. */
  block: Block | { type: 'plain' } | undefined
  text: string
}

/** A message, parsed as far as its budget went. */
export interface Document {
  text: string
  parts: readonly Part[]
  /** Where the text begins that is not parsed. */
  end: number
  definitions: readonly Definition[]
  shown: readonly Shown[]
  /** Of each part, how many steps its lines took. */
  steps: readonly number[]
  /** How many steps it took to parse what was new. */
  cost: number
}

/**
 * Parses a message. Of one that has grown, only what may have changed is parsed: the last blocks, and those with links by
 * references, if these are others.
 *
 * @param names those that it mentions, the same ones as before
 */
export function parseDocument(written: string, before?: Document, names?: MentionedNames): Document {
  const text = written.replace(/\r\n?/g, '\n')
  if (before?.text === text) return before
  const kept = before && text.startsWith(before.text) ? finalParts(before) : []
  const from = before?.parts[kept.length]
  const { at, left } = (kept.length > 0 && from) || { at: 0, left: MAX_BLOCK_STEPS }
  const budget: Budget = { left }
  const { parts: read, end } = parseBlocks(text, at, budget)
  const parts = [...kept, ...read]
  const definitions = parts.flatMap((part) => part.definitions)
  const isSame = before !== undefined && isEqual(definitions, before.definitions)
  const references = toReferences(definitions)
  const lines = { left: MAX_INLINE_STEPS }
  const shown: Shown[] = []
  const steps: number[] = []
  let cost = left - budget.left
  for (const [index, part] of parts.entries()) {
    const partText = text.slice(part.at, parts[index + 1]?.at ?? end)
    const old = index < kept.length && (isSame || !partText.includes('[')) ? before?.shown[index] : undefined
    const { left: linesLeft } = lines
    const block = old ? old.block : tryResolve(part, references, lines, names)
    if (old) lines.left -= before!.steps[index] ?? 0
    else cost += linesLeft - lines.left
    // Nothing behind what exceeds the budget is parsed either.
    if (block?.type === 'plain' || lines.left < 0) {
      shown.push(plain(text.slice(part.at)))
      return { text, parts, end, definitions, shown, steps, cost }
    }
    shown.push(old ?? { block, text: partText })
    steps.push(linesLeft - lines.left)
  }
  if (end < text.length) shown.push(plain(text.slice(end)))
  return { text, parts, end, definitions, shown, steps, cost }
}

/**
 * The parts that stay as they are, whatever follows: not the last one, nor the one before a line that may go on. What comes
 * behind them is parsed anew, so it has to begin behind an empty line: what it is does not depend on what is before that.
 */
function finalParts({ text, parts }: Document): readonly Part[] {
  const lastLine = text.lastIndexOf('\n') + 1
  let count = parts.length
  while (count > 0 && parts[count - 1]!.at >= lastLine) count--
  for (count--; count > 0; count--) {
    const { at } = parts[count]!
    // Definitions and the heading that they began with are two parts of the same place.
    if (text[at - 2] === '\n' && at > parts[count - 1]!.at) break
  }
  return parts.slice(0, Math.max(0, count))
}

function plain(text: string): Shown {
  return { block: { type: 'plain' }, text }
}

function tryResolve({ block }: Part, references: References, budget: Budget, names?: MentionedNames): Shown['block'] {
  try {
    return block && resolveBlock(block, references, budget, names)
  } catch (error) {
    if (error instanceof OverBudget) return { type: 'plain' }
    throw error
  }
}

/** The first definition of a label holds. */
function toReferences(definitions: readonly Definition[]): References {
  const references = new Map<string, Definition['reference']>()
  for (const { label, reference } of definitions) if (!references.has(label)) references.set(label, reference)
  return references
}

function isEqual(one: readonly Definition[], other: readonly Definition[]): boolean {
  return one.length === other.length && one.every((definition, index) => isSameDefinition(definition, other[index]!))
}

function isSameDefinition({ label, reference }: Definition, other: Definition): boolean {
  const { href, title } = other.reference
  return label === other.label && reference.href === href && reference.title === title
}
