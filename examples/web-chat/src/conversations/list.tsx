import type { ConversationSummary } from 'chat-server/client'
import { useMemo, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { Avatar, PresenceText } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { MentionBadge, UnreadBadge } from '../parts/unread-badge.tsx'
import { useVisible } from '../parts/visible.ts'
import { useWindowed } from '../parts/windowed.ts'
import { texts } from '../texts/texts.ts'
import { listTime } from '../texts/time.ts'
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
  const view = useReadable(list)
  const { conversations, status, error, has_more } = view
  useKept(list, view, isArchive ? undefined : '/api/conversations', ({ conversations }) => ({
    conversations: conversations.slice(0, MAX_KEPT),
  }))
  const end = useRef<HTMLLIElement>(null)
  const scroller = useRef<HTMLUListElement>(null)
  const { from, to, above, below } = useWindowed(scroller, conversations.length)
  const shown = useMemo(() => conversations.slice(from, to), [conversations, from, to])
  const partners = useMemo(() => shown.flatMap((each) => each.with?.user_id ?? []), [shown])
  const presence = useReadable(live.presence(partners))
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
    <ul ref={scroller} class="conversations">
      {above > 0 && <li key="above" aria-hidden="true" style={{ height: `${above}px` }} />}
      {shown.map((each, index) => (
        <Conversation
          key={each.id}
          place={from + index + 1}
          size={has_more ? -1 : conversations.length}
          conversation={each}
          isSelected={each.id === selected}
          presence={each.with && (presence[each.with.user_id]?.status ?? 'offline')}
        />
      ))}
      {below > 0 && <li key="below" aria-hidden="true" style={{ height: `${below}px` }} />}
      {has_more && (
        <li key="end" ref={end} class="quiet">
          {texts.value.loading}
        </li>
      )}
    </ul>
  )
}

function Conversation({
  conversation,
  place,
  size,
  isSelected,
  presence,
}: {
  /** Its place in the list, of which not all is rendered, and how long that is; -1 if not known. */
  place: number
  size: number
  conversation: ConversationSummary
  isSelected: boolean
  presence: 'online' | 'away' | 'offline' | undefined
}) {
  const { id, unread, mentions = 0, muted_until, last_activity_at } = conversation
  const muted = isMuted(muted_until)
  const title = titleOf(conversation)
  return (
    <li data-row aria-posinset={place} aria-setsize={size}>
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
        <time datetime={last_activity_at}>{listTime(last_activity_at)}</time>
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
