import type { TimelineStoreMessage } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { texts } from '../texts/texts.ts'
import { momentOf } from '../texts/time.ts'

interface ThreadLineProps {
  conversation_id: string
  root_id: string
  thread: NonNullable<TimelineStoreMessage['thread']>
}

/** The replies below a message in short: it opens the thread. */
export function ThreadLine({ conversation_id, root_id, thread }: ThreadLineProps) {
  const { people } = useApp()
  const { reply_count, last_reply_at, last_replier_ids, unread_replies = 0 } = thread
  const { replies, last_reply } = texts.value.stream
  return (
    <a class="thread-line" href={hrefOf({ name: 'thread', conversation_id, root_id })} data-unread={unread_replies > 0}>
      {last_replier_ids.map((id) => (
        <Avatar key={id} id={id} name={people.nameOf(id)} />
      ))}
      <span>{replies(reply_count)}</span>{' '}
      {last_reply_at && <time datetime={last_reply_at}>· {last_reply(momentOf(last_reply_at))}</time>}
      {unread_replies > 0 && <span class="hidden">{texts.value.conversations.unread(unread_replies)}</span>}
    </a>
  )
}
