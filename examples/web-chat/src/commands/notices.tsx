import type { Notice } from 'chat-server/client'
import { noticesOf } from 'chat-server/client/parts'
import { useMemo } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { lazy } from '../parts/lazy.tsx'

const NoticeArticle = lazy(() => import('./notice.tsx').then(({ NoticeArticle }) => NoticeArticle))

/** The user's notices in a conversation outside of threads, or in a thread. Visitors have none. */
export function useNotices(
  conversation_id: string,
  root_id: string | undefined,
  isOutside: boolean,
): readonly Notice[] {
  const { store } = useApp()
  const { notices } = useReadable(isOutside ? NOTHING : noticesOf(store).list(conversation_id))
  return useMemo(() => notices.filter((notice) => notice.root_id === root_id), [notices, root_id])
}

const NO_NOTICES: { notices: readonly Notice[] } = { notices: [] }
const NOTHING = { getSnapshot: () => NO_NOTICES, getServerSnapshot: () => NO_NOTICES, subscribe: () => () => {} }

/** Where a part of a stream begins and ends. */
interface Ends {
  isStart: boolean
  isEnd: boolean
}

/** Notices by the id of the message that they come after; before all messages, by an empty one. */
export function placeNotices(
  messages: readonly { id: string; created_at: string }[],
  notices: readonly Notice[],
  { isStart, isEnd }: Ends,
): ReadonlyMap<string, readonly Notice[]> {
  const placed = new Map<string, Notice[]>()
  for (const notice of notices) {
    const index = messages.findLastIndex(({ created_at }) => created_at <= notice.created_at)
    const isElsewhere = (index < 0 && !isStart) || (index === messages.length - 1 && !isEnd)
    if (isElsewhere) continue
    const id = messages[index]?.id ?? ''
    placed.set(id, [...(placed.get(id) ?? []), notice])
  }
  return placed
}

/** Notices as rows of a stream. */
export function NoticeRows({ notices }: { notices: readonly Notice[] | undefined }) {
  return (
    <>
      {notices?.map((notice) => (
        <li key={notice.id} class="row" data-head="true" data-notice-id={notice.id}>
          <NoticeArticle notice={notice} />
        </li>
      ))}
    </>
  )
}
