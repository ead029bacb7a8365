import type { ConversationSummary } from 'chat-server/client'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

/** How many conversations are read at once, and how many pages of them at most. */
const PAGE = 200
const MAX_PAGES = 5

/** The latest ones at once, then all, archived ones too. */
export function useAllConversations(): { conversations: readonly ConversationSummary[]; error: unknown } {
  const { client, store } = useApp()
  const listed = useReadable(store.conversations)
  const [all, setAll] = useState<{ conversations?: ConversationSummary[]; error?: unknown }>({})
  useEffect(() => {
    const abort = new AbortController()
    const read = async () => {
      const conversations: ConversationSummary[] = []
      let after: string | undefined
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = { archived: 'all', limit: PAGE, ...(after && { after }) } as const
        const next = await client.conversations.list(query, { signal: abort.signal })
        conversations.push(...next.conversations)
        after = next.next_after
        if (after === undefined) break
      }
      setAll({ conversations })
    }
    read().catch((error) => abort.signal.aborted || setAll({ error }))
    return () => abort.abort()
  }, [])
  return { conversations: all.conversations ?? listed.conversations, error: all.error }
}
