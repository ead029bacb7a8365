import type { ConversationSummary } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { hrefOf } from '../app/route.ts'
import { plainOf } from '../markdown/plain.ts'
import { PresenceText } from '../parts/avatar.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { UnreadBadge } from '../parts/unread-badge.tsx'
import { texts } from '../texts/texts.ts'
import { listTime } from '../texts/time.ts'
import { isMuted } from './muted.ts'
import { ConversationSign } from './sign.tsx'
import { titleOf } from './title.ts'

const RowMenu = lazy(() => import('./row-menu.tsx').then(({ RowMenu }) => RowMenu))

interface RowProps {
  /** Its place in the list, of which not all is rendered, and how long that is; -1 if not known. */
  place: number
  size: number
  conversation: ConversationSummary
  isSelected: boolean
  presence: 'online' | 'away' | 'offline' | undefined
}

/** A conversation in the list. Its number is what waits for the user; what else is unread is bold, unless it is muted. */
export function ConversationRow({ conversation, place, size, isSelected, presence }: RowProps) {
  const { id, unread, mentions = 0, muted_until, last_activity_at, last_message, direct } = conversation
  const { conversations: words } = texts.value
  const [isNear, setNear] = useState(false)
  const muted = isMuted(muted_until)
  const title = titleOf(conversation)
  const count = direct ? (muted ? 0 : unread) : mentions
  const near = () => setNear(true)
  return (
    <li data-row aria-posinset={place} aria-setsize={size} onPointerEnter={near} onFocusIn={near}>
      <a
        href={hrefOf({ name: 'conversation', conversation_id: id })}
        aria-current={isSelected ? 'page' : undefined}
        data-unread={unread > 0 && !muted}
        data-muted={muted}
      >
        <ConversationSign conversation={conversation} presence={presence} />
        <span class="name">
          <bdi>{title}</bdi>
          {presence && <PresenceText presence={presence} />}
          {muted && <Icon name="muted" />}
          {muted && <span class="hidden">{words.muted}</span>}
        </span>
        <time datetime={last_activity_at}>{listTime(last_activity_at)}</time>
        <span class="preview">
          <bdi>{last_message && plainOf(last_message.excerpt)}</bdi>
        </span>
        {count > 0 ? (
          <span class="badges">
            <UnreadBadge text={direct ? words.unread(count) : words.mentions(count)} count={count} />
          </span>
        ) : (
          unread > 0 && <span class="hidden">{words.unread(unread)}</span>
        )}
      </a>
      {isNear && <RowMenu conversation={conversation} isSelected={isSelected} />}
    </li>
  )
}
