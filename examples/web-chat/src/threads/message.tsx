import type { Participant } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { Component } from 'preact'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { PlainText } from '../markdown/plain-text.tsx'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { Boundary } from '../parts/boundary.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { authorOf } from './author.ts'
import { EditForm } from './edit-form.tsx'
import { MessageActions } from './message-actions.tsx'
import { MessageBody } from './message-body.tsx'
import { Reactions } from './reactions.tsx'
import { ReadBy } from './read-by.tsx'
import type { Row } from './rows.ts'

const Revisions = lazy(() => import('./revisions.tsx').then(({ RevisionsDialog }) => RevisionsDialog))

/** The deepest level that is indented: a phone has no room for more. */
const MAX_LEVEL = 6

export interface MessageProps {
  message: StoreMessage
  level: number
  below: number
  branch: Row['branch']
  /** Whether the address is that of the message. */
  isTarget: boolean
  /** Whether it is new to the user. */
  isNew: boolean
  /** Whether it is the first one that is new. */
  isFirstNew: boolean
  /** Whether it is the last one that the user has written. */
  isLastOwn: boolean
  user_id: string
  /** Of the user in the conversation. */
  role: Participant['role'] | undefined
  canWrite: boolean
  /** Whether the conversation shows who has read what. */
  hasReceipts: boolean
  onReply: (message: StoreMessage) => void
  onToggle: (id: string) => void
}

/** A message in a thread: rendered again only if something of it has changed. */
export class MessageRow extends Component<MessageProps> {
  override shouldComponentUpdate({ message, ...rest }: MessageProps): boolean {
    const { message: before, ...known } = this.props
    const keys = Object.keys(rest) as (keyof typeof rest)[]
    return keys.some((key) => rest[key] !== known[key]) || !isSame(message, before)
  }

  render() {
    const { level, message, isTarget, isFirstNew } = this.props
    return (
      <li data-id={message.id} data-level={Math.min(level, MAX_LEVEL)} data-target={isTarget} tabIndex={-1}>
        {isFirstNew && <p class="unread-from">{texts.value.threads.unread_from}</p>}
        <Boundary subject={message} fallback={<PlainText text={message.content} />}>
          <MessageArticle {...this.props} />
        </Boundary>
      </li>
    )
  }
}

/** A thread that is read again has other objects with, for the most part, the same in them. */
function isSame(one: StoreMessage, other: StoreMessage): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function MessageArticle(props: MessageProps) {
  const { message, below, branch, isNew, isLastOwn, hasReceipts, user_id, canWrite, onToggle } = props
  const { people } = useApp()
  const [isEditing, setEditing] = useState(false)
  const [hasRevisions, setRevisions] = useState(false)
  const { messages } = texts.value
  const { id, role, created_at, edited_at, deleted_at, pinned, pending } = message
  // The id of an author may have no name yet: then this is rendered again when it has.
  const name = authorOf(pending && role === 'user' ? { role, author_user_id: user_id } : message, people)
  const author_id = role === 'assistant' ? 'assistant' : (message.author_user_id ?? (pending ? user_id : 'app'))
  return (
    <article class="message" aria-label={messages.actions(name)} data-role={role} data-pending={pending?.status}>
      {role === 'assistant' ? <AssistantAvatar /> : <Avatar id={author_id} name={name} />}
      <header>
        <strong class="name" dir="auto">
          {name}
        </strong>
        <time datetime={created_at} title={longTime(created_at)}>
          {shortTime(created_at)}
        </time>
        {edited_at && !deleted_at && (
          <button type="button" class="tag link" aria-haspopup="dialog" onClick={() => setRevisions(true)}>
            {messages.edited}
          </button>
        )}
        {pinned && !deleted_at && (
          <span class="tag">
            <Icon name="pin" />
            {messages.pinned}
          </span>
        )}
        {isNew && <span class="tag new">{messages.new}</span>}
      </header>
      <div class="content">
        {isEditing && !deleted_at ? (
          <EditForm message={message} onDone={() => setEditing(false)} />
        ) : (
          <MessageBody message={message} user_id={user_id} />
        )}
        {!deleted_at && !pending && <Reactions message={message} canReact={canWrite} />}
        {isLastOwn && hasReceipts && <ReadBy message_id={id} />}
        {branch && (
          <button type="button" class="branch link" aria-expanded={branch === 'open'} onClick={() => onToggle(id)}>
            {branch === 'open' ? messages.collapse(below) : messages.expand(below)}
          </button>
        )}
      </div>
      {hasRevisions && <Revisions message={message} onClose={() => setRevisions(false)} />}
      {!pending && !isEditing && <MessageActions {...props} onEdit={() => setEditing(true)} />}
    </article>
  )
}
