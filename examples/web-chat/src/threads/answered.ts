import { effect } from '@preact/signals'
import { ChatError, type Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { changedMessage } from '../app/changed-message.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

type Quote = NonNullable<Message['quote']>

/** How many characters of a message a quote has. */
const MAX_LENGTH = 280

/**
 * What the replies of a thread answer, as quotes by their ids, unless that is its first message. One that is not in the window
 * is read by itself, one after another; until then its quote has no text.
 */
export function useAnswered(root_id: string, messages: readonly StoreMessage[]): ReadonlyMap<string, Quote> {
  const { client, store } = useApp()
  const { status } = useReadable(store.connection)
  const [others, setOthers] = useState<ReadonlyMap<string, Quote>>(new Map())
  const before = useRef<ReadonlyMap<string, Quote>>(new Map())
  const [quotes, missing] = useMemo(() => {
    const here = new Map(messages.map((message) => [message.id, message]))
    const next = new Map<string, Quote>()
    const unknown = new Set<string>()
    for (const { id, parent_id = root_id } of messages) {
      if (parent_id === root_id) continue
      const parent = here.get(parent_id)
      const quote = parent ? quoteOf(parent) : others.get(parent_id)
      if (!quote) unknown.add(parent_id)
      next.set(id, steady(before.current.get(id), quote ?? unread(parent_id, root_id)))
    }
    return [next, [...unknown]]
  }, [messages, others])
  before.current = quotes

  const wanted = missing.at(-1)
  useEffect(() => {
    if (wanted === undefined || status !== 'online') return
    let isWanted = true
    const add = (quote: Quote) => isWanted && setOthers((now) => new Map(now).set(wanted, quote))
    client.messages.get(wanted).then(
      (message) => add(quoteOf(message)),
      (error: unknown) =>
        error instanceof ChatError &&
        error.status === 404 &&
        add({ message_id: wanted, root_id, excerpt: '', deleted: true }),
    )
    return () => {
      isWanted = false
    }
  }, [wanted, status])

  // What has changed while there was no connection is read again.
  useEffect(() => {
    if (status === 'offline') setOthers(new Map())
  }, [status])
  useEffect(
    () =>
      effect(() => {
        const { value } = changedMessage
        if (value) setOthers((now) => (now.has(value.id) ? new Map(now).set(value.id, quoteOf(value)) : now))
      }),
    [],
  )
  return quotes
}

function quoteOf({ id, root_id, role, author_user_id, content, prompt = '', attachments, deleted_at }: Message): Quote {
  const text = content || attachments?.map(({ name }) => name).join(', ') || prompt
  return {
    message_id: id,
    root_id,
    ...(role !== 'user' && { role }),
    ...(author_user_id && { author_user_id }),
    ...(deleted_at ? { excerpt: '', deleted: true } : { excerpt: text.slice(0, MAX_LENGTH) }),
  }
}

/** Of a message that is not read yet. */
const unread = (message_id: string, root_id: string): Quote => ({
  message_id,
  root_id,
  author_user_id: '',
  excerpt: '…',
})

/** The same object as before if it says the same: then the row is not rendered again. */
function steady(before: Quote | undefined, now: Quote): Quote {
  const isSame = before?.excerpt === now.excerpt && before.author_user_id === now.author_user_id
  return isSame && before.deleted === now.deleted ? before : now
}
