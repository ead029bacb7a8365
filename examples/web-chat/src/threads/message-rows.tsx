import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { type MessageProps, MessageRow } from './message.tsx'
import type { Row } from './rows.ts'

/** What rows have in common. */
type Shared = Pick<MessageProps, 'user_id' | 'role' | 'canWrite' | 'hasReceipts' | 'onReply' | 'onToggle'>

interface MessageRowsProps extends Shared {
  rows: readonly Row[]
  /** The ids of messages that are new to the user. */
  fresh: ReadonlySet<string>
  /** The id of the first one of them. */
  first: string | undefined
  /** The id of the message of the address. */
  target: string | undefined
  /** The id of the last message that the user has written. */
  last_own: string | undefined
}

interface Rendered {
  props: MessageProps
  element: VNode
}

/**
 * The rows of a thread. An element of which nothing has changed is the same as before, so that nothing of it is compared:
 * a long thread is rendered in many steps, each of which adds some rows.
 */
export function MessageRows({ rows, fresh, first, target, last_own, ...shared }: MessageRowsProps) {
  const before = useRef<ReadonlyMap<string, Rendered>>(new Map())
  const next = new Map<string, Rendered>()
  for (const { message, level, below, branch } of rows) {
    const { id } = message
    const props: MessageProps = {
      ...shared,
      message,
      level,
      below,
      branch,
      isTarget: id === target,
      isNew: fresh.has(id),
      isFirstNew: id === first,
      isLastOwn: id === last_own,
    }
    const known = before.current.get(id)
    next.set(id, known && isEqual(known.props, props) ? known : { props, element: <MessageRow key={id} {...props} /> })
  }
  before.current = next
  return <>{Array.from(next.values(), ({ element }) => element)}</>
}

function isEqual(one: MessageProps, other: MessageProps): boolean {
  return (Object.keys(one) as (keyof MessageProps)[]).every((key) => one[key] === other[key])
}
