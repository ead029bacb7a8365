import type { StoreMessage } from 'chat-server/client/store'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { keepDraft, readDraft } from './drafts.ts'

/** The message that what is written in a place quotes: kept with its draft. */
export function useQuote(user_id: string, conversation_id: string, place: string) {
  const { client } = useApp()
  const [quoted, setQuoted] = useState<StoreMessage>()
  const quote = useCallback(
    (message: StoreMessage | undefined) => {
      setQuoted(message)
      keepDraft(user_id, place, { conversation_id, quote_id: message?.id })
    },
    [place],
  )
  useEffect(() => {
    const id = readDraft(user_id, place)?.quote_id
    if (id === undefined) return
    client.messages.get(id).then(
      (message) => (message.deleted_at ? quote(undefined) : setQuoted((now) => now ?? message)),
      // It is asked for again the next time.
      () => {},
    )
  }, [place])
  return [quoted, quote] as const
}
