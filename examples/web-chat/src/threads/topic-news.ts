import type { ThreadSummary } from 'chat-server/client'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { plainOf } from '../markdown/plain.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { createPlaceNews } from './news.ts'

/**
 * Has screen readers say what others write in the threads of a room.
 *
 * @param threads `undefined` until they are read
 * @param selected the thread that is open beside them, which says that itself
 */
export function useTopicNews(
  threads: readonly ThreadSummary[] | undefined,
  selected: string | undefined,
  user_id: string,
): void {
  const { people } = useApp()
  const news = useMemo(createPlaceNews, [])
  const known = useRef<readonly ThreadSummary[] | undefined>(undefined)
  useEffect(() => news.leave, [])
  useEffect(() => {
    const before = known.current
    known.current = threads
    if (!before || !threads) return
    const counts = new Map(before.map(({ root_id, message_count }) => [root_id, message_count]))
    const latest = before[0]?.last_activity_at ?? ''
    for (const { root_id, message_count, root_author, last_replier_ids, ...thread } of threads) {
      // What comes with a further page was written before.
      const count = counts.get(root_id) ?? (thread.last_activity_at > latest ? 0 : message_count)
      const by = message_count === 1 ? root_author : last_replier_ids[0]
      if (message_count <= count || root_id === selected || by === undefined || by === user_id) continue
      const author = people.nameOf(by)
      const sentence =
        message_count === 1
          ? texts.value.messages.arrived(author, thread.title || plainOf(thread.root_excerpt))
          : roomTexts.value.news.messages(1, author)
      news.tell({ id: `${root_id} ${message_count}`, author, sentence })
    }
  }, [threads])
}
