import type { Message } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { hrefOf } from '../app/route.ts'
import { plainOf } from '../markdown/plain.ts'
import { texts } from '../texts/texts.ts'

interface QuotedProps {
  conversation_id: string
  quote: NonNullable<Message['quote']>
}

/** The message that another one quotes, in a line; a click leads to it. */
export function QuotedMessage({ conversation_id, quote }: QuotedProps) {
  const { people } = useApp()
  const { message_id, root_id, author_user_id, excerpt, deleted } = quote
  const { messages } = texts.value
  const place = message_id === root_id ? { name: 'conversation' as const } : { name: 'thread' as const, root_id }
  return (
    <a class="quote" href={hrefOf({ ...place, conversation_id, message_id })} dir="auto">
      <bdi>{author_user_id === undefined ? people.assistantName() : people.nameOf(author_user_id)}</bdi>:{' '}
      {deleted ? messages.deleted : plainOf(excerpt)}
    </a>
  )
}
