import { PlainText } from '../markdown/plain-text.tsx'
import { Boundary } from '../parts/boundary.tsx'
import { memo } from '../parts/memo.tsx'
import { roomTexts } from '../texts/room.ts'
import { type ArticleProps, MessageArticle } from './message.tsx'
import type { Row } from './rows.ts'

/** The deepest level that is indented: a phone has no room for more. */
const MAX_LEVEL = 6

/** A message in its place in a tree. */
export interface MessageProps extends ArticleProps {
  level: number
  below: number
  /** How many of these are unread. */
  unread: number
  branch: Row['branch']
  /** Whether the address is that of the message. */
  isTarget: boolean
  /** Whether it is the first one that is new. */
  isFirstNew: boolean
  onToggle: (id: string) => void
}

/** A message in a tree. */
export const MessageRow = memo(function MessageRow(props: MessageProps) {
  const { level, message, below, unread, branch, isTarget, isFirstNew, onToggle } = props
  const { id } = message
  const { collapse, branch: collapsed, unread_from } = roomTexts.value.thread
  return (
    <li data-message-id={id} data-level={Math.min(level, MAX_LEVEL)} data-target={isTarget} tabIndex={-1}>
      {isFirstNew && <p class="unread-from">{unread_from}</p>}
      <Boundary subject={message} fallback={<PlainText text={message.content} />}>
        <MessageArticle {...props}>
          {branch && (
            <button type="button" class="branch link" aria-expanded={branch === 'open'} onClick={() => onToggle(id)}>
              {branch === 'open' ? collapse(below) : collapsed(below, unread)}
            </button>
          )}
        </MessageArticle>
      </Boundary>
    </li>
  )
})
