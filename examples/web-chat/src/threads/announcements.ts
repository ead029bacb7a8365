import type { StoreMessage } from 'chat-server/client/store'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import type { MessageNews } from './message-news.ts'

/**
 * Has screen readers say what others write, and when answers begin and end.
 *
 * @param messages `undefined` while their end is not read
 */
export function useAnnouncements(messages: readonly StoreMessage[] | undefined, user_id: string): void {
  const { people } = useApp()
  const [news, setNews] = useState<MessageNews>()
  useEffect(() => {
    import('./message-news.ts').then(
      ({ createMessageNews }) => setNews(createMessageNews(people, user_id)),
      // A page without a network has none.
      () => {},
    )
  }, [])
  useEffect(() => news?.leave, [news])
  useEffect(() => news?.update(messages), [news, messages])
}
