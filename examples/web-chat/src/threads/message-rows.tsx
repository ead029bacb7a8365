import { Fragment, type VNode } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { type Block, blocksOf } from './blocks.ts'
import { type MessageProps, MessageRow } from './message-row.tsx'
import type { Row } from './rows.ts'

/** What is the same for all rows of a thread. */
interface Common
  extends Pick<
    MessageProps,
    'user_id' | 'can' | 'isFrozen' | 'hasReceipts' | 'onReply' | 'onEdit' | 'onUnread' | 'onToggle'
  > {
  /** The ids of messages that are new to the user. */
  fresh: ReadonlySet<string>
  /** The id of the first one of them. */
  first: string | undefined
  /** The id of the message of the address. */
  target: string | undefined
  /** The id of the last message that the user has written. */
  last_own: string | undefined
  /** The id of the message that is edited. */
  editing: string | undefined
}

interface Rendered {
  props: MessageProps
  element: VNode
}

/** A block, and from what it was rendered. */
interface RenderedBlock {
  common: Common
  block: Block
  made: ReadonlyMap<string, Rendered>
  element: VNode
}

/**
 * The rows of a thread. An element of which nothing has changed is the same as before, and so is a block of them, so that
 * nothing of it is compared: a long thread is rendered in many steps, each of which adds some rows.
 */
export function MessageRows({ rows, ...common }: Common & { rows: readonly Row[] }) {
  const placed = useRef(new Map<string, number>())
  const before = useRef<ReadonlyMap<number, RenderedBlock>>(new Map())
  const blocks = useMemo(() => blocksOf(rows, placed.current), [rows])
  const next = new Map(blocks.map((block) => [block.key, render(block, common, before.current.get(block.key))]))
  before.current = next
  return <>{Array.from(next.values(), ({ element }) => element)}</>
}

function render(block: Block, common: Common, before: RenderedBlock | undefined): RenderedBlock {
  const isSame = before && isEqual(before.common, common) && isEqual(before.block.rows, block.rows)
  if (isSame && before.block.rows.length === block.rows.length) return before
  const { fresh, first, target, last_own, editing, ...shared } = common
  const made = new Map<string, Rendered>()
  for (const { message, level, below, unread, branch } of block.rows) {
    const { id } = message
    const props: MessageProps = {
      ...shared,
      message,
      level,
      below,
      unread,
      branch,
      isTarget: id === target,
      isNew: fresh.has(id),
      isFirstNew: id === first,
      isLastOwn: id === last_own,
      isEditing: id === editing,
    }
    const known = before?.made.get(id)
    made.set(id, known && isEqual(known.props, props) ? known : { props, element: <MessageRow key={id} {...props} /> })
  }
  const elements = Array.from(made.values(), ({ element }) => element)
  return { common, block, made, element: <Fragment key={block.key}>{elements}</Fragment> }
}

function isEqual<T extends object>(one: T, other: T): boolean {
  return (Object.keys(one) as (keyof T)[]).every((key) => one[key] === other[key])
}
