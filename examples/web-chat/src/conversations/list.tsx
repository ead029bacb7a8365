import type { ConversationSummary } from 'chat-server/client'
import { useMemo, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { Avatar, PresenceText } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { MentionBadge, UnreadBadge } from '../parts/unread-badge.tsx'
import { useVisible } from '../parts/visible.ts'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { isMuted } from './muted.ts'
import { titleOf } from './title.ts'

interface ListProps {
  selected: string | undefined
  /** Whether it is the list of archived ones. */
  isArchive: boolean
  onCreate: () => void
}

/** The conversations of the user, latest activity first. */
export function ConversationList({ selected, isArchive, onCreate }: ListProps) {
  const { store, presence: live } = useApp()
  const list = isArchive ? store.archived : store.conversations
  const { conversations, status, error, has_more } = useReadable(list)
  const partners = useMemo(() => conversations.flatMap((each) => each.with?.user_id ?? []), [conversations])
  const presence = useReadable(live.presence(partners))
  const end = useRef<HTMLLIElement>(null)
  useVisible(end, () => void list.loadMore(), has_more)
  const { empty, empty_text, create, archive_empty } = texts.value.conversations

  if (status === 'loading') return <p class="quiet">{texts.value.loading}</p>
  if (status === 'failed') return <ErrorNote error={error} />
  if (conversations.length === 0 && isArchive) return <p class="quiet">{archive_empty}</p>
  if (conversations.length === 0)
    return (
      <div class="empty">
        <h2>{empty}</h2>
        <p>{empty_text}</p>
        <button type="button" class="primary" onClick={onCreate}>
          {create}
        </button>
      </div>
    )
  return (
    <ul class="conversations">
      {conversations.map((each) => (
        <Conversation
          key={each.id}
          conversation={each}
          isSelected={each.id === selected}
          presence={each.with && (presence[each.with.user_id]?.status ?? 'offline')}
        />
      ))}
      {has_more && (
        <li ref={end} class="quiet">
          {texts.value.loading}
        </li>
      )}
    </ul>
  )
}

function Conversation({
  conversation,
  isSelected,
  presence,
}: {
  conversation: ConversationSummary
  isSelected: boolean
  presence: 'online' | 'away' | 'offline' | undefined
}) {
  const { id, unread, mentions = 0, muted_until, last_activity_at } = conversation
  const muted = isMuted(muted_until)
  const title = titleOf(conversation)
  return (
    <li>
      <a
        href={hrefOf({ name: 'conversation', conversation_id: id })}
        aria-current={isSelected ? 'page' : undefined}
        data-unread={unread > 0}
        data-muted={muted}
      >
        <Avatar id={conversation.with?.user_id ?? id} name={title} presence={presence} />
        <span class="name" dir="auto">
          {title}
          {presence && <PresenceText presence={presence} />}
          {muted && <Icon name="muted" />}
          {muted && <span class="hidden">{texts.value.conversations.muted}</span>}
        </span>
        <time datetime={last_activity_at}>{shortTime(last_activity_at)}</time>
        {(unread > 0 || mentions > 0) && (
          <span class="badges">
            {mentions > 0 && <MentionBadge count={mentions} />}
            {unread > 0 && <UnreadBadge count={unread} />}
          </span>
        )}
      </a>
    </li>
  )
}
