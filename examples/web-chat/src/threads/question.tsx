import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { AuthorName, openByPointer } from '../people/author-name.tsx'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime, timeOf } from '../texts/time.ts'
import { PendingNote } from './pending-note.tsx'
import { QuotedMessage } from './quoted-message.tsx'

interface QuestionProps {
  message: StoreMessage
  user_id: string
  /** The message that it answers, where that is shown. */
  answered: Message['quote'] | undefined
  /** Whether a line for the day is above it. */
  isInDay: boolean
}

/** The question of an answer, as a message of its asker. */
export function Question({ message, user_id, answered, isInDay }: QuestionProps) {
  const { people } = useApp()
  const { messages, composer } = texts.value
  const { prompt, created_at, pending, requested_by = pending ? user_id : undefined } = message
  const name = people.nameOf(requested_by)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the name is a button.
    <article
      onClick={openByPointer}
      class="message question"
      aria-label={messages.actions(name)}
      data-pending={pending?.status}
    >
      <Avatar id={requested_by ?? 'app'} name={name} />
      <header>
        <AuthorName name={name} user_id={requested_by} conversation_id={message.conversation_id} />
        <time datetime={created_at} title={longTime(created_at)}>
          {(isInDay ? timeOf : shortTime)(created_at)}
        </time>
        <span class="tag" dir="auto">
          {composer.to(people.assistantName())}
        </span>
      </header>
      <div class="content">
        {answered && <QuotedMessage conversation_id={message.conversation_id} quote={answered} />}
        <Markdown text={prompt!} />
        {pending && <PendingNote post={pending} />}
      </div>
    </article>
  )
}
