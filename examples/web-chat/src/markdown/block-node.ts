import type { Definition } from './references.ts'
import type { Align } from './tokens.ts'

/** A block while its lines are read. */
export interface BlockNode {
  kind: 'document' | 'quote' | 'list' | 'item' | 'paragraph' | 'heading' | 'code' | 'html' | 'rule' | 'table'
  parent: BlockNode | undefined
  children: BlockNode[]
  isOpen: boolean
  /** How deep it is. */
  level: number
  first_line: number
  last_line: number
  lines: string[]
  /** Of a heading. */
  depth: number
  /** Of a list and its items. */
  marker: ListMarker | undefined
  /** Of a block of code between fences. */
  fence: Fence | undefined
  /** What ends a block of HTML; without one, an empty line does. */
  html_end: RegExp | undefined
  /** Of the columns of a table. */
  aligns: Align[]
  /** Which it began with, if it is a paragraph. */
  definitions: Definition[]
}

export interface ListMarker {
  /** The letter of a bullet, or what stands behind a number: lists of others are other lists. */
  letter: string
  start: number | undefined
  /** How far it is indented. */
  offset: number
  /** How far what belongs to the item is indented from there. */
  width: number
}

export interface Fence {
  letter: string
  length: number
  indent: number
  info: string
}

export function createNode(kind: BlockNode['kind'], parent: BlockNode | undefined, line: number): BlockNode {
  const node: BlockNode = {
    kind,
    parent,
    children: [],
    isOpen: true,
    level: parent ? parent.level + 1 : 0,
    first_line: line,
    last_line: line,
    lines: [],
    depth: 0,
    marker: undefined,
    fence: undefined,
    html_end: undefined,
    aligns: [],
    definitions: [],
  }
  parent?.children.push(node)
  return node
}

export function canContain(parent: BlockNode, kind: BlockNode['kind']): boolean {
  if (parent.kind === 'list') return kind === 'item'
  return ['document', 'quote', 'item'].includes(parent.kind) && kind !== 'item'
}
