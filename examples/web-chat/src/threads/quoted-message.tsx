import type { Message } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { hrefOf, routeOfMessage } from '../app/route.ts'
import { plainOf } from '../markdown/plain.ts'
import { texts } from '../texts/texts.ts'
import { authorOf } from './author.ts'

interface QuotedProps {
  conversation_id: string
  quote: NonNullable<Message['quote']>
}

/** The message that another one quotes, in a line; a click leads to it. */
export function QuotedMessage({ conversation_id, quote }: QuotedProps) {
  const { people } = useApp()
  const { message_id, root_id, role = 'user', author_user_id, excerpt, deleted } = quote
  const { messages } = texts.value
  return (
    <a class="quote" href={hrefOf(routeOfMessage({ conversation_id, root_id, message_id }))} dir="auto">
      <bdi>{authorOf({ role, author_user_id }, people)}</bdi>: {deleted ? messages.deleted : plainOf(excerpt)}
    </a>
  )
}
