/** @jsxRuntime automatic */
import { createChatClient } from 'chat-server/client'
import {
  ChatProvider,
  useAssistant,
  useChatStore,
  useConnection,
  useConversationSettings,
  useConversations,
  useMessages,
  useNotifications,
  usePins,
  usePresence,
  useReaders,
  useThread,
  useThreads,
  useTyping,
  useUnread,
  useUnreadNotifications,
} from 'chat-server/react'
import { type FormEvent, useState } from 'react'
import { Talk } from './talk.tsx'

const client = createChatClient({ base_url: '/chat' })

export function App() {
  return (
    <ChatProvider client={client}>
      <Page />
    </ChatProvider>
  )
}

function Page() {
  const { status, error } = useConnection()
  const { conversations, status: loading } = useConversations()
  const { conversations: archived } = useConversations({ archived: true })
  const unread = useUnread()
  const isSignedOut = status === 'ended'
  return (
    <main>
      <p id="state">{status}</p>
      {isSignedOut && <SignIn reason={error instanceof Error ? error.message : 'Signed out'} />}
      {loading === 'loading' && <p>Loading…</p>}
      <Inbox />
      <h1>Conversations ({unread} unread)</h1>
      {conversations.map(({ id, title, layout }) =>
        layout === 'assistant' ? (
          <Talk key={id} id={id} />
        ) : (
          <section key={id}>
            <h2>
              {title} <Archive id={id} />
            </h2>
            <Conversation id={id} />
          </section>
        ),
      )}
      <p id="archived">Archived ({archived.length})</p>
      {archived.map(({ id, title }) => (
        <p key={id}>
          {title} <Archive id={id} />
        </p>
      ))}
    </main>
  )
}

function Inbox() {
  const unread = useUnreadNotifications()
  const { notifications, markRead } = useNotifications({ unread: true })
  const [latest] = notifications
  return (
    <aside>
      <p id="inbox">Inbox ({unread})</p>
      {notifications.map(({ id, kind, excerpt }) => (
        <p key={id} className="notification">
          {kind} {excerpt}
        </p>
      ))}
      {latest && (
        <button type="button" id="read-all" onClick={() => markRead({ up_to: latest.id })}>
          Mark all as read
        </button>
      )}
    </aside>
  )
}

function Archive({ id }: { id: string }) {
  const { settings, setSettings } = useConversationSettings(id)
  if (!settings) return null
  return (
    <button type="button" className="archive" onClick={() => setSettings({ archived: !settings.archived })}>
      {settings.archived ? 'Bring back' : 'Archive'}
    </button>
  )
}

function SignIn({ reason }: { reason: string }) {
  const store = useChatStore()
  const [problem, setProblem] = useState(reason)
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      await client.auth.login({ email: String(form.get('email')), password: String(form.get('password')) })
      store.restart()
    } catch (failure) {
      setProblem(String(failure))
    }
  }
  return (
    <form id="sign-in" onSubmit={submit}>
      <p>{problem}</p>
      <input name="email" type="email" />
      <input name="password" type="password" />
      <button type="submit">Sign in</button>
    </form>
  )
}

function Conversation({ id }: { id: string }) {
  const { threads, start } = useThreads(id)
  const { typists, sendTyping } = useTyping(id)
  const { pins } = usePins(id)
  return (
    <>
      {threads.map(({ root_id }) => (
        <Thread key={root_id} id={root_id} onTyping={() => sendTyping(root_id)} />
      ))}
      {pins.length > 0 && <p className="pins">{pins.length} pinned</p>}
      {typists.length > 0 && <p className="typing">{typists.length} typing…</p>}
      <Compose name="new-thread" onSend={start} />
    </>
  )
}

function Thread({ id, onTyping }: { id: string; onTyping: () => void }) {
  const { status, markRead } = useThread(id)
  const { messages, reply, retry, pin } = useMessages(id)
  const { answers, ask, cancel } = useAssistant(id)
  const presence = usePresence([...new Set(messages.flatMap(({ author_user_id }) => author_user_id ?? []))])
  return (
    <article data-status={status}>
      <ul>
        {messages.map(({ id, author_user_id = '', content, pending }) => (
          <li key={id} className={presence[author_user_id]?.status ?? 'unknown'}>
            <span className="text">{content}</span>
            {pending?.status === 'failed' && (
              <button type="button" className="retry" onClick={() => retry(pending.key)}>
                Send again
              </button>
            )}
          </li>
        ))}
      </ul>
      <p>
        <Seen id={id} />{' '}
        <button type="button" className="pin" onClick={() => pin(id)}>
          Pin
        </button>
      </p>
      {answers.map(({ id }) => (
        <button key={id} type="button" className="stop" onClick={() => cancel(id)}>
          Stop
        </button>
      ))}
      <Compose name="reply" onSend={reply} onTyping={onTyping} />
      <Compose name="ask" onSend={ask} />
      <button type="button" className="read" onClick={markRead}>
        Mark as read
      </button>
    </article>
  )
}

/** How many have read the first message of a thread, where the conversation has read receipts. */
function Seen({ id }: { id: string }) {
  const { count, is_off } = useReaders(id)
  return is_off ? null : <span className="seen">Seen by {count}</span>
}

function Compose(props: { name: string; onSend: (content: string) => unknown; onTyping?: () => void }) {
  const [content, setContent] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    props.onSend(content)
    setContent('')
  }
  function change(text: string) {
    setContent(text)
    props.onTyping?.()
  }
  return (
    <form className={props.name} onSubmit={submit}>
      <input value={content} onChange={({ target }) => change(target.value)} />
      <button type="submit">{props.name}</button>
    </form>
  )
}
