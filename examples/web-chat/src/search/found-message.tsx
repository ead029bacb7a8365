import type { ConversationSummary, SearchResult } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { hrefOf, routeOfMessage } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { useRoving } from '../parts/roving.ts'
import { MarkedText } from '../switch/found-text.tsx'
import { roomTexts } from '../texts/room.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { authorOf } from '../threads/author.ts'

/** How much is shown of a message that was found without words. */
const MAX_LENGTH = 300

interface FoundProps {
  results: readonly SearchResult[]
  conversations: readonly ConversationSummary[]
}

/** The messages that were found. */
export function FoundMessages({ results, conversations }: FoundProps) {
  const { list } = useRoving()
  return (
    <ul class="inbox found" {...list}>
      {results.map((result) => (
        <FoundMessage key={result.message.id} result={result} conversations={conversations} />
      ))}
    </ul>
  )
}

/** A message that was found, which leads to its place in its thread. */
function FoundMessage({
  result: { message, conversation, excerpts },
  conversations,
}: {
  result: SearchResult
  conversations: readonly ConversationSummary[]
}) {
  const { people } = useApp()
  const { id: message_id, root_id, role, author_user_id, created_at, content, attachments = [] } = message
  const name = authorOf(message, people)
  const place = conversations.find(({ id }) => id === conversation.id)
  const names = attachments.map((file) => file.name).join(', ')
  const parts =
    excerpts.length > 0
      ? excerpts
      : [{ field: 'content', text: (content || names).slice(0, MAX_LENGTH), ranges: [] as number[][] }]
  return (
    <li>
      <a href={hrefOf(routeOfMessage({ conversation_id: conversation.id, root_id, message_id }, place?.layout))}>
        {role === 'assistant' ? (
          <AssistantAvatar info={people.assistants.infoOf(message.assistant)} />
        ) : (
          <Avatar id={author_user_id ?? 'app'} name={name} />
        )}
        <span class="name" dir="auto">
          {name}
          {message.generated && <small> {people.assistants.label()}</small>}
        </span>
        <time datetime={created_at} title={longTime(created_at)}>
          {shortTime(created_at)}
        </time>
        {parts.map(({ field, text, ranges }) => (
          <span key={field} class="excerpt" dir="auto">
            {field === 'prompt' && <small>{roomTexts.value.search.question} </small>}
            <MarkedText text={text} ranges={ranges} />
          </span>
        ))}
        <small>
          {place && !place.direct && '# '}
          <bdi>{titleOf(place ?? conversation)}</bdi>
        </small>
      </a>
    </li>
  )
}
