import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import type { Can } from '../conversations/use-can.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { AuthorName, openByPointer } from '../people/author-name.tsx'
import type { Choice, VariantPlace } from '../stream/variants.ts'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime, timeOf } from '../texts/time.ts'
import { askAgain } from './ask-again.ts'
import { authorOf } from './author.ts'
import { MessageActions } from './message-actions.tsx'
import { MessageBody } from './message-body.tsx'
import { Question } from './question.tsx'
import { Reactions } from './reactions.tsx'

const Variants = lazy(() => import('../stream/variant-choice.tsx').then(({ VariantChoice }) => VariantChoice))
const EditForm = lazy(() => import('./edit-form.tsx').then(({ EditForm }) => EditForm))
const ReadBy = lazy(() => import('./read-by.tsx').then(({ ReadBy }) => ReadBy))
const Revisions = lazy(() => import('./revisions.tsx').then(({ RevisionsDialog }) => RevisionsDialog))

/** A message with what the user may do with it. */
export interface ArticleProps {
  message: StoreMessage
  /** Whether it shows who has written it; else that is above it. */
  isHead?: boolean
  /** Whether it is new to the user. */
  isNew: boolean
  /** Whether it is the last one that the user has written. */
  isLastOwn: boolean
  isEditing: boolean
  user_id: string
  /** What the user may do in the conversation. */
  can: Can
  /** Whether the conversation is frozen. */
  isFrozen: boolean
  /** Whether the conversation shows who has read what. */
  hasReceipts: boolean
  onReply: (message: StoreMessage) => void
  /** Opens the thread below it, where that is not open. */
  onThread?: (message: StoreMessage) => void
  onEdit: (message_id: string | undefined) => void
  /** The message that it answers, where that is shown. */
  answered?: Message['quote'] | undefined
  /** Its place among the answers to its question, where there are several. */
  variants?: VariantPlace | undefined
  /** Shows another one of them. @param first the first answer of the set */
  onVariant?: (first: string, choice: Choice) => void
  /** Marks it and what arrived after it as unread. */
  onUnread?: (message_id: string) => Promise<void>
}

/** A message; of an answer, the question is above it. @param props with what is below its text */
export function MessageArticle(props: ArticleProps & { children?: ComponentChildren }) {
  const { message, isHead, user_id } = props
  const { prompt, deleted_at, pending } = message
  // An answer to the message above it has no question of its own.
  if (!prompt || deleted_at) return <OneArticle {...props} />
  return (
    <>
      <Question
        message={message}
        user_id={user_id}
        answered={props.answered}
        isInDay={isHead !== undefined}
        isInThread={props.onThread === undefined}
        canAsk={props.can.has('ask')}
        isEditing={props.isEditing}
        onEdit={props.onEdit}
      />
      {!pending && <OneArticle {...props} answered={undefined} isEditing={false} />}
    </>
  )
}

function OneArticle(props: ArticleProps & { children?: ComponentChildren }) {
  const { message, isHead = true, isNew, isLastOwn, isEditing, hasReceipts, user_id, can, onEdit } = props
  // A stream has a line for the day.
  const isInDay = props.isHead !== undefined
  const { people, store } = useApp()
  const [hasRevisions, setRevisions] = useState(false)
  const { messages } = texts.value
  const { id, role, created_at, edited_at, deleted_at, pinned, pending } = message
  // The id of an author may have no name yet: then this is rendered again when it has.
  const name = authorOf(pending && role === 'user' ? { role, author_user_id: user_id } : message, people)
  const author_id = role === 'assistant' ? 'assistant' : (message.author_user_id ?? (pending ? user_id : 'app'))
  const mayAsk = can.has('ask') && role === 'assistant' && message.requested_by === user_id
  const onAgain = mayAsk ? () => askAgain(store, message, props.onThread === undefined) : undefined
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the name is a button.
    <article
      onClick={openByPointer}
      class="message"
      aria-label={messages.actions(name)}
      data-role={role}
      data-pending={pending?.status}
    >
      {isHead &&
        (role === 'assistant' ? (
          <AssistantAvatar info={people.assistants.infoOf(message.assistant)} />
        ) : (
          <Avatar id={author_id} name={name} />
        ))}
      <header>
        {isHead ? (
          <AuthorName name={name} user_id={message.author_user_id} conversation_id={message.conversation_id} />
        ) : (
          <strong class="hidden" dir="auto">
            {name}
          </strong>
        )}
        {isHead && message.generated && !deleted_at && <span class="tag label">{people.assistants.label()}</span>}
        {isHead && message.author_kind === 'guest' && <span class="tag">{texts.value.is_guest}</span>}
        <time datetime={created_at} title={longTime(created_at)}>
          {(isInDay ? timeOf : shortTime)(created_at)}
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
          <EditForm message={message} onDone={() => onEdit(undefined)} />
        ) : (
          <MessageBody
            message={message}
            user_id={user_id}
            can={can}
            isFrozen={props.isFrozen}
            answered={props.answered}
            onAgain={onAgain}
          />
        )}
        {props.variants && <Variants {...props.variants} id={id} onChoose={props.onVariant!} />}
        {!deleted_at && !pending && <Reactions message={message} canReact={can.has('react')} />}
        {isLastOwn && hasReceipts && <ReadBy message_id={id} />}
        {props.children}
      </div>
      {hasRevisions && <Revisions message={message} onClose={() => setRevisions(false)} />}
      {!pending && !isEditing && <MessageActions {...props} />}
    </article>
  )
}
