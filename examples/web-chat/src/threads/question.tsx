import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { MessageFiles } from '../files/lazy-files.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { messageOf } from '../parts/error-note.tsx'
import { lazy } from '../parts/lazy.tsx'
import { showToast } from '../parts/toast.tsx'
import { AuthorName, openByPointer } from '../people/author-name.tsx'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime, timeOf } from '../texts/time.ts'
import { askAgain } from './ask-again.ts'
import { isRunning } from './is-running.ts'
import { PendingNote } from './pending-note.tsx'
import { QuotedMessage } from './quoted-message.tsx'

const TextForm = lazy(() => import('./edit-form.tsx').then(({ TextForm }) => TextForm))
const QuestionActions = lazy(() => import('./question-actions.tsx').then(({ QuestionActions }) => QuestionActions))

interface QuestionProps {
  message: StoreMessage
  user_id: string
  /** The message that it answers, where that is shown. */
  answered: Message['quote'] | undefined
  /** Whether a line for the day is above it. */
  isInDay: boolean
  /** Whether only its thread is shown. */
  isInThread: boolean
  canAsk: boolean
  isEditing: boolean
  onEdit: (message_id: string | undefined) => void
}

/** The question of an answer, as a message of its asker. */
export function Question(props: QuestionProps) {
  const { message, user_id, answered, isInDay, isInThread, canAsk, onEdit } = props
  const { people, store } = useApp()
  const { messages, composer } = texts.value
  const { prompt, created_at, pending, requested_by = pending ? user_id : undefined } = message
  const name = people.nameOf(requested_by)
  const files = message.attachments?.filter(({ generated }) => !generated)
  const mayEdit = canAsk && requested_by === user_id && !pending && !isRunning(message)
  const isEditing = mayEdit && props.isEditing

  /** Asks another question in its place: the answer is another one to the same message. */
  async function ask(text: string): Promise<void> {
    onEdit(undefined)
    if (text === '' || text === prompt) return
    const fail = (error: unknown) => showToast(messageOf(error), { isError: true })
    await askAgain(store, message, isInThread, text).catch(fail)
  }

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
          {composer.to(people.assistants.infoOf(message.assistant).title)}
        </span>
      </header>
      <div class="content">
        {answered && <QuotedMessage conversation_id={message.conversation_id} quote={answered} />}
        {isEditing ? (
          <TextForm
            text={prompt!}
            conversation_id={message.conversation_id}
            button={composer.send}
            onSave={ask}
            onCancel={() => onEdit(undefined)}
          />
        ) : (
          <Markdown text={prompt!} />
        )}
        {files && files.length > 0 && <MessageFiles files={files} message={message} />}
        {pending && <PendingNote post={pending} />}
      </div>
      {mayEdit && !isEditing && <QuestionActions prompt={prompt!} onEdit={() => onEdit(message.id)} />}
    </article>
  )
}
